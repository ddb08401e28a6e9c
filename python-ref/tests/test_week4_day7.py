"""Week 4, day 7: int8 rows, attention over an int8 cache, top-k of a vocabulary, a whole streamed model."""

import struct

import numpy as np
import pytest
import torch
from live import close
from oracle import week4_day7 as oracle
from oracle.fixtures import Random

PARTS = ["embedding", "rope", "attention_norm", "query", "key", "value", "output", "mlp_norm", "gate", "up", "down", "final_norm", "head"]


def fnv1a(data):
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def streamed_file(model):
    header = b"TINYINT8" + struct.pack("<9I", 1, *oracle.SIZES.values()) + struct.pack("<f", oracle.EPS) + bytes(12)
    file = header + struct.pack("<I", fnv1a(header))
    for part in PARTS:
        if f"{part}_scale" not in model:
            file += model[part].numpy().astype("<f4").tobytes()
            continue
        for row, scale in zip(model[part], model[f"{part}_scale"]):
            file += struct.pack("<f", scale) + row.numpy().astype(np.int8).tobytes()
    return file


def test_week4_day7_task_1_rows(week4, r):
    x = r.normal(r.size(1, 300), std=r.choice(1e-3, 1.0, 1e3))
    for quantize, most in ((week4.streamed.quantize_int8, 127), (week4.streamed.quantize_int16, 32767)):
        q, scale = quantize(x)
        expected, expected_scale = oracle.whole(x.double(), most)
        assert scale == pytest.approx(expected_scale.item(), rel=1e-6)
        # A quotient near a tie may go to either side.
        exact = x.double() / expected_scale
        near = ((exact.frac().abs() - 0.5).abs() < 1e-6 * exact.abs() + 1e-6).numpy()
        assert (np.abs(np.array(q) - expected.numpy()) <= near).all()


def test_week4_day7_task_1_products(week4, r):
    n = r.size(0, 3000)
    weights = (r.integers(n, high=255) - 127).tolist()
    x = (r.integers(n, high=65535) - 32767).tolist()
    if r.choice(True, False):
        weights, x = [127] * n, [-32767] * n
    assert week4.streamed.dot(weights, x) == sum(a * b for a, b in zip(weights, x))


def test_week4_day7_task_4_attention(week4, r):
    heads, dim, n = r.size(1, 3), r.size(1, 9), r.size(1, 40)
    keys, values, q = r.normal(n, heads, dim), r.normal(n, heads, dim) * r.uniform(n, heads, 1, low=0.1, high=2.0), r.normal(heads * r.size(1, 3), dim)
    expected = oracle.attend(keys.double(), values.double(), q.double())
    # An int8 step of a key or a value whose quotient is near a tie may be one off.
    close(week4.streamed.attend(keys, values, q), expected, oracle.steps(600, 1.0 + values.abs().max().item()))


def test_week4_day7_task_5_top_k(week4, r):
    logits = r.integers(r.size(1, 200), high=40).float() - 20
    k = r.size(1, 60)
    expected = sorted(enumerate(logits.tolist()), key=lambda pair: (-pair[1], pair[0]))[:k]
    assert week4.streamed.best(logits, k) == expected


def test_week4_day7_task_5_model(week4, r):
    model = oracle.random_model(Random(r.random.getrandbits(32)))
    tokens = r.integers(r.size(1, 12), high=290).tolist()
    run = oracle.Streamed({name: value.double() for name, value in model.items()})
    file, k = streamed_file(model), r.size(1, 10)
    rows = r.size(1, 200)
    found, (_, seeks, read), peak = week4.streamed.run(file, tokens, rows, k, 200_000)
    for token, best in zip(tokens, found):
        run.feed(token)
        logits = run.logits()
        close([logit for _, logit in best], torch.topk(logits, k).values, oracle.steps(600, 1.0))
        close([logit for _, logit in best], logits[[token for token, _ in best]], oracle.steps(600, 1.0))
    each = len(file) - 64 - 299 * 28 - 12 * 24 + 24
    assert read == len(tokens) * each and seeks <= 3 * len(tokens)
    again, _, least = week4.streamed.run(file, tokens, 1, k, peak)
    assert again == found and least <= peak
    with pytest.raises(ValueError, match=r"week4.streamed.\w+\.rs:\d+: .* needs \d+ bytes"):
        week4.streamed.run(file, tokens, rows, k, peak - 1)
