"""Week 2, day 7: softmax in pieces, attention in one pass.

Expected values are PyTorch's softmax and attention over all scores at once.
"""

import math

import torch
import torch.nn.functional as F

from oracle.fixtures import Random, random_walk, relative_rounding, rounding

TILE = 32


def absorb(pieces):
    """Returns the weights and state of `OnlineSoftmax` after each of `pieces`, computed at once from all scores so far."""
    seen, answer = [], {}
    before = -math.inf
    for i, piece in enumerate(pieces):
        seen.append(piece)
        scores = torch.cat(seen)
        maximum = scores.max().item() if scores.numel() else -math.inf
        nothing = maximum == -math.inf
        answer[f"weights_{i}"] = torch.zeros_like(piece) if nothing else torch.exp(piece - maximum)
        total = torch.zeros(()) if nothing else torch.exp(scores - maximum).sum()
        factor = 1.0 if nothing else math.exp(before - maximum)
        answer[f"state_{i}"] = torch.tensor([maximum, total.item(), factor], dtype=torch.float64)
        before = maximum
    return answer


def task_1(out):
    r = out.random(2701)
    rising = [r.normal(5), r.normal(7, mean=3.0), r.normal(1, mean=9.0)]
    falling = [r.normal(6, mean=5.0), r.normal(3), r.normal(4, mean=-4.0)]
    inf = torch.tensor([-math.inf])
    masked = "−∞ − (−∞) is NaN, and so is 0 · ∞: as long as every score was −∞, so is the maximum; do not subtract it."
    nans = {
        "large": "the exponential of a score of 900 is ∞, and ∞ · 0 and ∞/∞ are NaN: subtract the maximum first.",
        "masked_first": masked,
        "empty": masked,
    }
    for name, why, pieces in (
        ("rising", "each piece holds a new maximum, so all that came before is scaled down", rising),
        ("falling", "the first piece holds the maximum: every later factor is 1", falling),
        ("large", "scores of a thousand, whose exponentials overflow unless the maximum is taken off first", [p * 100 + 900 for p in rising]),
        ("very_negative", "every score is far below 0: weights are relative to the maximum, not to 0", [p - 30 for p in falling]),
        ("masked_first", "the first piece is masked altogether: −∞ less −∞ is no number", [inf.repeat(3), r.normal(4), torch.cat([inf, r.normal(2)])]),
        ("masked_last", "a masked piece after others changes nothing", [r.normal(4), inf.repeat(3)]),
        ("empty", "a piece without scores, first and in between", [r.normal(0), r.normal(3), r.normal(0), r.normal(2, mean=2.0)]),
    ):
        # A library's exp is a few units off. The argument's rounding grows with its size: |x| · 2^-24.
        size = max((p[torch.isfinite(p)].abs().max().item() for p in pieces if torch.isfinite(p).any()), default=1.0)
        allowed = relative_rounding(math.ceil(8 + 2 * size))
        answer = {n: v.to(torch.float32).to(torch.float64) if n.startswith("state") else v for n, v in absorb([p.double() for p in pieces]).items()}
        out.case(
            f"task_1_absorb/{name}",
            why=why,
            inputs={f"scores_{i}": p for i, p in enumerate(pieces)},
            outputs=answer,
            scalars={"pieces": len(pieces)},
            nan=nans.get(name),
            tolerance=dict.fromkeys(answer, allowed),
        )


def attention(q, keys, values, visible, scale):
    """Computes attention of `q [N, D]` to `keys, values [S, D]`. Query `n` sees positions `visible[n][0]` to `visible[n][1]` - 1."""
    position = torch.arange(len(keys))[None, :]
    start, end = torch.as_tensor(visible).T[:, :, None]
    mask = (start <= position) & (position < end)
    return F.scaled_dot_product_attention(q[None], keys[None], values[None], attn_mask=mask[None], scale=scale)[0]


def roundings(q, keys, scale):
    """Returns the number of roundings: in a score, a sum of D products whose error is a weight's relative error, and in a mean of S values."""
    scores = (q.abs() @ keys.abs().T * scale).max().item()
    return math.ceil(random_walk(q.shape[-1]) * max(scores, 1.0)) + random_walk(len(keys)) + 8


