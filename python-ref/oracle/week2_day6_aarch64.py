"""Week 2, day 6, on 64-bit Arm: products of quantized rows with NEON's instructions, as those of `week2_day6` with AVX2's.

A file of its own, because its wrong answers can only be made by such a processor, or one that plays it.
"""

import torch

from oracle.fixtures import Random
from oracle.week2_day5 import activations, bound, decode, mistaken, random_rows, stands_for
from oracle.week2_day6 import _case


def wrapped(rows, values, scales):
    """Q8_0 with four products added up in 16 bits, which go round at i16's ends: lanes 0…7 of NEON's `smull` and three `smlal`."""
    blocks = rows.reshape(rows.shape[0], -1, 34)
    d = torch.from_numpy(blocks[:, :, :2].numpy().astype("uint8").view("float16").astype("float64"))[:, :, 0]
    codes = blocks[:, :, 2:].reshape(rows.shape[0], -1, 4, 8)
    codes = codes - 256 * (codes > 127)
    p = values[: blocks.shape[1] * 32].double().reshape(-1, 4, 8)
    sums = (codes.double() * p).sum(-2)
    sums = (sums + 32768) % 65536 - 32768
    return {"products": (sums.sum(-1) * d * scales.double()[: blocks.shape[1]]).sum(-1)}


def task_4(out):
    r = Random(2621)
    rows = random_rows(r, "Q8_0", 3, 736)
    values, scales = activations(r, 736, 32)
    _case(out, 4, "rows", "Q8_0", r, "three rows of 23 blocks: the last super-block of activations meets seven blocks", rows, values, scales,
          lambda w: {m: mistaken(rows, "Q8_0", m) for m in ("q8-as-u8", "scale-of-the-first-block")} | {"tail dropped": torch.cat((w[:, :512], w[:, 512:] * 0), 1)})
    r = out.random(2622)
    rows = random_rows(r, "Q8_0", 2, 256)
    codes = rows.reshape(2, -1, 34)
    codes[:, :, 2:] = torch.where(r.integers(2, 8, 32, high=4) > 0, 0x80, 0x7F)
    values, scales = torch.full((256,), -127.0), torch.full((8,), 0.25)
    values[2::9] = 127
    cols = stands_for(values, scales, 256)
    weights = decode(rows, "Q8_0")
    out.case(
        "task_4_q8_0/extremes",
        why="codes of -128 and 127, activations of -127 and 127: two products fit into 16 bits, three do not",
        inputs={"rows": rows, "values": values, "scales": scales},
        outputs={"products": weights @ cols},
        tolerance={"products": bound(weights, rows, "Q8_0", cols)},
        wrong={"four products in 16 bits": wrapped(rows, values, scales)},
    )
    r = Random(2623)
    rows = random_rows(r, "Q8_0", 1, 32)
    values, scales = activations(r, 32, 32)
    _case(out, 4, "one_block", "Q8_0", r, "a single block", rows, values, scales, lambda w: {"q8-as-u8": mistaken(rows, "Q8_0", "q8-as-u8")})


def task_5(out):
    for seed, case, why, n, cols, wrong in (
        (2631, "rows", "three rows of three super-blocks, all scales and minimums different", 3, 768, ("min-missing", "superblock-partial")),
        (2632, "one_block", "a single super-block", 1, 256, ("superblock-partial",)),
    ):
        r = Random(seed)
        rows = random_rows(r, "Q4_K", n, cols)
        values, scales = activations(r, cols, 256)
        _case(out, 5, case, "Q4_K", r, why, rows, values, scales, lambda w, rows=rows, wrong=wrong: {m: mistaken(rows, "Q4_K", m) for m in wrong})
    r = Random(2633)
    rows = random_rows(r, "Q4_K", 2, 256, byte=0xFF)
    values, scales = torch.full((256,), -127.0), torch.full((8,), 0.25)
    values[160:] = 127
    _case(out, 5, "extremes", "Q4_K", r, "codes of 15, scales and minimums of 63, activations of 127", rows, values, scales, lambda w: {"min-missing": mistaken(rows, "Q4_K", "min-missing")})
