"""Tests the live pieces that run the engine as WebAssembly. Compares them with the native engine's results for
the same inputs (native.json, which `cargo course book` makes). A book that was built without the engine has no
such pieces. `-m "not engine"` skips these tests."""

import json

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import BOOK, ROOT

pytestmark = pytest.mark.engine

# An activation halfway between two integers may be rounded either way, which changes its layer's output by about
# 0.02. A wrong kernel changes logits by 1 or more.
ROUNDING = 0.1


@pytest.fixture(scope="module")
def native():
    return json.loads((BOOK / "live/native.json").read_text())


def story(page, site, script, *arguments):
    page.goto(f"{site}/preface.html")
    return page.evaluate(f"async ([address, ...given]) => {{ const m = await import(address); {script} }}", [f"{site}/live/story.js", *arguments])


def test_story_matches_the_native_engine(page, site, native, capsys):
    texts = [[text["prompt"], len(text["tokens"])] for text in native["texts"]]
    answers = story(
        page,
        site,
        """
        const model = await m.load(), answers = [];
        for (const [prompt, most] of given[0]) {
            const tokens = [];
            let looked;
            const { seconds } = await m.write(model, { prompt, temperature: 0, seed: 0, most }, (token) => {
                if (token === null) return true;
                if (!tokens.length) { model.run.call("attention"); looked = [...model.run.floats()]; }
                tokens.push(token);
                return true;
            });
            model.run.put(prompt);
            model.run.call("logits");
            answers.push({ tokens, seconds, looked, logits: [...model.run.floats()] });
        }
        return { rung: model.rung, answers };
        """,
        texts,
    )
    assert answers["rung"] == "simd128"
    for text, answer in zip(native["texts"], answers["answers"], strict=True):
        assert answer["tokens"] == text["tokens"], text["prompt"]
        np.testing.assert_allclose(answer["logits"], text["logits"], atol=ROUNDING)
        np.testing.assert_allclose(answer["looked"], text["attention"], atol=ROUNDING / 5)
    rate = sum(len(answer["tokens"]) for answer in answers["answers"]) / sum(answer["seconds"] for answer in answers["answers"])
    with capsys.disabled():
        # `cargo course verify` reads this line.
        print(f"\n{rate:.0f} tokens/s written in the page")


def test_logits_of_all_rungs_agree(page, site, native):
    text = native["texts"][0]
    rungs = story(
        page,
        site,
        """
        const rungs = {};
        for (let rung = 0; rung < 4; rung++) {
            const model = await m.load(rung);
            model.run.put(given[0]);
            model.run.call("logits");
            rungs[model.rung] = [...model.run.floats()];
        }
        return rungs;
        """,
        text["prompt"],
    )
    assert list(rungs) == ["naive", "fused", "integer", "simd128"]
    np.testing.assert_allclose(rungs["fused"], rungs["naive"], atol=2e-3)
    np.testing.assert_allclose(rungs["simd128"], rungs["integer"], atol=ROUNDING)
    # The first two rungs multiply floats. The others multiply 8-bit activations, so the difference is larger.
    np.testing.assert_allclose(rungs["integer"], rungs["naive"], atol=0.5)


def test_story_works_by_keyboard(page, site):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site}/preface.html")
    assert not any(url.endswith((".wasm", ".gguf")) for url in asked), "nothing large is fetched before a reader asks"
    piece = page.locator('[data-live="story"]')
    start, stop, text = piece.get_by_role("button", name="write"), piece.get_by_role("button", name="Stop"), piece.locator("p.story")
    assert stop.is_disabled()
    prompt = piece.get_by_role("textbox", name="Begin with")
    prompt.fill("")
    start.press("Enter")
    piece.get_by_role("alert").filter(has_text="write a few words").wait_for()
    prompt.fill("Once upon a time")
    piece.get_by_role("slider", name="Temperature").press("Home")
    start.press("Enter")
    piece.locator(".said", has_text="tokens/s").wait_for(timeout=60_000)
    assert text.inner_text().startswith("Once upon a time there was someone named")
    assert "simd128" in piece.locator(".said").inner_text()
    # Attention is shown for the last token, or for the earlier token that the slider selects.
    shown = "(spans) => spans.filter((span) => Number(getComputedStyle(span).getPropertyValue('--seen')) > 0).length"
    assert text.locator("span").evaluate_all(shown) > 0
    back = piece.get_by_role("slider", name="Look back")
    back.press("Home")
    tokens = text.locator("span.prompt").count()
    assert text.locator("span").evaluate_all("(spans) => spans.findIndex((span) => span.classList.contains('chosen-token'))") == tokens
    assert text.locator("span:not(.prompt)").first.evaluate("(span) => span.style.getPropertyValue('--seen')") == "0", "no token sees itself chosen"
    piece.get_by_role("combobox").select_option(label="layer 4, head 3")
    assert text.locator("span").evaluate_all(shown) > 0
    start.press("Enter")
    stop.press("Enter")
    piece.locator(".said", has_text="tokens/s").wait_for(timeout=60_000)
    assert violations(page) == []


