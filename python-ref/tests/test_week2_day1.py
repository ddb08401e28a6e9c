"""Week 2, day 1: the KV cache, attention of one row, the model over rows, each position once."""

import math

import numpy as np
import oracle.week2_day1 as oracle
import pytest
import torch
from live import close, q8_0
from oracle.fixtures import exact, rounding
from oracle.week1_day5 import draw_model
from test_week1_day5 import FAMILIES, kit_config, logits_of, random_config


def cut(r, length):
    """Splits `length` into random parts of at least 1."""
    parts = []
    while sum(parts) < length:
        parts.append(r.size(1, length - sum(parts)))
    return parts


def model(week2, r, family):
    config = random_config(r, family)
    weights = draw_model(r, config)
    return week2.model.Model.build(kit_config(config), weights), config, weights


@pytest.mark.parametrize("kind", ["F32", "F16", "Q8_0"])
def test_week2_day1_task_1_cache(week2, r, kind):
    layers, sequences, heads, d = r.different(4, 1, 6)
    capacity = r.size(2, 9)
    length = r.size(1, capacity)
    keys, values = r.normal(layers, sequences, length, heads, d), r.normal(layers, sequences, length, heads, d)
    cache = week2.cache.DenseCache(layers, sequences, heads, capacity, d, getattr(week2.cache.CacheType, kind))
    for position in range(length):
        for layer in range(layers):
            for sequence in range(sequences):
                cache.write(layer, sequence, position, keys[layer, sequence, position], values[layer, sequence, position])
    stored = {"F32": lambda x: x, "F16": lambda x: x.half().float(), "Q8_0": lambda x: torch.from_numpy(q8_0(x.numpy()))}[kind]
    for layer in range(layers):
        for sequence in range(sequences):
            for head in range(heads):
                start = r.size(0, length)
                found = cache.run(layer, sequence, head, start, length)
                close(found[0], stored(keys)[layer, sequence, start:, head], exact())
                close(found[1], stored(values)[layer, sequence, start:, head], exact())


def test_week2_day1_task_2_attention(week2, r):
    group, length, d = r.size(1, 4), r.size(1, 20), r.size(1, 12)
    q, keys, values = r.normal(group, d, std=2.0), r.normal(length, d, std=2.0), r.normal(length, d)
    scale = r.choice(1 / math.sqrt(d), 0.3)
    expected = oracle.attention(q.double(), keys.double(), values.double(), scale)
    scores = (q.double().abs() @ keys.double().abs().T * scale).max().item()
    tolerance = rounding(d + length + 4, max(1.0, scores) * values.abs().max().item())
    close(week2.attention.attend_two_pass(q, keys, values, cut(r, length), scale), expected, tolerance)


@pytest.mark.parametrize("family", FAMILIES)
def test_week2_day1_task_3_rows(week2, r, family):
    ours, config, weights = model(week2, r, family)
    sequences = r.size(1, 3)
    texts = [r.integers(r.size(1, 12), high=config["vocab_size"]) for _ in range(sequences)]
    # The order of sequences and the ends of passes are random.
    order = [s for s, text in enumerate(texts) for _ in text]
    r.random.shuffle(order)
    at, rows = [0] * sequences, []
    for s in order:
        rows.append((texts[s][at[s]].item(), at[s], s, r.choice(True, True, False)))
        at[s] += 1
    passes, start = [], 0
    for length in cut(r, len(rows)):
        passes.append(rows[start : start + length])
        start += length
    found = ours.forward(passes, sequences)
    expected = [logits_of(config, weights, text[None]) for text in texts]
    wanted = [(position, s) for _, position, s, wants in rows if wants]
    assert found.shape == (len(wanted), config["vocab_size"])
    for logits, (position, s) in zip(found, wanted):
        golden, tolerance = expected[s]
        close(logits, golden[0, position], tolerance)


@pytest.mark.parametrize("family", FAMILIES)
def test_week2_day1_task_4_feed_and_generate(week2, r, family):
    ours, config, weights = model(week2, r, family)
    tokens = r.integers(r.size(2, 14), high=config["vocab_size"])
    golden, tolerance = logits_of(config, weights, tokens[None])
    session, start = week2.generate.Session(ours, 32), 0
    for length in cut(r, len(tokens)):
        start += length
        close(session.feed(tokens[start - length : start], r.size(1, 6)), golden[0, start - 1], tolerance)
    assert session.computed() == len(tokens)
    # The same prefix with another continuation.
    kept = r.size(1, len(tokens) - 1)
    other = torch.cat((tokens[:kept], r.integers(r.size(1, 5), high=config["vocab_size"])))
    session.keep_prefix(other)
    kept = len(session.tokens())
    assert session.tokens() == other[:kept].tolist() and kept < len(other)
    golden, tolerance = logits_of(config, weights, other[None])
    close(session.feed(other[kept:], 3), golden[0, -1], tolerance)

    session, new = week2.generate.Session(ours, 32), r.size(1, 6)
    drawn = r.integers(new, high=config["vocab_size"]).tolist()
    seen = []

    def choose(logits, so_far):
        seen.append((np.asarray(logits), so_far))
        return drawn[len(seen) - 1]

    assert session.generate(tokens, r.size(1, 6), new, choose) == drawn
    assert session.computed() == len(tokens) + new - 1, "nobody asks what follows the last token"
    golden, tolerance = logits_of(config, weights, torch.tensor([tokens.tolist() + drawn]))
    for i, (logits, so_far) in enumerate(seen):
        assert so_far == tokens.tolist() + drawn[:i]
        close(logits, golden[0, len(tokens) - 1 + i], tolerance)
