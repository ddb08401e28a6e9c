"""Compares the engine with llama.cpp on the same file. Without the extra `peers` of pyproject.toml, these tests are skipped."""

import json
import sys
from ctypes import c_void_p

import numpy as np
import pytest

from measure import BEGINNINGS, ROOT, passage, passages, perplexity, relative_error

ll = pytest.importorskip("llama_cpp")
sys.path.append(str(ROOT / "python-ref/peers"))
from greedy_texts import SETTINGS, Llama, silent  # noqa: E402

STORIES, NEW = 16, 40
FARTHEST = 1.25
"""The engine's largest allowed error, relative to that of llama.cpp's worst setting."""
ROUNDING = 4
"""A token may differ if the two logits are at most this many standard deviations of llama.cpp's own rounding apart."""


@pytest.fixture(scope="module")
def llama(path):
    """`llama(setting)` returns the model at one of `SETTINGS`."""
    ll.llama_log_set(silent, c_void_p(0))
    ll.llama_backend_init()
    return lambda setting: Llama(path, **SETTINGS[setting])


@pytest.fixture(scope="module")
def errors(llama, engine, exact, tokenizer):
    """Returns llama.cpp's relative errors, the deviation by which rounding moves two of its logits apart, PyTorch's logits, and the tokens."""
    tokens = passage(tokenizer)
    expected = exact(tokens)
    found = {setting: llama(setting).logits(tokens).astype(np.float64) for setting in ("defaults", "no flash attention, f32 cache")}
    apart = found["defaults"] - expected
    apart -= apart.mean(-1, keepdims=True)
    return {setting: relative_error(x, expected) for setting, x in found.items()}, float(np.sqrt(2 * (apart**2).mean())), expected, tokens


def test_best_rung_error(engine, errors, figure):
    theirs, _, expected, tokens = errors
    for setting, error in theirs.items():
        figure(f"llama.cpp, {setting}: relative error {error:.1e}")
    error = relative_error(engine.logits(tokens), expected)
    figure(f"this engine: relative error {error:.1e}")
    assert error <= FARTHEST * max(theirs.values())


def test_best_rung_error_in_six_passages(llama, engine, exact, tokenizer, figure, request):
    if not request.config.option.thorough:
        pytest.skip("takes minutes: --thorough")
    peer, ratios = llama("defaults"), []
    for tokens in passages(tokenizer):
        expected = exact(tokens)
        ours = relative_error(engine.logits(tokens), expected)
        theirs = relative_error(peer.logits(tokens).astype(np.float64), expected)
        figure(f"relative error: this engine {ours:.4f}, llama.cpp {theirs:.4f}")
        ratios.append(ours / theirs)
    mean, deviation = np.mean(ratios), np.std(ratios, ddof=1) / len(ratios) ** 0.5
    figure(f"this engine's error is {mean:.3f} ± {deviation:.3f} of llama.cpp's")
    assert mean <= 1 + 3 * deviation


def test_perplexity(llama, engine, tokenizer, figure):
    theirs, count = perplexity(llama("defaults").logits, tokenizer, STORIES)
    found = json.loads(engine.run("perplexity", "--limit", str(STORIES), "--json")[0])["perplexity"]
    figure(f"perplexity of {STORIES} stories, {count} tokens: {found:.4f}, llama.cpp {theirs:.4f}")
    assert abs(found / theirs - 1) <= 0.005


def test_50_texts_match_llama_cpp(llama, engine, errors, exact, figure):
    _, rounding, *_ = errors
    peer, parted = llama("defaults"), []
    prompts = [peer.encode(text) for text in BEGINNINGS]
    for prompt, text in zip(prompts, BEGINNINGS):
        tokens = peer.write(prompt, NEW)
        found = engine.logits(tokens[:-1])[len(prompt) - 1 :].argmax(-1)
        differ = np.flatnonzero(found != tokens[len(prompt) :])
        if differ.size:
            at = len(prompt) + differ[0]
            logits = exact(tokens[:at])[-1]
            gap = abs(logits[tokens[at]] - logits[found[differ[0]]])
            parted.append(gap)
            assert gap <= ROUNDING * rounding, f"{text!r}: after {differ[0]} tokens, {gap:.4f} apart"
    gaps = f", the others part where two logits are at most {max(parted):.3f} apart (rounding: {rounding:.3f})" if parted else ""
    figure(f"{len(prompts) - len(parted)} of {len(prompts)} texts of {NEW} tokens are llama.cpp's{gaps}")
