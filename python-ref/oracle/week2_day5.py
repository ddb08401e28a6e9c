"""Week 2, day 5: products of quantized rows, in f32 and in integers, for one row of activations and for many.

The `gguf` package (llama.cpp's own) decodes a row's bytes, and products are summed in float64.
"""

import numpy as np
import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize

from oracle.fixtures import exact, random_walk, relative_rounding, rounding

SUPER_BLOCK = 256
"""Number of activations in a super-block."""

PART = 32
"""Number of activations for which a scale is stored."""

BLOCK = {"Q8_0": (32, 34), "Q4_0": (32, 18), "Q5_0": (32, 22), "Q4_K": (256, 144), "Q6_K": (256, 210)}
"""Number of weights and of bytes in a block."""

LARGE = {"Q8_0": (0x7F, 0x80, 0x70, 0x92), "Q4_0": (0xFF, 0x00, 0xF1, 0x20), "Q5_0": (0xFF, 0x00, 0xEE, 0x11), "Q4_K": (0xFF, 0x77, 0xEE, 0xBF), "Q6_K": (0xFF, 0x00, 0xFF, 0x00)}
"""Bytes to fill blocks with, for large codes of either sign where a format has both."""

HALVES = {"Q8_0": [0], "Q4_0": [0], "Q5_0": [0], "Q4_K": [0, 2], "Q6_K": [208]}
"""Offsets of the half-precision numbers in a block."""


def decode(rows, name):
    """Decodes bytes `[n, row bytes]` of format `name` → weights `[n, cols]`."""
    weights = dequantize(rows.numpy().astype(np.uint8), GGMLQuantizationType[name])
    return torch.from_numpy(np.ascontiguousarray(weights, dtype=np.float32)).double()


