"""Week 2, day 3: blocks. The oracle is the `gguf` package, and all bits are compared."""

import numpy as np
import oracle.week2_day3 as oracle
import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from live import close
from test_week2_day5 import HALVES

PROVIDED = ("Q4_1", "Q5_1", "F16", "BF16")


def random_row(r, name, blocks, finite):
    """Returns a row of random bytes. With `finite`, its half-precision numbers are finite."""
    size = GGML_QUANT_SIZES[GGMLQuantizationType[name]][1]
    row = r.integers(blocks, size, high=256)
    if finite:
        for at in HALVES.get(name, []):
            row[:, at + 1] = row[:, at + 1] % 0x7C + r.integers(blocks, high=2) * 128
    return row.reshape(1, -1)


def same_bits(found, expected):
    """Compares all bits, except those of NaNs."""
    found, expected = np.asarray(found), expected.numpy().ravel()
    assert found.shape == expected.shape, f"found shape {found.shape}, expected {expected.shape}"
    wrong = (found.view(np.uint32) != expected.view(np.uint32)) & ~(np.isnan(found) & np.isnan(expected))
    at = wrong.argmax()
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} weights differ, first at {at}: found {found[at]!r}, expected {expected[at]!r}"


def check_dequantize(week2, r, name):
    for finite in (True, False):
        row = random_row(r, name, r.size(1, 40), finite)
        same_bits(week2.blocks.dequantize_row(name, bytes(row[0].tolist())), oracle.decode(row, name))


def check_quantize(week2, r, name):
    blocks = r.size(1, 40)
    x = r.normal(blocks, 32) * torch.exp(r.uniform(blocks, 1, low=-16, high=9))
    # A block of zeros, one of ties between two integers, and one of bf16 weights, many of which are equal.
    x[r.size(0, blocks - 1)] = 0.0
    x[r.size(0, blocks - 1)] = r.integers(32, high=33) * 0.5 - 8.0
    x[r.size(0, blocks - 1)] = r.normal(32).bfloat16().float()
    row = x.reshape(1, -1)
    found = np.frombuffer(week2.blocks.quantize_row(name, row[0]), np.uint8)
    expected = oracle.encode(row, name)[0].numpy()
    wrong = found != expected
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size} bytes differ, first byte {wrong.argmax()}: found {found[wrong][0]}, expected {expected[wrong][0]}"


def check(week2, r, name):
    check_dequantize(week2, r, name)
    check_quantize(week2, r, name)


def test_week2_day3_task_1_q8_0(week2, r):
    check(week2, r, "Q8_0")


def test_week2_day3_task_2_q4_0(week2, r):
    check(week2, r, "Q4_0")


def test_week2_day3_task_3_q5_0(week2, r):
    check(week2, r, "Q5_0")


def test_week2_day3_task_4_errors(week2, r):
    n = r.size(1, 400)
    x, y = r.normal(n, std=2.0), r.normal(n)
    rms = oracle.rms(x.double() - y.double())
    close(week2.blocks.rms_error(x, y), rms, oracle.one_rounding())
    close(week2.blocks.relative_error(x, y), rms / oracle.rms(x), oracle.one_rounding())
    name = r.choice(*oracle.ROUND_TRIP)
    x = r.normal(32 * r.size(1, 12))
    back = oracle.decode(oracle.encode(x[None], name), name)[0]
    close(week2.blocks.round_trip_error(name, x), oracle.rms(x.double() - back.double()) / oracle.rms(x), oracle.one_rounding())


def test_week2_day3_provided_formats(week2, r):
    for name in PROVIDED:
        check(week2, r, name)
    for name in ("Q2_K", "Q3_K"):
        check_dequantize(week2, r, name)
