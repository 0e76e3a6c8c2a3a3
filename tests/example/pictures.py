"""Makes the pictures of docs/, each in light and dark: the drill-down of the admin, the front page,
the inspector, and one link before and after ``--move-keys``.

``python -m tests.example.pictures FOLDER`` runs the demo with all flights there, serves it, and
photographs the pages and windows of a real chromium. It needs the example extra, and on Debian the
packages chromium, chromium-driver, xvfb and imagemagick.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from tests.support import ROOT

from .browsing import log_in, opened
from .support import Demo

PORT = 8000
OLD = f"http://127.0.0.1:{PORT}/flights/253347/"
WIDTH, HEIGHT, SCALE = 800, 284, 2
ARGUMENTS = [
    "--no-sandbox",
    "--test-type",
    "--no-first-run",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--lang=en-US",
    "--guest",
    "--window-position=0,0",
    f"--window-size={WIDTH},{HEIGHT}",
]
CONVERT = "/usr/bin/convert"
FEW_COLORS = ["+dither", "-colors", "160", "-strip"]


@dataclass(frozen=True)
class Page:
    name: str
    """Of its picture."""
    path: str
    """Empty for the last button of the front page."""
    width: int
    height: int
    scale: int = 1


@dataclass(frozen=True)
class Look:
    name: str
    arguments: list[str]
    background: str
    text: str


PAGES = [
    Page("front", "/", 1000, 1180),
    Page("admin", "/admin/flights/flight/?public_id__created_at__within=2013-07", 1360, 757),
    Page("inspect", "", 900, 850, scale=2),
]
LOOKS = [
    Look("light", [], "#ffffff", "#1f2328"),
    Look("dark", ["--force-dark-mode"], "#0d1117", "#e6edf3"),
]


def main(folder: Path) -> None:
    demo = Demo(folder / "flights.sqlite3", data=None)
    with demo.served(port=PORT) as host:
        for look in LOOKS:
            photograph_pages(host, look, folder / f"browser-{look.name}")
    demo.run("--move-keys")
    shots: dict[tuple[str, str], Path] = {}
    for state, options in (("before", []), ("after", ["--move-keys"])):
        with demo.served(*options, port=PORT), display() as number:
            for look in LOOKS:
                shots[look.name, state] = folder / f"{look.name}-{state}.png"
                photograph(look, number, shots[look.name, state])
    for look in LOOKS:
        before, after = (shots[look.name, state] for state in ("before", "after"))
        stack(look, before, after, ROOT / "docs" / f"moved-{look.name}.png")


def photograph_pages(host: str, look: Look, folder: Path) -> None:
    """The pages alone, in a browser without a window."""
    with opened(folder, "--hide-scrollbars") as browser:
        log_in(browser, f"{host}/admin/login/?next=/")
        inspector = browser.find_elements(By.CSS_SELECTOR, "nav a")[-1].get_attribute("href")
        for page in PAGES:
            browser.show_as(look.name, page.width, page.height, deviceScaleFactor=page.scale)
            browser.get(host + page.path if page.path else str(inspector))
            picture = ROOT / "docs" / f"{page.name}-{look.name}.png"
            browser.save_screenshot(str(picture))
            subprocess.run([CONVERT, str(picture), *FEW_COLORS, f"png8:{picture}"], check=True)


@contextmanager
def display() -> Iterator[str]:
    """A screen of the size of the window; gives its name, such as ``:99``."""
    reading, writing = os.pipe()
    size = f"{WIDTH * SCALE}x{HEIGHT * SCALE}x24"
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", size]
    with subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL) as server:
        try:
            yield f":{os.read(reading, 8).decode().strip()}"
        finally:
            server.terminate()


def photograph(look: Look, number: str, to: Path) -> None:
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    options.add_experimental_option("excludeSwitches", ["enable-automation"])
    for argument in (f"--force-device-scale-factor={SCALE}", *ARGUMENTS, *look.arguments):
        options.add_argument(argument)
    environment = {**os.environ, "DISPLAY": number}
    with Chrome(options, Service(shutil.which("chromedriver"), env=environment)) as browser:
        browser.get(OLD)
        time.sleep(3)  # the window is drawn after the page is loaded
        subprocess.run(["import", "-window", "root", str(to)], env=environment, check=True)


def stack(look: Look, before: Path, after: Path, to: Path) -> None:
    """Both windows in one picture, each below its caption."""
    captions = ["before: integer keys", "after: the old link leads to the new key"]
    parts: list[str] = []
    for caption, shot in zip(captions, (before, after), strict=True):
        style = ["-background", look.background, "-fill", look.text]
        style += ["-font", "DejaVu-Sans", "-pointsize", str(15 * SCALE)]
        parts += ["(", *style, f"label:{caption}", "-bordercolor", look.background]
        parts += ["-border", f"{4 * SCALE}x{6 * SCALE}", ")", str(shot)]
    command = [CONVERT, *parts, "-background", look.background, "-append"]
    subprocess.run([*command, *FEW_COLORS, f"png8:{to}"], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
