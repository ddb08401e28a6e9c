"""Week 2, day 6: products of quantized rows with vector instructions.

As on day 5, the `gguf` package decodes a row's bytes, and products are summed in float64. Mistakes with the instructions
are simulated on the integers.
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
    """Returns Q8_0 products as a mistaken kernel computes them: codes are shifted to 0…255, and sums of pairs saturate in i16."""
    blocks = rows.reshape(rows.shape[0], -1, 34)
    d = torch.from_numpy(blocks[:, :, :2].numpy().astype("uint8").view("float16").astype("float64"))[:, :, 0]
    codes = (blocks[:, :, 2:] ^ 128).reshape(rows.shape[0], -1, 16, 2)
    p = values[: blocks.shape[1] * 32].double().reshape(-1, 16, 2)
    pairs = (codes.double() * p).sum(-1).clamp(-32768, 32767).sum(-1) - 128 * p.sum((-1, -2))
    scale = scales.double()[: blocks.shape[1]]
    return {"products": (pairs * d * scale).sum(-1)}


def q8_0(out, task, seed, cols, cut, why, extremes):
    """Writes cases of rows, large numbers and a single block. The tail begins at `cut`. `extremes` has the large numbers, their reason and mistake."""
    r = Random(seed)
    rows = random_rows(r, "Q8_0", 3, cols)
    values, scales = activations(r, cols, 32)
    _case(out, task, "rows", "Q8_0", r, why, rows, values, scales,
          lambda w: {m: mistaken(rows, "Q8_0", m) for m in ("q8-as-u8", "scale-of-the-first-block")} | {"tail dropped": torch.cat((w[:, :cut], w[:, cut:] * 0), 1)})
    r = out.random(seed + 1)
    rows = random_rows(r, "Q8_0", 2, 256)
    why, codes, values, scales, name, mistake, nan = extremes
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
        wrong={name: mistake(rows, values, scales)},
    )
    r = Random(seed + 2)
    block = random_rows(r, "Q8_0", 1, 32)
    values, scales = activations(r, 32, 32)
    _case(out, task, "one_block", "Q8_0", r, "a single block", block, values, scales, lambda w: {"q8-as-u8": mistaken(block, "Q8_0", "q8-as-u8")})


def q4_k(out, task, seed, values, scales):
    """Writes cases of rows, a single super-block, and large numbers with the activations `values` and `scales`."""
    for case, why, n, cols, wrong in (
        ("rows", "three rows of three super-blocks, all scales and minimums different", 3, 768, ("min-missing", "superblock-partial")),
        ("one_block", "a single super-block", 1, 256, ("superblock-partial",)),
    ):
        r = Random(seed)
        rows = random_rows(r, "Q4_K", n, cols)
        drawn = activations(r, cols, 256)
        _case(out, task, case, "Q4_K", r, why, rows, *drawn, lambda w, rows=rows, wrong=wrong: {m: mistaken(rows, "Q4_K", m) for m in wrong})
        seed += 1
    r = Random(seed)
    rows = random_rows(r, "Q4_K", 2, 256, byte=0xFF)
    why = "codes of 15, scales and minimums of 63, activations of 127"
    _case(out, task, "extremes", "Q4_K", r, why, rows, values, scales, lambda w: {"min-missing": mistaken(rows, "Q4_K", "min-missing")})


def task_1(out):
    # The scales differ, which reveals one scale for all blocks, or a squared scale.
    values, scales = torch.full((256,), 127.0), 0.3125 * (1 + torch.arange(8) / 8)
    values[1::7] = -127
    why = "codes and activations of 127: two products of 255 · 127 do not fit into 16 bits"
    extremes = why, (0x7F, 0x81), values, scales, "maddubs-saturation", saturated, NAN
    q8_0(out, 1, 2601, 928, 768, "three rows of 29 blocks: the last super-block of activations meets five blocks", extremes)


def task_2(out):
    values = torch.full((256,), 127.0)
    values[:96] = -127
    q4_k(out, 2, 2611, values, torch.full((8,), 0.3125))
