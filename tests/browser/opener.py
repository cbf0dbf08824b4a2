"""Opens pages in Debian's Chromium, and notes whatever they complain of or ask the network for."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


class Opener:
    """Opens pages, and holds against them whatever they say to the console or ask the network for."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.complaints = browser, list[str]()
        self.contexts: list[BrowserContext] = []
        self.allowed = ["file:", "blob:", "data:"]  # what pages may ask for

    def __call__(self, path: Path | str, end: str = "", **options: Any) -> Page:
        context = self.browser.new_context(**options)
        self.contexts.append(context)
        context.on("request", self.check_request)
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", self.check_console)
        page.goto((path if isinstance(path, str) else path.resolve().as_uri()) + end)
        page.wait_for_selector("body[data-shown]")
        return page

    def check_console(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.complaints.append(f"console: {said.text}")

    def check_request(self, request: Request) -> None:
        if not request.url.startswith(tuple(self.allowed)):
            self.complaints.append(f"request: {request.url}")
