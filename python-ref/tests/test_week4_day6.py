"""Week 4, day 6: routers, groups, sinks and windows, against transformers."""

import torch
from live import close
from oracle import week4_day6 as oracle
from oracle.fixtures import random_walk, rounding

ORDERS = {"softmax": ("qwen3", False), "renormalized": ("qwen3", True), "top_k": ("gpt_oss", True)}


def test_week4_day6_task_1_routes(week4, r):
    for order, (kind, renormalize) in ORDERS.items():
        n = r.size(1, 16)
        k, logits = r.size(1, n), r.normal(r.size(1, 5), n, mean=r.choice(0.0, 90.0))
        chosen, weights = week4.mixture.route(logits, k, order)
        # Equal logits stay in the order of their indices.
        expected = logits.sort(dim=-1, descending=True, stable=True).indices[:, :k]
        assert chosen == expected.tolist()
        close(weights, oracle.route(logits.double(), kind, renormalize, k), rounding(n + 200, 1.0))


def test_week4_day6_task_2_groups(week4, r):
    n, k, tokens = r.size(1, 9), r.size(1, 3), r.size(1, 7)
    chosen = r.integers(tokens * k, high=n)
    starts, members = week4.mixture.group(chosen.tolist(), n)
    assert members == torch.argsort(chosen, stable=True).tolist()
    assert starts == [0, *torch.bincount(chosen, minlength=n).cumsum(0).tolist()]


def test_week4_day6_task_2_products(week4, r):
    n, k, tokens, rows, cols = r.size(1, 6), r.size(1, 3), r.size(1, 5), r.size(1, 8), r.size(1, 30)
    chosen = r.integers(tokens * k, high=n)
    shared = r.choice(True, False)
    stack, x = r.normal(n, rows, cols), r.normal(tokens if shared else tokens * k, cols)
    found, read = week4.mixture.indexed_matmul(stack, chosen.tolist(), x)
    each = x.repeat_interleave(k, 0) if shared else x
    expected = torch.einsum("amk,ak->am", stack.double()[chosen], each.double())
    size = torch.einsum("amk,ak->am", stack.abs()[chosen], each.abs()).max().item()
    close(found, expected, rounding(random_walk(cols) + 2, size))
    assert read == len(set(chosen.tolist())) * rows * cols * 4


def test_week4_day6_task_3_sinks(week4, r):
    d, group, n = 2 * r.size(1, 20), r.size(1, 8), r.size(1, 200)
    q, k, v, sinks = r.normal(group, d), r.normal(n, d), r.normal(n, d), r.normal(group, std=3.0)
    expected = oracle.attention(sinks.double(), q.double()[:, None], k.double()[None], v.double()[None])[0]
    found = week4.mixture.attend(q, k, v, sinks)
    close(found, expected, rounding(random_walk(d) + random_walk(n) + 24, v.abs().max().item()))


def test_week4_day6_task_4_windows(week4, r):
    window, page, steps = r.choice(None, r.size(1, 12)), r.size(1, 6), 24
    starts, ends = oracle.seen(window, steps)
    assert [week4.mixture.visible(p, window or 0) for p in range(steps)] == list(zip(starts, ends, strict=True))
    assert [week4.mixture.pages_out(n, window or 0, page) for n in range(steps)] == oracle.pages_out(window, page, steps)
