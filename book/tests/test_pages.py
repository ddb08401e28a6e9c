"""Tests every page of the book at the width of a phone and of a desktop, in a light and a dark theme."""

import functools
import gzip
import html
import re
from urllib.parse import urldefrag, urljoin

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import BOOK, watched
from fontTools.ttLib import TTFont

PAGES = sorted(str(path.relative_to(BOOK)).replace("\\", "/") for path in BOOK.rglob("*.html") if path.name not in ("print.html", "toc.html", "404.html"))
THEMES = {"light": "light", "dark": "navy"}
WIDTHS = [390, 1280]
LARGEST = 300_000
# Resolves to the time of the first contentful paint in milliseconds. It may be after the load event.
PAINTED = """new Promise((told) => new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") told(startTime);
}).observe({ type: "paint", buffered: true }))"""
# Large reference tables, which the size limit and the accessibility rules don't apply to.
LONG = {"kill-matrix/week1.html", "kill-matrix/week2.html", "kill-matrix/week3.html", "kill-matrix/week4.html"}


@pytest.fixture(scope="module", params=[(width, theme) for width in WIDTHS for theme in THEMES], ids=lambda p: f"{p[0]}-{p[1]}")
def screen(request, chromium, site):
    width, theme = request.param
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce")
    context.add_init_script(f"localStorage.setItem('mdbook-theme', '{THEMES[theme]}')")
    page = context.new_page()
    page.said, page.asked = watched(page, site), []
    page.on("request", lambda request: page.asked.append(request.url))
    page.size = {"width": width, "theme": theme}
    yield page
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_errors_and_fits_the_screen(screen, site, name):
    screen.said.clear()
    screen.asked.clear()
    screen.goto(f"{site}/{name}", wait_until="load")
    assert screen.said == []
    # Elements that extend past the window, except formulas and elements in boxes that scroll.
    wide = screen.evaluate(
        """() => {
            const room = document.documentElement.clientWidth;
            const scrolls = (e) => { for (; e; e = e.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX)) return true; return false; };
            return [...document.querySelectorAll("main *")]
                .filter((e) => e.getBoundingClientRect().right > room + 1 && !scrolls(e.parentElement) && !e.closest("mjx-container, math, .MathJax"))
                .slice(0, 3).map((e) => e.outerHTML.slice(0, 120));
        }"""
    )
    assert wide == [], f"wider than {screen.size['width']} px"
    assert screen.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "the page scrolls sideways"
    # The compressed sizes, as a host sends the files.
    sizes = {url: sent(url.removeprefix(f"{site}/")) for url in screen.asked if url.startswith(site)}
    if name not in LONG:
        assert sum(sizes.values()) <= LARGEST, sorted(sizes.items(), key=lambda item: -item[1])[:6]
        # Checks each theme at one width, because colours don't depend on the width.
        if screen.size in ({"width": 390, "theme": "light"}, {"width": 1280, "theme": "dark"}):
            assert violations(screen) == []


@functools.cache
def sent(name):
    """Returns the compressed size of a file in bytes."""
    return len(gzip.compress((BOOK / urldefrag(name)[0]).read_bytes()))


def violations(page):
    """Returns the accessibility rules that the page breaks, each with at most two elements that break it."""
    found = Axe().run(page, context="main", options={"resultTypes": ["violations"]})
    return [f"{rule['id']}: {node['html'][:200]}: {node['any'][0]['message'] if node['any'] else ''}" for rule in found.response["violations"] for node in rule["nodes"][:2]]



def test_math_font_has_every_character():
    font = TTFont(BOOK / "math/latinmodern-math-subset.woff2").getBestCmap()
    missing = {}
    for name in PAGES:
        for formula in re.findall(r"<math.*?</math>", (BOOK / name).read_text(encoding="utf-8"), re.DOTALL):
            for c in html.unescape(re.sub(r"<[^>]*>", "", formula)):
                if ord(c) not in font and not c.isspace():
                    missing.setdefault(c, name)
    assert missing == {}, "run book/figures/font.py"


@pytest.fixture(scope="module")
def contents(chromium, site):
    """Visits each page once. Returns the title, description, ids and links of each."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(180_000)
    page, found = context.new_page(), {}
    said = watched(page, site)
    for name in PAGES:
        page.goto(f"{site}/{name}", wait_until="domcontentloaded")
        found[name] = page.evaluate(
            """() => ({
                title: document.title,
                description: document.querySelector('meta[name="description"]')?.content ?? "",
                ids: [...document.querySelectorAll("[id]")].map((e) => e.id),
                links: [...document.querySelectorAll("main a[href]")].map((a) => a.getAttribute("href")),
            })"""
        )
    context.close()
    assert said == []
    return found


def test_links_and_anchors_exist(contents, site):
    ids = {f"{site}/{name}": set(page["ids"]) for name, page in contents.items()}
    broken = []
    for name, page in contents.items():
        for href in page["links"]:
            link = urljoin(f"{site}/{name}", href)
            target, anchor = urldefrag(link)
            if not target.startswith(site):
                continue
            target = target + "index.html" if target.endswith("/") else target
            if target not in ids or (anchor and anchor not in ids[target]):
                broken.append(f"{name}: {link}")
    assert broken == []


def test_titles_and_descriptions_are_unique(contents):
    titles, descriptions = {}, {}
    for name, page in contents.items():
        titles.setdefault(page["title"], []).append(name)
        if name != "index.html" and not name.startswith("kill-matrix/"):
            assert len(page["description"]) > 30, name
            descriptions.setdefault(page["description"], []).append(name)
    # index.html is a copy of the preface.
    assert [names for names in titles.values() if len(names) > 1 and "index.html" not in names] == []
    assert [names for names in descriptions.values() if len(names) > 1 and "index.html" not in names] == []


def test_prints_the_slowest_first_paint(page, site, capsys):
    """Takes the fastest of three visits to each of four long pages. Prints the slowest of these, a line that `cargo course verify` reads."""
    slowest = 0
    for name in ("index.html", "week1/day1.html", "week2/day4.html", "week3/day2.html"):
        paints = []
        for _ in range(3):
            page.goto(f"{site}/{name}", wait_until="load")
            paints.append(page.evaluate(PAINTED))
        slowest = max(slowest, min(paints))
    with capsys.disabled():
        print(f"\n{slowest:.0f} ms to the first paint")


def test_search_finds_chapters_but_not_the_kill_matrix(page, site):
    page.goto(f"{site}/index.html")
    page.keyboard.press("s")
    page.locator("#mdbook-searchbar").press_sequentially("online softmax")
    results = page.locator("#mdbook-searchresults a")
    results.first.wait_for()
    targets = [result.get_attribute("href") for result in results.all()]
    assert any("week2/day7.html" in target for target in targets)
    page.locator("#mdbook-searchbar").fill("")
    page.locator("#mdbook-searchbar").press_sequentially("sentinel")
    page.wait_for_timeout(600)
    assert not any("kill-matrix" in result.get_attribute("href") for result in results.all())