def _attention_case(out, name, r, why, q, keys, values, visible, half, runs=None):
    sharp = "the exponentials of scores in the hundreds are ∞, and ∞/∞ is NaN: subtract the maximum first."
    if half:
        keys, values = keys.half().float(), values.half().float()
    scale = 1 / math.sqrt(q.shape[1])
    size = len(keys)
    out.case(
        name,
        seed=r.seed,
        why=why,
        inputs={"q": q, "keys": keys, "values": values},
        outputs=lambda q, keys, values: attention(q, keys, values, visible, scale),
        scalars={"visible": visible, "half": half, "runs": runs or [size], "scale": scale},
        nan=sharp if name.endswith("/sharp") else None,
        tolerance={"output": rounding(roundings(q, keys, scale), values)},
    )


def task_2(out):
    for seed, name, why, g, d, size, half, runs in (
        (2711, "one_position", "a single position has all the weight", 2, 8, 1, False, None),
        (2712, "one_tile", "exactly one tile", 3, 8, TILE, False, None),
        (2713, "tiles_and_one", "one position more than two tiles", 3, 8, 2 * TILE + 1, False, None),
        (2714, "rising", "the largest score is in the last tile: what came before must be scaled down", 3, 8, 77, False, None),
        (2715, "runs", "four runs of uneven lengths, as pages give them: 3, 32, 1 and 70", 2, 8, 106, False, [3, 32, 1, 70]),
        (2716, "half", "keys and values in f16, summed in f32, over 1,000 positions", 2, 8, 1000, True, None),
        (2717, "wide_head", "a head of 80 values, which is no multiple of 32", 1, 80, 70, True, None),
        (27199, "sharp", "scores in the hundreds; the first head's maximum grows in the second tile, the second's in the third", 2, 8, 70, False, None),
    ):
        r = Random(seed)
        q, keys, values = r.normal(g, d), r.normal(size, d), r.normal(size, d)
        if name == "rising" or name == "runs":
            # Keys grow with the position along one direction.
            ramp = (torch.arange(size, dtype=torch.float32) / size * 4).round(decimals=2)
            keys = ((keys * 0.25 + ramp[:, None] * q.sum(0).sign()) * 256).round() / 256
        if name == "sharp":
            q, keys = q * 9, keys * 9
            tiles = [(q @ k.T).amax(1) for k in keys.split(TILE)]
            assert tiles[1][0] > max(tiles[0][0], tiles[2][0]) and tiles[2][1] > max(tiles[0][1], tiles[1][1]), "another seed, please"
        _attention_case(out, f"task_2_attend_streaming/{name}", r, why, q, keys, values, [(0, size)] * g, half, runs)


def task_3(out):
    for seed, name, why, n, size, ends, half, runs in (
        (2721, "causal", "five queries, whose last visible positions lie in the first tile, the second and the third", 5, 76, [8, 31, 33, 40, 70], False, None),
        (2722, "whole_prompt", "70 queries, the first of which sees one position: three tiles, of which it sees a part of the first", 70, 70, list(range(1, 71)), True, None),
        (2723, "heads_of_a_group", "two heads a position, side by side: two queries see as much", 6, 70, [20, 20, 33, 33, 70, 70], False, None),
        (2724, "tile_edge", "queries that end with a tile, one before and one after", 3, 65, [31, 32, 65], False, None),
        (2725, "runs", "runs of uneven lengths; the visible part ends within one", 4, 61, [5, 30, 60, 61], False, [10, 33, 18]),
        (2726, "windows", "five queries that see the last 33 positions up to their own: a part of a tile at either end, and whole tiles that they see nothing of", 5, 104, [(0, 20), (0, 33), (15, 48), (32, 65), (70, 103)], False, [40, 64]),
        (2727, "run_given_back", "three queries that see nothing of the first run, which is not handed out: positions begin where a run says", 3, 97, [(40, 70), (45, 75), (64, 97)], False, [32, 32, 33]),
    ):
        r = Random(seed)
        visible = [end if isinstance(end, tuple) else (0, end) for end in ends]
        _attention_case(out, f"task_3_attend_block/{name}", r, why, r.normal(n, 8, std=0.75), r.normal(size, 8), r.normal(size, 8), visible, half, runs)
