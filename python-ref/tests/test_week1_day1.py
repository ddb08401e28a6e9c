"""Day 1: softmax and linear, scaled dot-product attention, multi-head attention."""

import math

import oracle.week1_day1 as oracle
from live import close
from oracle.fixtures import exact, rounding


def random_mask(r, *shape):
    """Returns signed numbers, some of them −inf, and sometimes a row of −inf."""
    mask = r.normal(*shape)
    mask[r.uniform(*shape) > 0.4] = -math.inf
    return mask


def test_week1_day1_task_1_softmax(week1, r):
    x = r.normal(*r.shape(1, 4), std=3.0) + r.choice(0, 0, 100, 1000, -120, -1e5)
    if r.choice(True, False):
        x = x + random_mask(r, *x.shape)
    # Exp and sum have magnitude 1. A solution that subtracts max + ln Σ rounds a number as large as x once.
    tolerance = rounding(x.shape[-1] + 4, max(1.0, x[x.isfinite()].abs().max().item() if x.isfinite().any() else 0.0))
    close(week1.attention.softmax(x), oracle.softmax(x.double()), tolerance)


def test_week1_day1_task_1_linear(week1, r):
    width, out = r.choice((6, 6), r.different(2, 1, 12))
    x, weight = r.normal(*r.shape(1, 3), width), r.normal(out, width)
    bias = r.choice(None, r.normal(out))
    expected = oracle.linear(x.double(), weight.double(), None if bias is None else bias.double())
    close(week1.attention.linear(x, weight, bias), expected, oracle.linear_rounding(x, weight, bias))


def test_week1_day1_task_2_scaled_dot_product_attention(week1, r):
    l, s, d = r.different(3, 1, 12)
    lead = r.shape(0, 2, size=4)
    q, k, v = r.normal(*lead, l, d, std=2.0), r.normal(*lead, s, d, std=2.0), r.normal(*lead, s, d)
    scale = r.choice(None, 0.3)
    mask = r.choice(None, random_mask(r, l, s), random_mask(r, *lead, l, s))
    found = week1.attention.scaled_dot_product_attention(q, k, v, scale=scale, mask=mask)
    expected = oracle.scaled_dot_product_attention(q.double(), k.double(), v.double(), scale, mask)
    close(found, expected, attention_tolerance(q, k, v, scale, mask))


def test_week1_day1_task_3_split_and_merge_heads(week1, r):
    b, l, h, d = r.different(4, 1, 8)
    x = r.normal(b, l, h * d)
    heads = oracle.split_heads(x, h)
    close(week1.attention.split_heads(x, h), heads, exact())
    close(week1.attention.merge_heads(heads), x, exact())


def test_week1_day1_task_3_multi_head_attention(week1, r):
    b, h = r.size(2, 3), r.choice(1, 3, 5)
    l, s, d, e = r.different(4, 2, 10)
    weights = {f"{n}_proj": r.weight(h * d, e) for n in "qkv"} | {"o_proj": r.weight(e, h * d)}
    query, key, value = r.normal(b, l, e), r.normal(b, s, e), r.normal(b, s, e)
    mask = r.choice(None, random_mask(r, l, s), random_mask(r, b, 1, l, s), random_mask(r, h, 1, s))
    found = week1.attention.MultiHeadAttention(h, **weights).forward(query, key, value, mask=mask)

    wide = {n: w.double() for n, w in weights.items()}
    expected = oracle.multi_head_attention(query.double(), key.double(), value.double(), mask, n_heads=h, **wide)
    q, k, v = (oracle.split_heads(oracle.linear(x, weights[f"{n}_proj"]), h) for n, x in [("q", query), ("k", key), ("v", value)])
    close(found, expected, attention_tolerance(q, k, v, None, mask, projections=2 * e, output=weights["o_proj"]))


def attention_tolerance(q, k, v, scale, mask, **around):
    """Returns attention's tolerance. A mask adds a rounding of its largest number to each score, and twice that to each weight."""
    value, derivation, relative = oracle.attention_rounding(q, k, v, scale, **around)
    if mask is None or not mask.isfinite().any():
        return oracle.attention_rounding(q, k, v, scale, **around)
    added = rounding(2, mask[mask.isfinite()].abs().max().item() * v.abs().max().item(), factor=1)
    return type(added)(value + added.value, f"{derivation}; mask: {added.derivation}", relative)
