"""Week 2, days 5 and 6: products of quantized rows. The `gguf` package decodes the weights. Expected sums are in float64."""

import numpy as np
import pytest
import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from live import close
from oracle.fixtures import random_walk, rounding
from oracle.week2_day5 import BLOCK, SUPER_BLOCK, bound, decode

HALVES = {"Q8_0": [0], "Q4_0": [0], "Q5_0": [0], "Q4_1": [0, 2], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "Q2_K": [80, 82], "Q3_K": [108]}
"""Offsets of the half-precision numbers in a block."""


def random_rows(r, name, rows, cols):
    """Returns the bytes of random blocks. Scales have both signs and one order of magnitude, so that every block matters."""
    length, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    blocks = r.integers(rows, cols // length, size, high=256)
    for at in HALVES[name]:
        bits = 0x2000 + r.integers(rows, cols // length, high=0x800) | r.integers(rows, cols // length, high=2) << 15
        blocks[:, :, at], blocks[:, :, at + 1] = bits & 255, bits >> 8
    return blocks.reshape(rows, -1)


def columns(r, name):
    """Returns a random number of columns in whole blocks. Blocks of 32 need not fill the last super-block of activations."""
    length = GGML_QUANT_SIZES[GGMLQuantizationType[name]][0]
    return length * (r.size(1, 40) if length == 32 else r.size(1, 5))


def whole_activations(r, rows, cols, per_scale):
    """Returns activations that int8 holds exactly: groups of `per_scale`, each of integers up to 127 times one power of two."""
    super_blocks = -(-cols // SUPER_BLOCK)
    whole = r.integers(rows, super_blocks, SUPER_BLOCK // per_scale, per_scale, high=255).float() - 127
    whole[..., 0] = 127 * (r.integers(rows, super_blocks, SUPER_BLOCK // per_scale, high=2) * 2 - 1)
    scales = torch.exp2(r.integers(rows, super_blocks, SUPER_BLOCK // per_scale, 1, high=7) - 6.0)
    return (whole * scales).reshape(rows, -1)[:, :cols]


def tolerance(weights, rows, name, x):
    if name in BLOCK:
        return bound(weights, rows, name, x)
    # Provided formats may sum minimum and codes separately. Each is at most a few times the row's largest weight.
    size = 4 * weights.abs().amax(-1, keepdim=True) * x.abs()
    return rounding(random_walk(weights.shape[-1]) + 8, size.sum(-1))


def check_matmul(week2, r, rung, name, tokens, threads=1):
    cols, outputs = columns(r, name), r.size(1, 70)
    # A scale is shared by as many activations as a block has weights.
    per_scale = GGML_QUANT_SIZES[GGMLQuantizationType[name]][0]
    rows, x = random_rows(r, name, outputs, cols), whole_activations(r, tokens, cols, per_scale)
    weights = decode(rows, name)
    found = np.asarray(week2.kernels.matmul(rung, name, [bytes(row) for row in rows.tolist()], x, threads))
    assert found.shape == (tokens, outputs)
    for t in range(tokens):
        close(found[t], weights @ x[t].double(), tolerance(weights, rows, name, x[t].double()))


def check_quantize(quantize, r):
    cols = r.size(1, 700)
    x = r.normal(cols) * torch.exp(r.normal(1))
    super_blocks = -(-cols // SUPER_BLOCK)
    if r.choice(True, False):
        x[(super_blocks - 1) * SUPER_BLOCK :] = 0.0
    per_scale = r.choice(32, SUPER_BLOCK)
    values, sums, scales = quantize(x, per_scale)
    padded = np.zeros(super_blocks * SUPER_BLOCK)
    padded[:cols] = x.double().numpy()
    padded = padded.reshape(super_blocks, SUPER_BLOCK)
    # A scale of a whole super-block is repeated eight times. Scales after the end of the row are ignored.
    exact = np.abs(padded).reshape(super_blocks, -1, per_scale).max(-1).repeat(per_scale // 32, axis=1) / 127
    np.testing.assert_allclose(scales.reshape(-1)[: -(-cols // 32)], exact.reshape(-1)[: -(-cols // 32)], rtol=2.0**-23)
    exact = exact.repeat(32, axis=1)
    assert (values == np.round(values)).all() and np.abs(values).max() <= 127
    steps = np.divide(padded, exact, out=np.zeros_like(padded), where=exact > 0)
    # Allows half a step to either side, and f32's rounding at a tie.
    assert np.abs(values - steps).max() <= 0.5 + 1e-4, f"a value is {np.abs(values - steps).max()} steps away"
    assert (sums == values.reshape(super_blocks, 16, 16).sum(-1)).all()


@pytest.mark.parametrize("name", BLOCK)
def test_week2_day5_task_1_fused(week2, r, name):
    check_matmul(week2, r, "fused", name, r.size(1, 3))


def test_week2_day5_task_2_activations_as_integers(week2, r):
    check_quantize(week2.input.quantize_activations, r)


@pytest.mark.parametrize("name", BLOCK)
def test_week2_day5_task_3_one_row_of_activations(week2, r, name):
    check_matmul(week2, r, "integer", name, 1)


@pytest.mark.parametrize("name", BLOCK)
def test_week2_day5_task_4_many_rows_of_activations(week2, r, name):
    check_matmul(week2, r, "integer", name, r.size(2, 9))


def test_week2_day6_every_rung_quantizes(week2, r):
    for rung in week2.kernels.rungs():
        check_quantize(lambda x, per_scale: week2.kernels.quantize(rung, x[None], per_scale), r)


@pytest.mark.parametrize("name", HALVES)
def test_week2_day6_task_1_and_2_every_rung(week2, r, name):
    """Multiplies one row, a few, or many. A rung without a kernel for the format uses that of the rung below."""
    for rung in week2.kernels.rungs():
        check_matmul(week2, r, rung, name, r.choice(1, r.size(2, 5), r.size(6, 40)))


def test_week2_day6_task_3_threads(week2, r):
    check_matmul(week2, r, week2.kernels.rungs()[-1], r.choice(*BLOCK), r.choice(1, r.size(2, 40)), threads=r.size(2, 4))
