"""Week 2, day 6: products of quantized rows with vector instructions.

As on day 5, the `gguf` package decodes a row's bytes, and products are summed in float64.
"""

import torch

from oracle.fixtures import Random
from oracle.week2_day5 import BLOCK, activations, bound, decode, random_rows, stands_for


NAN = "the bits of whole numbers, read as f32, may be one. `_mm256_cvtepi32_ps` converts; a cast only gives them another name."


def _case(out, task, case, name, r, why, rows, values, scales):
    cols = rows.shape[1] // BLOCK[name][1] * BLOCK[name][0]
    weights = decode(rows, name)
    x = stands_for(values, scales, cols)
    out.case(
        f"task_{task}_{name.lower()}/{case}",
        seed=r.seed,
        why=why,
        nan=NAN,
        inputs={"rows": rows, "values": values, "scales": scales},
        outputs={"products": weights @ x},
        tolerance={"products": bound(weights, rows, name, x)},
    )


def q8_0(out, task, seed, cols, why, extremes):
    """Writes cases of rows, large numbers and a single block. `extremes` has the large numbers and their reason."""
    r = Random(seed)
    rows = random_rows(r, "Q8_0", 3, cols)
    values, scales = activations(r, cols, 32)
    _case(out, task, "rows", "Q8_0", r, why, rows, values, scales)
    r = out.random(seed + 1)
    rows = random_rows(r, "Q8_0", 2, 256)
    why, codes, values, scales, nan = extremes
    rows.reshape(2, -1, 34)[:, :, 2:] = torch.where(r.integers(2, 8, 32, high=4) > 0, *codes)
    x = stands_for(values, scales, 256)
    weights = decode(rows, "Q8_0")
    out.case(
        f"task_{task}_q8_0/extremes",
        nan=nan,
        why=why,
        inputs={"rows": rows, "values": values, "scales": scales},
        outputs={"products": weights @ x},
        tolerance={"products": bound(weights, rows, "Q8_0", x)},
    )
    r = Random(seed + 2)
    block = random_rows(r, "Q8_0", 1, 32)
    values, scales = activations(r, 32, 32)
    _case(out, task, "one_block", "Q8_0", r, "a single block", block, values, scales)


def q4_k(out, task, seed, values, scales):
    """Writes cases of rows, a single super-block, and large numbers with the activations `values` and `scales`."""
    for case, why, n, cols in (
        ("rows", "three rows of three super-blocks, all scales and minimums different", 3, 768),
        ("one_block", "a single super-block", 1, 256),
    ):
        r = Random(seed)
        rows = random_rows(r, "Q4_K", n, cols)
        drawn = activations(r, cols, 256)
        _case(out, task, case, "Q4_K", r, why, rows, *drawn)
        seed += 1
    r = Random(seed)
    rows = random_rows(r, "Q4_K", 2, 256, byte=0xFF)
    why = "codes of 15, scales and minimums of 63, activations of 127"
    _case(out, task, "extremes", "Q4_K", r, why, rows, values, scales)


def task_1(out):
    # The scales differ, which reveals one scale for all blocks, or a squared scale.
    values, scales = torch.full((256,), 127.0), 0.3125 * (1 + torch.arange(8) / 8)
    values[1::7] = -127
    why = "codes and activations of 127: two products of 255 · 127 do not fit into 16 bits"
    extremes = why, (0x7F, 0x81), values, scales, NAN
    q8_0(out, 1, 2601, 928, "three rows of 29 blocks: the last super-block of activations meets five blocks", extremes)


def task_2(out):
    values = torch.full((256,), 127.0)
    values[:96] = -127
    q4_k(out, 2, 2611, values, torch.full((8,), 0.3125))
