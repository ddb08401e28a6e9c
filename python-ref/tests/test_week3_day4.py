"""Week 3, day 4: attention over pages, shared or not, in parts, against PyTorch's over gathered keys and values."""

import math

import torch
from live import close
from oracle.fixtures import relative_rounding, rounding
from oracle.week2_day7 import attention, roundings

HEADS, D = 2, 8


def texts(week3, r, part_len):
    """Returns a cache with four texts, two of which are forks of earlier ones, and the cells of each: `[n, 2, H, D]`."""
    cache = week3.paged.PagedCache(1, 4, HEADS, 400, D, r.choice(32, 64), 60, part_len=part_len)
    given = [[] for _ in range(4)]

    def append(sequence, n):
        for _ in range(n):
            cell = r.normal(2, HEADS, D)
            assert cache.append(sequence, cell[:1], cell[1:])
            given[sequence].append(cell)

    append(0, r.size(1, 150))
    append(1, r.size(1, 150))
    for to in (2, 3):
        source = r.size(0, to - 1)
        cache.fork(source, to)
        given[to] = list(given[source])
        append(to, r.size(0, 60))
    for sequence in range(4):
        append(sequence, r.size(0, 50))
    return cache, [torch.stack(cells) for cells in given]


def check(week3, r, part_len, rows_of):
    cache, given = texts(week3, r, part_len)
    rows = rows_of([len(text) for text in given])
    group = r.size(1, 5)
    q, scale = r.normal(len(rows), HEADS, group, D, std=r.choice(0.3, 1.0, 4.0)), 1 / math.sqrt(D)
    expected, allowed = torch.zeros_like(q, dtype=torch.float64), 0.0
    for t, (sequence, position) in enumerate(rows):
        for head in range(HEADS):
            keys, values = given[sequence][:, 0, head], given[sequence][:, 1, head]
            expected[t, head] = attention(q[t, head].double(), keys.double(), values.double(), [(0, position + 1)] * group, scale)
            allowed = max(allowed, roundings(q[t].reshape(-1, D), keys, scale))
    tolerance = rounding(allowed, torch.cat([text[:, 1].flatten() for text in given]))
    found = cache.attend(0, rows, q, 1)
    close(found, expected, tolerance)
    for threads in (2, 3):
        assert (cache.attend(0, rows, q, threads) == found).all(), f"{threads} threads"
    for t, row in enumerate(rows):
        assert (cache.attend(0, [row], q[t : t + 1], 1)[0] == found[t]).all(), f"row {t} alone"


def test_week3_day4_task_1_one_text(week3, r):
    check(week3, r, 512, lambda lengths: [(1, p) for p in range(max(0, lengths[1] - r.size(1, 20)), lengths[1])])


def test_week3_day4_task_2_shared_pages(week3, r):
    check(week3, r, 512, lambda lengths: [(s, n - 1) for s, n in enumerate(lengths)] + [(0, r.size(0, lengths[0] - 1))])


def test_week3_day4_task_3_parts(week3, r):
    check(week3, r, 32 * r.size(1, 3), lambda lengths: [(s, r.size(0, lengths[s] - 1)) for s in (2, 0, 3, 1, 2)])


def test_week3_day4_task_3_join(week3, r):
    pieces = [(r.normal(r.size(1, 9), mean=r.choice(-20.0, 0.0, 20.0)), r.size(2, 5)) for _ in range(3)]
    state, scores, values = (-math.inf, 0.0, torch.zeros(4)), [], []
    for piece, _ in pieces:
        value, maximum = r.normal(len(piece), 4), piece.max()
        weights = torch.exp(piece.double() - maximum.double()).float()
        state = week3.parts.join(state, (maximum.item(), weights.sum().item(), weights @ value))
        scores.append(piece.double())
        values.append(value.double())
    scores, values = torch.cat(scores), torch.cat(values)
    assert state[0] == scores.float().max()
    close(state[1], torch.exp(scores - scores.max()).sum(), relative_rounding(120))
    close(torch.as_tensor(state[2]) / state[1], torch.softmax(scores, 0) @ values, rounding(120, values))
