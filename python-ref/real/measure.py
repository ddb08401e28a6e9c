"""Functions that several tests of this folder use."""

import json
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]

THINGS = ["the sea", "a bicycle", "Paris", "honey", "a good teacher", "winter", "the moon", "a computer program", "bread", "a prime number"]
BEGINNINGS = [
    beginning.format(thing)
    for beginning in ("The most important thing about {} is", "Question: What is {}?\nAnswer:", "Dear Anna, yesterday I read a book about {}.", "Here are three facts about {}:\n1.", "# Prints a line about {}\ndef")
    for thing in THINGS
]
"""50 texts to continue."""


def stories(limit):
    lines = (ROOT / "models/eval/stories.jsonl").read_text().splitlines()
    return [json.loads(line)["text"] for line in lines[:limit]]


def passage(tokenizer, length=300):
    """Returns the first `length` tokens of a text with prose, code and numbers."""
    text = "\n".join(BEGINNINGS[::7] + stories(2)) + "\nfn main() {\n    let x: u32 = 1 << 5;\n    println!(\"{x:>8} 日本 – naïve\");\n}\n"
    tokens = tokenizer(text * 2).input_ids
    assert len(tokens) > length
    return tokens[:length]


def passages(tokenizer, length=300):
    """Returns the first `length` tokens of six passages: three of stories, one of Rust, two of English."""
    files = ("kernels/src/avx2/many.rs", "book/src/week1/day3.md", "README.md")
    texts = ["\n".join(stories(60)[i : i + 4]) for i in (0, 16, 32)] + [(ROOT / file).read_text() for file in files]
    found = [tokenizer(text).input_ids[:length] for text in texts]
    assert all(len(tokens) == length for tokens in found)
    return found


def relative_error(found, expected):
    """Returns the relative error of logits. Each row's mean is subtracted, because adding a constant changes no probability."""
    centred = lambda x: x - x.mean(-1, keepdims=True)
    return float(np.linalg.norm(centred(found) - centred(expected)) / np.linalg.norm(centred(expected)))


def negative_log(logits, tokens):
    """Returns the negative log-likelihoods of all tokens but the first."""
    logits = logits[:-1] - logits[:-1].max(-1, keepdims=True)
    return np.log(np.exp(logits).sum(-1)) - logits[np.arange(len(tokens) - 1), tokens[1:]]


def perplexity(logits_of, tokenizer, limit):
    """Returns the perplexity of stories with their end tokens, as `tiny-llm perplexity` defines it, and the number of tokens."""
    texts = [tokenizer(story + "<|endoftext|>").input_ids for story in stories(limit)]
    return float(np.exp(np.concatenate([negative_log(logits_of(tokens), tokens) for tokens in texts]).mean())), sum(map(len, texts)) - len(texts)
