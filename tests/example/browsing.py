"""Debian's chromium, headless."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from .support import SECONDS

ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--lang=en-US",
    "--window-size=1360,900",
]


class Browser(Chrome):
    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.find_elements(By.CSS_SELECTOR, selector)]

    def fill(self, selector: str, keys: str) -> None:
        self.find_element(By.CSS_SELECTOR, selector).send_keys(keys)

    def show_as(self, scheme: str, width: int, height: int = 900, **more: Any) -> None:
        """Pages are light or dark, and of that size, from the next one on."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, **more})

    def click(self, by: str, value: str) -> None:
        """Click on what leads to another page, and wait for that."""
        page = self.find_element(By.TAG_NAME, "html")
        self.find_element(by, value).click()
        WebDriverWait(self, SECONDS).until(lambda _: self.find_element(By.TAG_NAME, "html") != page)


@contextmanager
def opened(folder: Path, *arguments: str) -> Iterator[Browser]:
    """A browser without history, which keeps its files in a folder."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert chromium, "no chromium here: apt install chromium"
    assert driver, "no chromedriver here: apt install chromium-driver"
    options = ChromeOptions()
    options.binary_location = chromium
    for argument in [*ARGUMENTS, *arguments, f"--user-data-dir={folder}"]:
        options.add_argument(argument)
    with Browser(options, Service(driver)) as browser:
        yield browser


def log_in(browser: Browser, url: str) -> None:
    """Log in on the way to a page of the admin."""
    browser.get(url)
    browser.fill("[name=username]", "admin")
    browser.fill("[name=password]", "admin")
    browser.click(By.CSS_SELECTOR, "[type=submit]")
