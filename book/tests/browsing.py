"""A pytest plugin that opens the pages of the book and of the server in headless Chromium.

`cargo course verify --only browser` runs the tests. To run them by hand, install `browser` of pyproject.toml, then:

    cargo course book --build
    PYTHONPATH=book/tests .venv/bin/python -m pytest -p browsing book/tests

If Chromium isn't found, set CHROMIUM to its name or path.
"""

import functools
import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
BOOK = Path(os.environ.get("BOOK", ROOT / "book/book"))
# Without these flags, Chromium connects to Google's hosts when it starts.
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic", "--no-first-run"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def site():
    """Serves the built book and yields the server's address."""
    assert (BOOK / "index.html").is_file(), f"{BOOK} has no book: run `cargo course book --build`"
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(BOOK))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def chromium():
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    program = next((found for name in names if name and (found := shutil.which(name))), None)
    assert program, "no Chromium: CHROMIUM may name it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=QUIET, chromium_sandbox=False, timeout=180_000)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium, site):
    """Yields a page. Fails the test on console errors and warnings, exceptions, and requests to other hosts."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(180_000)
    page = context.new_page()
    said = watched(page, site)
    yield page
    context.close()
    assert said == []


def watched(page, site):
    """Returns a list that collects the console errors and warnings, exceptions and foreign requests of `page`."""
    said = []
    page.on("console", lambda message: said.append(f"{page.url}: {message.text}") if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(f"{page.url}: {error}"))
    page.on("request", lambda request: None if request.url.startswith((site, "data:")) else said.append(f"{page.url} asks {request.url}"))
    return said
