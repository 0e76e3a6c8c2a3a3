"""Makes docs/inspect-light.png and docs/inspect-dark.png: a flight's id in the inspector.

``python -m tests.example.inspector_pictures FOLDER`` runs the demo with a few flights there, serves
it, and photographs the page in a headless chromium. It needs the example extra, and on Debian the
packages chromium, chromium-driver and imagemagick.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from .support import ROOT, Demo, Visitor

WIDTH, HEIGHT, SCALE = 900, 850, 2
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
    "--hide-scrollbars",
    "--lang=en-US",
]


def main(folder: Path) -> None:
    demo = Demo(folder / "flights.sqlite3", data=None)
    with demo.served("--limit", "20") as host:
        text = Visitor(host).get("/api/flights/").data["results"][0]["public_id"]
        address = f"{host}/admin/flights/flight/inspect-id/?q={quote(text)}"
        for look in ("light", "dark"):
            shot = folder / f"inspect-{look}.png"
            photograph(host, address, look, shot)
            to = ROOT / "docs" / shot.name
            command = ["/usr/bin/convert", str(shot), "+dither", "-colors", "48", "-strip"]
            subprocess.run([*command, f"png8:{to}"], check=True)


def photograph(host: str, address: str, look: str, to: Path) -> None:
    options = ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ARGUMENTS:
        options.add_argument(argument)
    with Chrome(options, Service(shutil.which("chromedriver"))) as browser:
        media = [{"name": "prefers-color-scheme", "value": look}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": SCALE, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(f"{host}/admin/login/?next=/admin/")
        for name in ("username", "password"):
            browser.find_element(By.NAME, name).send_keys("admin")
        browser.find_element(By.CSS_SELECTOR, "[type=submit]").click()
        browser.get(address)
        browser.save_screenshot(str(to))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
