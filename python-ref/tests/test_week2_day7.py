"""Week 2, day 7: attention in one pass, against PyTorch's over all scores at once."""

import math

import torch
from live import close
from oracle.fixtures import relative_rounding, rounding
from oracle.week2_day7 import attention, roundings


def lengths(r, size):
    """Returns lengths of runs that add up to `size`, some longer than a tile."""
    runs = []
    while sum(runs) < size:
        runs.append(r.size(1, r.choice(3, 40, 100)))
    runs[-1] -= sum(runs) - size
    return runs


def check_attention(week2, r, n, d, visible, attend):
    """Checks `attend(q, runs, scale, cache_type)` on random keys and values, with sharp and flat weights."""
    types, size = week2.cache.CacheType, max(end for _, end in visible)
    cache_type = r.choice(types.F32, types.F16)
    q = r.normal(n, d, std=r.choice(0.3, 1.0, 4.0))
    keys, values = r.normal(size, d), r.normal(size, d)
    if cache_type == types.F16:
        keys, values = keys.half().float(), values.half().float()
    if r.choice(True, False):
        # Scores grow with the position: each tile holds a new maximum.
        keys = keys + torch.linspace(0, 2, size)[:, None] * q.mean(0).sign()
        keys = keys.half().float()
    scale = 1 / math.sqrt(d)
    parts = lengths(r, size)
    runs = list(zip(keys.split(parts), values.split(parts)))
    expected = attention(q.double(), keys.double(), values.double(), visible, scale)
    close(attend(q, runs, scale, cache_type), expected, rounding(roundings(q, keys, scale), values))


def test_week2_day7_task_1_softmax_in_pieces(week2, r):
    softmax, seen, before = week2.streaming.OnlineSoftmax(), [], -math.inf
    for _ in range(r.size(1, 6)):
        piece = r.normal(r.size(0, 40), std=r.choice(0.5, 3.0), mean=r.choice(-20.0, 0.0, 20.0))
        if len(piece) and r.choice(True, False):
            piece[: r.size(1, len(piece))] = -math.inf
        weights, factor = softmax.absorb(piece)
        seen.append(piece.double())
        scores = torch.cat(seen)
        maximum = scores.max().item() if len(scores) else -math.inf
        # The argument of exp is up to 80 and rounded to 2^-24 of itself. (Beyond 87, weights lose precision.)
        allowed = relative_rounding(110)
        assert softmax.max == maximum
        if maximum == -math.inf:
            assert (weights == 0).all() and softmax.total == 0 and factor == 1
        else:
            close(weights, torch.exp(piece.double() - maximum), allowed)
            close(softmax.total, torch.exp(scores - maximum).sum(), allowed)
            close(factor, math.exp(before - maximum), allowed)
        before = maximum


def test_week2_day7_task_2_one_pass(week2, r):
    heads, d, size = r.size(1, 16), 8 * r.size(1, 32), r.size(1, 200)
    check_attention(week2, r, heads, d, [(0, size)] * heads, week2.streaming.attend_streaming)


def test_week2_day7_task_3_many_queries(week2, r):
    queries, d = r.size(1, 128), 8 * r.size(1, 16)
    first = r.size(1, 100)
    ends = [first + i // r.choice(1, 3) for i in range(queries)]
    # A query sees all positions up to its own, or the last few of them.
    window = r.choice(max(ends), r.size(1, 60))
    visible = [(max(0, end - window), end) for end in ends]
    block = week2.streaming.attend_block
    check_attention(week2, r, queries, d, visible, lambda q, runs, scale, cache_type: block(q, visible, runs, scale, cache_type))
