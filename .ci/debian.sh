# Part of .ci/engine and .ci/interpreter: packages of Debian in a folder of their own, as root.

say() { echo "engine: $*" >&2; }

# debian FOLDER SUITE PACKAGES: installs them into a new folder. PACKAGES are separated by commas.
debian() {
  local mirror
  mirror=$(awk '/^URIs:/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources 2>/dev/null)
  command -v mmdebstrap >/dev/null ||
    { apt-get update -q && apt-get install -y -q --no-install-recommends mmdebstrap; } >&2
  mmdebstrap --quiet --variant=essential --include="$3,tzdata,libeatmydata1" \
    --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"' \
    "$2" "$1" "${mirror:-http://deb.debian.org/debian}" >&2 && chmod 755 "$1"
}