def test_scheduler_matches_the_native_engine(page, site, native):
    crowd = native["crowd"]
    page.goto(f"{site}/week3/day2.html")
    steps = page.evaluate(
        """async ([address, crowd]) => {
            const m = await import(address);
            const open = await m.open(crowd), steps = [];
            for (let step = 0; step < crowd.steps.length; step++) {
                for (const [at, prompt, answer] of crowd.requests) if (at === step) open.add(prompt, answer);
                steps.push(open.step());
            }
            return steps;
        }""",
        [f"{site}/live/crowd.js", crowd],
    )
    assert steps == crowd["steps"]
    # As the chapter says: no step exceeds the budget, every request ends, and at least one waits.
    assert max(step["rows"] for step in steps) == crowd["budget"]
    assert all(request["state"] == "done" for request in steps[-1]["requests"])
    assert any(request["state"] == "waits" for step in steps for request in step["requests"])


def test_schedule_figure_matches_the_native_engine(native):
    drawn = json.loads((ROOT / "book/figures/crowd.json").read_text())
    crowd = native["crowd"]
    assert drawn == crowd | {"steps": crowd["steps"][: len(drawn["steps"])]}, "copy them from native.json, and draw the figure"


def test_scheduler_works_by_keyboard(page, site, native):
    page.goto(f"{site}/week3/day2.html")
    piece = page.locator('[data-live="crowd"]')
    send, crowd = piece.get_by_role("button", name="Send the request"), piece.get_by_role("button", name="Send a crowd")
    step, said = piece.get_by_role("button", name="Step", exact=True), piece.locator(".said")
    prompt, answer = piece.get_by_role("slider", name="Prompt tokens"), piece.get_by_role("slider", name="Answer tokens")
    # Sends the two requests that native.json has for step 0.
    requests = native["crowd"]["requests"]
    for at, length, words in [request for request in requests if request[0] == 0]:
        for slider, value in ((prompt, length), (answer, words)):
            slider.press("Home")
            for _ in range(value - 1):
                slider.press("ArrowRight")
        send.press("Enter")
    piece.locator("tbody tr").nth(1).wait_for()
    for expected in native["crowd"]["steps"][:2]:
        step.press("Enter")
        piece.locator(".said", has_text=f"Step {expected['step']}:").wait_for()
        rows = [cell.inner_text() for cell in piece.locator(f"tbody tr td:nth-child({expected['step'] + 1})").all()]
        assert rows == [str(request["rows"] or "") for request in expected["requests"]]
        owners = [None if name == "free" else ord(name) - ord("A") for name in piece.locator(".pages li").all_inner_texts()]
        assert owners == expected["pages"]
    crowd.press("Enter")
    step.press("Enter")
    piece.locator(".said", has_text="wait").filter(has_text="Step 3").wait_for()
    assert "E, F wait" in said.inner_text() and piece.locator("tbody tr").count() == 6
    prompt.press("End")
    answer.press("End")
    send.press("Enter")
    assert "more than all 8 pages" in piece.get_by_role("alert").inner_text()
    piece.get_by_role("button", name="Start again").press("Enter")
    piece.locator(".said", has_text="Step 0").wait_for()
    assert piece.locator("tbody tr").count() == 0 and violations(page) == []


def violations(page):
    found = Axe().run(page, context="main .live", options={"resultTypes": ["violations"]})
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found.response["violations"] for node in rule["nodes"]]
