"""Tests the live pieces by keyboard. Compares their results with those of NumPy and of `gguf`."""

import json
import re

import numpy as np


def press(page, slider, key, times=1):
    slider.focus()
    for _ in range(times):
        page.keyboard.press(key)


def numbers(text):
    return [float(n.replace("−", "-")) for n in re.findall(r"−?\d+(?:\.\d+)?", text)]


def imported(page, module, expression):
    """Returns the value of a JavaScript expression, in which `m` is the module."""
    return page.evaluate(f"async () => {{ const m = await import('{module}'); return {expression}; }}")


def test_online_softmax_matches_numpy(page, site):
    page.goto(f"{site}/week2/day7.html")
    piece = page.locator('[data-live="softmax-steps"]')
    again, rows = piece.get_by_role("button", name="Start again"), piece.locator("tbody tr")
    step = piece.get_by_role("button", name="Next score")
    assert rows.count() == 0
    for _ in range(4):
        step.press("Enter")
    # The chapter's example: scores 1, 3, 5 and 4. This is the row of 5.
    assert rows.nth(2).locator("td").all_inner_texts()[:4] == ["5.00", "5.00", "0.135", "1.154"]
    assert step.is_disabled()
    again.press("Enter")
    assert rows.count() == 0
    piece.get_by_label("Scores").fill("2 x")
    assert "“x” is no number" in piece.get_by_role("alert").inner_text()
    scores = [0.5, -3, 12, 12, 7.25, 40]
    piece.get_by_label("Scores").fill(" ".join(map(str, scores)))
    for _ in scores:
        step.press("Enter")
    states = imported(page, f"{site}/live/softmax-steps.js", f"m.steps({json.dumps(scores)})")
    for i, state in enumerate(states):
        seen = np.array(scores[: i + 1])
        np.testing.assert_allclose(state["total"], np.exp(seen - seen.max()).sum(), rtol=1e-12)


def test_q4_0_block_matches_llama_cpp(page, site):
    from gguf import GGMLQuantizationType, quants

    page.goto(f"{site}/week2/day3.html")
    draw = np.random.default_rng(5)
    blocks = [draw.normal(size=32).astype(np.float32) * scale for scale in (1, 1e-3, 40)]
    blocks += [np.zeros(32, np.float32), -np.abs(blocks[0]), np.abs(blocks[0]), np.full(32, 0.5, np.float32)]
    for block in blocks:
        ours = imported(page, f"{site}/live/q4-block.js", f"m.quantize({json.dumps(block.tolist())})")
        packed = quants.quantize(block, GGMLQuantizationType.Q4_0)
        np.testing.assert_array_equal(np.float32(ours["scale"]), packed[:2].view(np.float16).astype(np.float32)[0])
        np.testing.assert_array_equal(ours["q"], np.concatenate([packed[2:] & 15, packed[2:] >> 4]))
        np.testing.assert_array_equal(np.float32(ours["back"]), quants.dequantize(packed, GGMLQuantizationType.Q4_0))


def test_outlier_increases_the_error_of_its_block(page, site):
    page.goto(f"{site}/week2/day3.html")
    piece = page.locator('[data-live="q4-block"]')
    error = piece.locator("dd").nth(3)
    before = numbers(error.inner_text())[0]
    press(page, piece.get_by_role("slider").nth(1), "End")
    assert "4.00" in piece.locator("output").nth(1).inner_text()
    # The scale is now 0.5, so the largest error is up to 0.25.
    assert numbers(piece.locator("dd").nth(2).inner_text())[0] > 0.2
    assert numbers(error.inner_text())[0] > before
    piece.get_by_role("button", name="Start again").press("Enter")
    assert numbers(error.inner_text())[0] == before


def test_rope_score_depends_only_on_the_distance(page, site):
    page.goto(f"{site}/week1/day2.html")
    piece = page.locator('[data-live="rope-dials"]')
    total = piece.locator(":scope > p.said")
    query, key, both = piece.get_by_role("slider").all()
    assert "2 apart" in total.inner_text()
    score = numbers(total.inner_text())[-1]
    np.testing.assert_allclose(score, np.cos(np.array([1, 0.3, 0.01]) * 2).sum(), atol=1e-3)
    press(page, both, "ArrowRight", 60)
    assert "Query at 67, key at 65" in total.inner_text()
    assert numbers(total.inner_text())[-1] == score
    press(page, query, "ArrowRight")
    assert numbers(total.inner_text())[-1] != score
    press(page, key, "ArrowRight")
    assert numbers(total.inner_text())[-1] == score


def test_sampling_sliders_match_numpy(page, site):
    page.goto(f"{site}/week1/day7.html")
    piece = page.locator('[data-live="sampling"]')
    temperature, top_k, top_p, min_p = piece.get_by_role("slider").all()
    shares, said = piece.locator(".share"), piece.locator("p.said")
    logits = np.array(imported(page, f"{site}/live/sampling-logits.js", "m.LOGITS"))
    p = np.exp(logits) / np.exp(logits).sum()
    assert shares.first.inner_text() == f"{100 * p[0]:.1f} %"
    assert f"{len(logits)} of {len(logits)} tokens" in said.inner_text()
    press(page, temperature, "Home")
    assert shares.first.inner_text() == "100.0 %" and "1 of" in said.inner_text()
    press(page, temperature, "End")
    hot = np.exp(logits / 3) / np.exp(logits / 3).sum()
    assert shares.first.inner_text() == f"{100 * hot[0]:.1f} %"
    press(page, temperature, "ArrowLeft", 40)
    press(page, top_k, "ArrowRight", 3)
    assert "3 of" in said.inner_text() and shares.nth(3).inner_text() == "out"
    press(page, top_k, "Home")
    press(page, top_p, "ArrowLeft", 40)
    before = np.concatenate([[0], p.cumsum()[:-1]])
    assert f"{(before < 0.6).sum()} of" in said.inner_text()
    press(page, top_p, "End")
    press(page, min_p, "ArrowRight", 10)
    assert f"{(p >= 0.1 * p[0]).sum()} of" in said.inner_text()


def test_guess_survives_a_reload(page, site):
    page.goto(f"{site}/week1/day2.html")
    guess = page.locator(".guess textarea").first
    guess.fill("no hand does")
    answer = page.locator(".guess + details").first
    answer.locator("summary").press("Enter")
    answer.get_by_role("button", name="Not quite").press("Enter")
    page.reload()
    assert page.locator(".guess textarea").first.input_value() == "no hand does"
    answer = page.locator(".guess + details").first
    answer.locator("summary").press("Enter")
    assert answer.get_by_role("button", name="Not quite").get_attribute("aria-pressed") == "true"
    # Each question has its own guess.
    assert page.locator(".guess textarea").nth(1).input_value() == ""


def test_live_pieces_are_hidden_without_javascript(chromium, site):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/week2/day3.html")
    assert not page.locator(".live").first.is_visible()
    assert page.locator(".figure").first.is_visible()
    context.close()
