"""Batches, pages, shared prefixes, drafts, a saved prompt and the server give the same text as `generate`."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from measure import BEGINNINGS

TOKENS = 32
RULES = "You are a careful writer. Write short sentences. Do not repeat yourself. Do not use rare words. Say what you know, and say so when you do not know. " * 2
"""A shared prefix of some prompts, longer than a page of 32 positions."""
PROMPTS = [
    *BEGINNINGS[::13],
    *(RULES + beginning for beginning in BEGINNINGS[1::17]),
    "fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n\nfn sub(a: u32, b: u32) -> u32 {\n    a - b\n}\n\nfn mul(",
    "日本語で：こんにちは、",
]


def generate(engine, prompt, *options):
    return engine.run("generate", "--raw", "--quiet", "-n", str(TOKENS), "-p", prompt, *options)[0].removesuffix("\n")


@pytest.fixture(scope="session")
def texts(engine):
    found = [generate(engine, prompt) for prompt in PROMPTS]
    # Some texts are empty, because the model ends them at once.
    assert len(set(found)) > len(PROMPTS) / 2
    return found


def same(found, expected):
    for prompt, text, other in zip(PROMPTS, found, expected, strict=True):
        # `generate` adds a newline at the end.
        assert text.removesuffix("\n") == other, prompt


@pytest.mark.parametrize("options", ["", "--pages 64", "--pages 64 --share-prefixes --max-batch 2", "--pages 64 --budget 32", "--draft lookup", "--pages 64 --share-prefixes --max-batch 2 --draft lookup"])
def test_batch_matches_generate(engine, texts, options, figure):
    found = engine.batch([{"prompt": prompt, "max_tokens": TOKENS, "temperature": 0} for prompt in PROMPTS], *options.split())
    same(found, texts)
    if "--share-prefixes" in options:
        # With two slots, the pages of the first requests are cached when later ones start.
        assert int(re.search(r"prefixes (\d+) of", engine.said)[1]) > 0, engine.said
    figure(f"batch {options or 'alone'}: {len(texts)} texts as `generate`'s")


def test_drafts_and_a_saved_prompt_match_generate(engine, texts, tmp_path):
    code = PROMPTS.index(next(prompt for prompt in PROMPTS if prompt.startswith("fn add")))
    for options in (["--draft", "lookup"], *[["--cache", tmp_path / "cache"]] * 2):
        assert generate(engine, PROMPTS[code], *options) == texts[code], options


def test_server_matches_generate(post, texts, figure):
    ask = lambda prompt: post("/v1/completions", {"model": "m", "prompt": prompt, "max_tokens": TOKENS, "temperature": 0})["choices"][0]["text"]
    with ThreadPoolExecutor(len(PROMPTS)) as clients:
        same(list(clients.map(ask, PROMPTS)), texts)
    figure(f"the server, {len(PROMPTS)} clients at once: as `generate`")
