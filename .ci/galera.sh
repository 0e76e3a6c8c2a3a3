# Part of .ci/engine: a MariaDB Galera cluster of three nodes in the place of one server.
#
# The command finds in GALERA_NODES a folder that has for each node, 1 to 3:
#   1.start   a program that starts the node and becomes it
#   1.pid     the process that it became
#   1.url     the node's DATABASE_URL
#   1.log     what the node says
#   1/        its data; without it, the node gets all data from another one
# That is enough to kill a node and to start it again. DATABASE_URL is that of node 1.

nodes=(1 2 3)

# A node has four ports: for SQL, the group, and the transfers of missed and of all transactions.
node_port() { echo $((port + 4 * ($1 - 1) + ${2:-0})); }

all_free() {
  local each
  for ((each = port; each < $(node_port 4); each++)); do ! listens $each || return 1; done
}

until all_free; do port=$(node_port 4); done
export GALERA_NODES=$root/srv/$port

group() {
  local each addresses=
  for each in "${nodes[@]}"; do addresses+=,127.0.0.1:$(node_port "$each" 1); done
  echo "gcomm://${addresses#,}"
}

# Writes the program of a node. As the package's service does, it first asks InnoDB where the node
# stood: one that was killed then gets what it missed, and not all data. The transfer by rsync needs
# /proc, which is mounted for the node alone and gone with it.
write_start() {
  local node=$1 inside=/srv/$port/$1 outside=$GALERA_NODES/$1
  local address=127.0.0.1:$(node_port "$node" 1)
  local options="gmcast.listen_addr=tcp://$address;ist.recv_addr=127.0.0.1:$(node_port "$node" 2)"
  local command=(env "LD_PRELOAD=$(eatmydata)" "${server[@]}" "--datadir=$inside"
    "--tmpdir=$inside.tmp" "--socket=$inside.sock" "--pid-file=$inside.mysqld" "--port=$(node_port "$node")"
    --binlog-format=ROW --innodb-autoinc-lock-mode=2
    --wsrep-on=ON --wsrep-provider=/usr/lib/galera/libgalera_smm.so "--wsrep-cluster-name=$port"
    "--wsrep-cluster-address=$(group)" "--wsrep-node-name=$node" "--wsrep-node-address=$address"
    "--wsrep-provider-options=$options" --wsrep-sst-method=rsync
    "--wsrep-sst-receive-address=127.0.0.1:$(node_port "$node" 3)")
  cat >"$outside.start" <<END
#!/bin/bash
echo \$\$ >${outside@Q}.pid
exec >>${outside@Q}.log 2>&1 </dev/null
node=(chroot --userspec=nobody ${root@Q} ${command[*]@Q})
install -d -o nobody ${outside@Q} ${outside@Q}.tmp
if [ -e ${outside@Q}/grastate.dat ]; then
  position=\$("\${node[@]}" --wsrep-recover 2>&1 | sed -n 's/.*Recovered position: *//p')
fi
exec unshare --mount bash -c 'mount -t proc proc "\$0/proc" && exec "\$@"' ${root@Q} \\
  "\${node[@]}" \${position:+"--wsrep-start-position=\$position"} "\$@"
END
  chmod +x "$outside.start"
  echo "$url:$(node_port "$node")/sortable_ids" >"$outside.url"
}

# Whether the process of a node runs.
runs() { grep -qs -- "--port=$(node_port "$1")" "/proc/$(cat "$GALERA_NODES/$1.pid")/cmdline"; } 2>/dev/null

# Whether a node takes part and has all data.
synced() {
  listens "$(node_port "$1")" &&
    in_root mariadb -uroot --socket="/srv/$port/$1.sock" -BNe "SHOW STATUS LIKE 'wsrep_local_state'" |
    grep -q '4$'
} 2>/dev/null

start_node() {
  local node=$1 tries=900
  shift
  write_start "$node"
  "$GALERA_NODES/$node.start" "$@" &
  pid=$!
  disown "$pid" # or the shell reports it when a test kills it
  until synced "$node"; do
    if ! kill -0 "$pid" 2>/dev/null || ((--tries == 0)); then
      cat "$GALERA_NODES/$node.log" >&2
      say "node $node of the cluster can't start here"
      exit $unavailable
    fi
    sleep 0.2
  done
}

start() {
  rm -rf "$GALERA_NODES"
  mkdir "$GALERA_NODES"
  chown nobody "$GALERA_NODES"
  trap stop EXIT
  cp -a "$root/srv/made" "$GALERA_NODES/1"
  start_node 1 --wsrep-new-cluster
  start_node 2
  start_node 3
}

stop() {
  local signal node
  for signal in TERM KILL; do
    for node in "${nodes[@]}"; do
      runs "$node" && kill -s $signal "$(cat "$GALERA_NODES/$node.pid")"
    done
    for _ in {1..150}; do
      runs 1 || runs 2 || runs 3 || break 2
      sleep 0.1
    done
  done
  rm -rf "$GALERA_NODES"
}
