"""The page at /, in headless Chromium: a chat that streams, and the live view of the batch.

`cargo course verify --only browser` runs it. By hand, with `browser` of pyproject.toml installed:

    cargo build --features serve,reference --bin tiny-llm-serve
    TINY_LLM_SERVE=target/debug/tiny-llm-serve PYTHONPATH=book/tests .venv/bin/python -m pytest -p browsing server/tests/browser
"""

import os
import re
import subprocess
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import watched
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def address():
    program = Path(os.environ["TINY_LLM_SERVE"]).resolve()
    arguments = ["serve", "--model", ROOT / "models/tiny-story", "--port", "0", "--pages", "64", "--share-prefixes"]
    with subprocess.Popen([program, *arguments], stderr=subprocess.PIPE, text=True) as server:
        for line in server.stderr:
            if found := re.search(r"http://(\S+)", line):
                yield f"http://{found[1]}"
                break
        else:
            raise RuntimeError("the server ended before it listened")
        server.terminate()
        server.stderr.read()
    assert server.returncode == 0


@pytest.fixture(params=[(390, "light"), (1280, "dark")], ids=["phone-light", "desk-dark"])
def page(request, chromium, address):
    width, theme = request.param
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce")
    page = context.new_page()
    said = watched(page, address)
    page.goto(f"{address}/")
    yield page
    context.close()
    assert said == []


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def accessible(page):
    found = Axe().run(page, options={"resultTypes": ["violations"]})
    return [f"{rule['id']}: {node['html'][:160]}" for rule in found.response["violations"] for node in rule["nodes"]]


def test_a_chat_by_keyboard(page):
    assert fits(page) and accessible(page) == []
    page.get_by_label("New tokens, at most").fill("24")
    page.get_by_label("Your message").focus()
    page.keyboard.type("Tell me a story.")
    page.keyboard.press("Enter")
    answer = page.get_by_role("log")
    expect(answer).to_contain_text("Tell me a story.")
    expect(page.locator("#send")).to_be_enabled(timeout=300_000)
    assert len(answer.inner_text()) > len("Tell me a story.") + 30
    assert page.get_by_role("alert").inner_text() == ""
    assert fits(page) and accessible(page) == []


def test_live_view_shows_the_batch(page):
    page.get_by_label("New tokens, at most").fill("60")
    page.get_by_label("Your message").fill("Tell me a story about a pony.")
    page.get_by_label("So many clients").fill("12")
    page.get_by_role("button", name="Send the crowd").press("Enter")
    expect(page.locator("#rows tr").nth(3)).to_be_visible(timeout=600_000)
    expect(page.locator("#pages-text")).to_contain_text(re.compile(r"\d+ of \d+|\d+"), timeout=120_000)
    assert fits(page)
    expect(page.locator("#crowd-state")).to_contain_text("all have their answers", timeout=1_200_000)