def random_rows(r, name, rows, cols, byte=None):
    """Returns rows of random blocks, with different scales of both signs. With `byte`, fills all blocks with it, and all scales are equal."""
    length, size = BLOCK[name]
    blocks = r.integers(rows, cols // length, size, high=256) if byte is None else torch.full((rows, cols // length, size), byte)
    for at in HALVES[name]:
        bits = r.integers(rows, cols // length, low=0x2000, high=0x2800) | r.integers(rows, cols // length, high=2) << 15
        if byte is not None:
            bits = torch.full_like(bits, 0x2400)
        blocks[:, :, at], blocks[:, :, at + 1] = bits & 255, bits >> 8
    return blocks.reshape(rows, -1)


def without_minimums(rows):
    """Returns the weights of Q4_K `rows` if all minimums were 0."""
    blocks = rows.reshape(rows.shape[0], -1, BLOCK["Q4_K"][1]).clone()
    blocks[:, :, 2:4] = 0
    return decode(blocks.reshape(rows.shape), "Q4_K")


def bound(weights, rows, name, x=None):
    """Returns the tolerance of products with `x`, or of single weights. A kernel may sum codes separately from offsets or minimums."""
    size = weights.abs()
    if name in ("Q4_0", "Q5_0", "Q6_K"):
        size = size * 3
    if name == "Q4_K":
        plain = without_minimums(rows)
        size = plain.abs() + (weights - plain).abs()
    if x is None:
        return rounding(8, size)
    return rounding(random_walk(weights.shape[-1]) + 8, (size * x.abs()).sum(-1))


def fused(out):
    for i, name in enumerate(BLOCK):
        length = BLOCK[name][0]
        r = out.random(2510 + i)
        rows = random_rows(r, name, 1, 2 * length)
        weights = decode(rows, name)
        out.case(
            f"task_1_each/{name}",
            why="two blocks, and activations that are 0 but for one: what comes out is one weight",
            inputs={"row": rows[0]},
            outputs={"weights": weights[0]},
            tolerance={"weights": bound(weights, rows, name)},
        )
        cols = 3 * length
        rows = random_rows(r, name, 4, cols)
        x = r.normal(cols, mean=0.3)
        weights = decode(rows, name)
        out.case(
            f"task_1_dot/{name}",
            why="four rows of three blocks with scales of both signs; activations of either sign whose sum is far from 0",
            inputs={"rows": rows, "x": x},
            outputs={"products": weights @ x.double()},
            tolerance={"products": bound(weights, rows, name, x)},
        )


# Activations as integers


def quantized(x, per_scale=SUPER_BLOCK):
    """Quantizes `x [cols]` → values `[super_blocks, 256]`, sums `[super_blocks, 16]` and scales `[super_blocks, 8]`. `per_scale` activations share a scale."""
    super_blocks = -(-x.shape[0] // SUPER_BLOCK)
    padded = torch.zeros(super_blocks * SUPER_BLOCK, dtype=torch.float64)
    padded[: x.shape[0]] = x.double()
    absmax = padded.abs().reshape(-1, per_scale).amax(-1).repeat_interleave(per_scale // PART)
    scales = absmax / 127
    parts = padded.reshape(-1, PART)
    steps = torch.where(scales[:, None] > 0, parts / scales[:, None], 0)
    away = (steps.abs() % 1 - 0.5).abs()
    assert away[steps != 0].min() > 1e-5, "no value may lie in the middle between two integers"
    values = steps.round().clamp(-128, 127)
    return {"values": values.reshape(super_blocks, SUPER_BLOCK), "sums": values.reshape(super_blocks, 16, 16).sum(-1), "scales": scales.reshape(super_blocks, SUPER_BLOCK // PART)}


def quantizing(out):
    r = out.random(2520)
    sizes = torch.tensor([1.0, 0.01, 30.0, 0.4]).repeat_interleave(SUPER_BLOCK)
    negative = r.normal(SUPER_BLOCK) * 0.5
    negative[77] = -4.0
    cases = {
        "row": (r.normal(960) * sizes[:960], SUPER_BLOCK, "960 activations: three super-blocks of different sizes and a quarter less than one"),
        "negative": (negative, SUPER_BLOCK, "a super-block whose largest magnitude is that of a negative number"),
        "short": (r.normal(32), SUPER_BLOCK, "a row of 32: most of its one super-block is filled up"),
        "zeros": (torch.cat((r.normal(SUPER_BLOCK), torch.zeros(SUPER_BLOCK), r.normal(64))), SUPER_BLOCK, "a super-block of zeros between two others"),
    }
    blocks = r.normal(12, PART) * torch.tensor([1.0, 20.0, 0.1, 3.0]).repeat(3)[:, None]
    blocks[5] = 0
    blocks[6, 9] = -9.0
    cases["blocks"] = (blocks.flatten(), PART, "twelve blocks of 32, each with a scale of its own: one of zeros, one whose largest magnitude is negative")
    for case, (x, per_scale, why) in cases.items():
        golden = quantized(x, per_scale)
        out.case(
            f"task_2_quantize/{case}",
            why=why,
            inputs={"x": x},
            outputs=golden,
            tolerance={"values": exact(), "sums": exact(), "scales": relative_rounding(3)},
        )


def activations(r, cols, per_scale, low=-127):
    """Returns random integers `[super_blocks · 256]`, with zeros after `cols`, and scales `[super_blocks · 8]`. `per_scale` integers share a scale."""
    super_blocks = -(-cols // SUPER_BLOCK)
    values = torch.zeros(super_blocks * SUPER_BLOCK)
    values[:cols] = r.integers(cols, low=low, high=128).float()
    return values, r.uniform(super_blocks * SUPER_BLOCK // per_scale, low=0.25, high=1.0).repeat_interleave(per_scale // PART)


def stands_for(values, scales, cols):
    """Returns the activations that the integers represent."""
    return (values.double().reshape(-1, PART) * scales.double()[:, None]).flatten()[:cols]


def integer(out):
    for i, name in enumerate(BLOCK):
        length = BLOCK[name][0]
        r = out.random(2530 + i)
        cols = 320 if length == 32 else 512
        rows = random_rows(r, name, 1, cols)
        weights = decode(rows, name)
        out.case(
            f"task_3_each/{name}",
            why=("two super-blocks, the second filled up" if length == 32 else "two whole super-blocks") + ", and activations that are 0 but for one: what comes out is one weight",
            inputs={"row": rows[0]},
            outputs={"weights": weights[0]},
            tolerance={"weights": bound(weights, rows, name)},
        )
        cols = 960 if length == 32 else 768
        rows = random_rows(r, name, 2, cols)
        values, scales = activations(r, cols, length, low=-60)
        x = stands_for(values, scales, cols)
        weights = decode(rows, name)
        out.case(
            f"task_3_dot/{name}",
            why=f"two rows of {cols} weights; super-blocks of activations with scales of their own, where blocks have 32 weights eight each",
            inputs={"rows": rows, "values": values, "scales": scales},
            outputs={"products": weights @ x},
            tolerance={"products": bound(weights, rows, name, x)},
        )
        cols = 256
        rows = torch.cat([random_rows(r, name, 1, cols, byte=byte) for byte in LARGE[name]])
        if name == "Q6_K":
            rows[:, 192:208] = torch.tensor([0x7F, 0x7F, 0x80, 0x80])[:, None]
        values = torch.full((cols,), 127.0)
        weights = decode(rows, name)
        out.case(
            f"task_3_largest/{name}",
            why="four rows of large codes, and activations of 127 throughout",
            inputs={"rows": rows, "values": values, "scales": torch.ones(SUPER_BLOCK // PART)},
            outputs={"products": weights @ values.double()},
            tolerance={"products": bound(weights, rows, name, values)},
        )


# One row of activations, and many


def matrices(out):
    r = out.random(2540)
    codes = r.integers(2, SUPER_BLOCK, low=-128, high=128).float()
    scales, mins = r.uniform(2, 16, low=0.5, high=2.0), r.uniform(2, 16, low=10.0, high=90.0)
    inputs = [activations(r, 2 * SUPER_BLOCK, PART, low=-60) for _ in range(6)]
    values, x_scales = (torch.stack(parts) for parts in zip(*inputs))

    x = torch.stack([stands_for(*p, 2 * SUPER_BLOCK) for p in inputs]).reshape(6, 2, SUPER_BLOCK)

    s, m = scales.double().repeat_interleave(16, 1), mins.double().repeat_interleave(16, 1)
    size = (x.abs() * (scales.repeat_interleave(16, 1) * codes.abs() + mins.repeat_interleave(16, 1))).sum((-2, -1))
    out.case(
        "task_4_unpacked/two_super_blocks",
        why="two super-blocks with sixteen scales and sixteen minimums each, six rows of activations",
        inputs={"codes": codes, "scales": scales, "mins": mins, "values": values, "x_scales": x_scales},
        outputs={"products": (x * (s * codes.double() - m)).sum((-2, -1))},
        tolerance={"products": rounding(random_walk(64) + 8, size)},
    )
    rows = random_rows(r, "Q8_0", 5, 320)
    weights = decode(rows, "Q8_0")
    inputs = [activations(r, 320, PART) for _ in range(4)]
    x = torch.stack([stands_for(v, s, 320) for v, s in inputs])
    outputs = x @ weights.T
    out.case(
        "task_4_matrix/q8_0",
        why="five rows of ten blocks, four rows of activations",
        inputs={"rows": rows, "values": torch.stack([v for v, _ in inputs]), "scales": torch.stack([s for _, s in inputs])},
        outputs={"products": outputs},
        tolerance={"products": rounding(random_walk(20) + 8, (x.abs() @ weights.abs().T).max())},
    )
