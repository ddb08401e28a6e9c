"""Compares logits and perplexity with PyTorch's on the dequantized weights."""

import json

import pytest

from measure import passage, perplexity, relative_error

STORIES = 16
EXACT = 1e-4
"""The largest relative error of engines that compute in f32."""
INTEGER = 0.05
"""The largest relative error of rungs that round activations to int8. `test_llama_cpp.py` has a stricter limit, from llama.cpp's own error."""
PERPLEXITY = 0.015
"""The largest relative difference of the perplexity. llama.cpp's differs from PyTorch's by 0.006."""
FEW = 48
"""The number of positions on slow rungs, without `--thorough`."""
F32 = ("--cache-type", "f32")


@pytest.fixture(scope="session")
def tokens(tokenizer):
    return passage(tokenizer)


@pytest.fixture(scope="session")
def expected(exact, tokens):
    return exact(tokens)


def test_week_1_logits(engine, folder, tokens, expected, figure):
    error = relative_error(engine.logits(tokens, "--week", "1", model=folder), expected)
    figure(f"week 1, {len(tokens)} positions: relative error {error:.1e}")
    assert error <= EXACT


@pytest.mark.parametrize("kind", ["direct", "graph"])
def test_logits_of_every_rung(engine, tokens, expected, figure, kind, request):
    rungs = engine.rungs()
    assert rungs[:3] == ["naive", "fused", "integer"]
    for rung in rungs:
        in_f32 = rung in ("naive", "fused")
        options = ["--engine", kind, *(F32 if in_f32 else ())]
        count = len(tokens) if rung == rungs[-1] or request.config.option.thorough else FEW
        error = relative_error(engine.logits(tokens[:count], *options, kernels=rung), expected[:count])
        figure(f"{kind}, {rung}, {count} positions: relative error {error:.1e}")
        assert error <= (EXACT if in_f32 else INTEGER), rung


def test_perplexity(engine, single, tokenizer, figure):
    expected, count = perplexity(single, tokenizer, STORIES)
    found = json.loads(engine.run("perplexity", "--limit", str(STORIES), "--json")[0])
    figure(f"perplexity of {STORIES} stories, {count} tokens: {found['perplexity']:.4f}, PyTorch {expected:.4f}")
    assert (found["stories"], found["tokens"]) == (STORIES, count)
    assert abs(found["perplexity"] / expected - 1) <= PERPLEXITY
