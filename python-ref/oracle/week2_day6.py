"""Week 2, day 6: products of quantized rows with vector instructions.

Weights are what the `gguf` package makes of a row's bytes, as on day 5; products are added up in float64. Mistakes that come from the instructions
themselves are made on the integers.
"""

import torch

from oracle.fixtures import Random
from oracle.week2_day5 import BLOCK, activations, bound, decode, mistaken, random_rows, stands_for


NAN = "the bits of whole numbers, read as f32, may be one. `_mm256_cvtepi32_ps` converts; a cast only gives them another name."


def _case(out, task, case, name, r, why, rows, values, scales, wrong):
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
        wrong={m: {"products": w @ x} for m, w in wrong(weights).items()},
    )


def saturated(rows, values, scales):
    """Q8_0 with codes moved to 0…255: pairs of products are cut off at i16's ends."""
    blocks = rows.reshape(rows.shape[0], -1, 34)
    d = torch.from_numpy(blocks[:, :, :2].numpy().astype("uint8").view("float16").astype("float64"))[:, :, 0]
    codes = (blocks[:, :, 2:] ^ 128).reshape(rows.shape[0], -1, 16, 2)
    p = values[: blocks.shape[1] * 32].double().reshape(-1, 16, 2)
    pairs = (codes.double() * p).sum(-1).clamp(-32768, 32767).sum(-1) - 128 * p.sum((-1, -2))
    scale = scales.double()[: blocks.shape[1]]
    return {"products": (pairs * d * scale).sum(-1)}


def task_1(out):
    r = Random(2601)
    rows = random_rows(r, "Q8_0", 3, 928)
    values, scales = activations(r, 928, 32)
    _case(out, 1, "rows", "Q8_0", r, "three rows of 29 blocks: the last super-block of activations meets five blocks", rows, values, scales,
          lambda w: {m: mistaken(rows, "Q8_0", m) for m in ("q8-as-u8", "scale-of-the-first-block")} | {"tail dropped": torch.cat((w[:, :768], w[:, 768:] * 0), 1)})
    r = out.random(2602)
    rows = random_rows(r, "Q8_0", 2, 256)
    codes = rows.reshape(2, -1, 34)
    codes[:, :, 2:] = torch.where(r.integers(2, 8, 32, high=4) > 0, 0x7F, 0x81)
    # Each scale another one, so that one scale for all and a scale in the square differ.
    values, scales = torch.full((256,), 127.0), 0.3125 * (1 + torch.arange(8) / 8)
    values[1::7] = -127
    cols = stands_for(values, scales, 256)
    weights = decode(rows, "Q8_0")
    out.case(
        "task_1_q8_0/extremes",
        nan=NAN,
        why="codes and activations of 127: two products of 255 · 127 do not fit into 16 bits",
        inputs={"rows": rows, "values": values, "scales": scales},
        outputs={"products": weights @ cols},
        tolerance={"products": bound(weights, rows, "Q8_0", cols)},
        wrong={"maddubs-saturation": saturated(rows, values, scales)},
    )
    r = Random(2603)
    rows = random_rows(r, "Q8_0", 1, 32)
    values, scales = activations(r, 32, 32)
    _case(out, 1, "one_block", "Q8_0", r, "a single block", rows, values, scales, lambda w: {"q8-as-u8": mistaken(rows, "Q8_0", "q8-as-u8")})


def task_2(out):
    for seed, case, why, n, cols, wrong in (
        (2611, "rows", "three rows of three super-blocks, all scales and minimums different", 3, 768, ("min-missing", "superblock-partial")),
        (2612, "one_block", "a single super-block", 1, 256, ("superblock-partial",)),
    ):
        r = Random(seed)
        rows = random_rows(r, "Q4_K", n, cols)
        values, scales = activations(r, cols, 256)
        _case(out, 2, case, "Q4_K", r, why, rows, values, scales, lambda w, rows=rows, wrong=wrong: {m: mistaken(rows, "Q4_K", m) for m in wrong})
    r = Random(2613)
    rows = random_rows(r, "Q4_K", 2, 256, byte=0xFF)
    values, scales = torch.full((256,), 127.0), torch.full((8,), 0.3125)
    values[:96] = -127
    _case(out, 2, "extremes", "Q4_K", r, "codes of 15, scales and minimums of 63, activations of 127", rows, values, scales, lambda w: {"min-missing": mistaken(rows, "Q4_K", "min-missing")})
