"""Week 1, day 1: softmax and linear, scaled dot-product attention, multi-head attention.

The functions are plain PyTorch in the dtype of their inputs. Names and argument order are those of the Rust side.
Below them, each function that takes `out` writes cases.
"""

import math
from functools import partial

import torch
import torch.nn.functional as F

from oracle.fixtures import random_walk, rounding


def softmax(x):
    """Returns softmax over the last axis. A row of −inf becomes zeros."""
    largest = x.amax(dim=-1, keepdim=True)
    e = torch.exp(x - torch.where(largest == -math.inf, torch.zeros_like(largest), largest))
    total = e.sum(dim=-1, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)


def linear(x, weight, bias=None):
    """`x [..., in]`, `weight [out, in]`, `bias [out]` → `[..., out]`"""
    y = torch.einsum("...i,oi->...o", x, weight)
    return y if bias is None else y + bias


def scaled_dot_product_attention(q, k, v, scale=None, mask=None):
    """`q [..., L, D]`, `k, v [..., S, D]` → `[..., L, D]`. `mask` is added and broadcasts to `[..., L, S]`."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = torch.einsum("...ld,...sd->...ls", q, k) * scale
    if mask is not None:
        scores = scores + mask
    return torch.einsum("...ls,...sd->...ld", softmax(scores), v)


def split_heads(x, n_heads):
    """`[B, L, H·D]` → `[B, H, L, D]`"""
    b, l, width = x.shape
    return x.reshape(b, l, n_heads, width // n_heads).transpose(1, 2)


def merge_heads(x):
    """`[B, H, L, D]` → `[B, L, H·D]`"""
    b, h, l, d = x.shape
    return x.transpose(1, 2).reshape(b, l, h * d)


def multi_head_attention(query, key, value, mask=None, *, n_heads, q_proj, k_proj, v_proj, o_proj):
    """`query [B, L, E]`, `key, value [B, S, E]` → `[B, L, E]`. `mask` broadcasts to `[B, H, L, S]`."""
    q = split_heads(linear(query, q_proj), n_heads)
    k = split_heads(linear(key, k_proj), n_heads)
    v = split_heads(linear(value, v_proj), n_heads)
    return linear(merge_heads(scaled_dot_product_attention(q, k, v, None, mask)), o_proj)


def linear_rounding(x, weight, bias=None):
    """Returns the tolerance of `linear`. Each output is a sum of `in` products, and each rounding is of at most Σ|x·w|."""
    magnitude = linear(x.abs(), weight.abs(), None if bias is None else bias.abs())
    return rounding(x.shape[-1] + 1, magnitude, factor=1)


def attention_rounding(q, k, v, scale=None, projections=0, output=None):
    """Returns the tolerance of attention. An error ε in a score changes each weight by at most 2ε of itself. A score has
    the roundings of D products and of their inputs, `projections` in number. Exp and the sums of S weights and S values add
    2S + 4 roundings at the magnitude of v. An `output` projection [E, H·D] adds its own."""
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = (q.norm(dim=-1).max() * k.norm(dim=-1).max()).item() * scale  # Cauchy-Schwarz
    operations = 2 * random_walk(q.shape[-1] + projections) + random_walk(2 * k.shape[-2] + 4 + projections)
    magnitude = (1 + scores) * v.abs().max().item()
    if output is not None:
        operations += random_walk(output.shape[1])
        magnitude *= output.abs().sum(dim=-1).max().item()
    return rounding(operations, magnitude, factor=1)


def _softmax(out):
    r = out.random(1101)
    case = partial(out.case, outputs=softmax, same={"torch.softmax": lambda x: torch.softmax(x, dim=-1)})
    case(
        "task_1_softmax/signed",
        why="three rows of five signed numbers: each row has a sum of its own",
        inputs={"x": r.normal(3, 5, std=2.0)},
        tolerance={"output": rounding(5 + 4, 1.0)},
    )
    case(
        "task_1_softmax/batched",
        why="four axes [2, 3, 2, 5]: the last one is normalised, all others are batches",
        inputs={"x": r.normal(2, 3, 2, 5, std=2.0)},
        tolerance={"output": rounding(5 + 4, 1.0)},
    )
    # A solution may also subtract max + ln Σ, which is as large as x and has a rounding of that size.
    x = torch.stack([r.normal(6), r.normal(6) + 100, r.normal(6) + 1000])
    case(
        "task_1_softmax/large",
        why="rows around 0, +100 and +1000: e^100 is beyond f32 unless the row's maximum is subtracted",
        nan="e^x of numbers from 89 on is ∞ in f32, and ∞/∞ is NaN: subtract the row's maximum first.",
        inputs={"x": x},
        tolerance={"output": rounding(2, x)},
    )
    # Each mistake with the maximum fails on a different set of these rows.
    x = torch.stack([r.normal(6), r.normal(6) + 1000, r.normal(6) - 120, r.normal(6) - 100_000])
    case(
        "task_1_softmax/very_negative",
        why="rows around 0, +1000, −120 and −100000: each has a maximum of its own, and the search for it must start at −inf",
        nan="e^1000 is ∞ and e^−120 is 0 in f32, and neither ∞/∞ nor 0/0 is a number: in every row subtract the row's own maximum first.",
        inputs={"x": x},
        tolerance={"output": rounding(2, x)},
    )
    x = r.normal(4, 5)
    x[0, 3:] = -math.inf
    x[1, :] = -math.inf
    x[2, :4] = -math.inf
    out.case(
        "task_1_softmax/masked",
        why="−inf among the numbers: those entries get 0, and row 1, which is −inf throughout, is all zeros",
        nan=("row 1 is −inf throughout, so its maximum is −inf too, and −inf − (−inf) and 0/0 are NaN: that row is zeros.", 5, 10),
        inputs={"x": x},
        outputs=softmax,
        tolerance={"output": rounding(5 + 4, 1.0)},
    )


def _linear(out):
    r = out.random(1102)
    case = partial(out.case, outputs=linear, same={"F.linear": lambda x, weight, bias=None: F.linear(x, weight, bias)})
    x, weight, bias = r.normal(2, 3, 5), r.normal(7, 5), r.normal(7)
    case(
        "task_1_linear/bias",
        why="x [2, 3, 5], weight [7, 5], bias [7]: in ≠ out, two leading axes",
        inputs={"x": x, "weight": weight, "bias": bias},
        tolerance={"output": linear_rounding(x, weight, bias)},
    )
    case(
        "task_1_linear/no_bias",
        why="the same x and weight without a bias",
        inputs={"x": x, "weight": weight},
        tolerance={"output": linear_rounding(x, weight)},
    )
    x, weight = r.normal(4, 6), r.normal(6, 6)
    case(
        "task_1_linear/square",
        why="a square weight [6, 6]: x·W has the right shape too, but weights are [out, in], so it must be x·Wᵀ",
        inputs={"x": x, "weight": weight},
        tolerance={"output": linear_rounding(x, weight)},
    )


def _attention(out):
    r = out.random(1103)

    def scaled_by(scale):
        return lambda q, k, v, mask=None: scaled_dot_product_attention(q, k, v, scale, mask)

    def library(q, k, v, mask=None):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    def with_mask(q, k, v, mask):
        return scaled_dot_product_attention(q, k, v, None, mask)

    case = partial(out.case, outputs=scaled_dot_product_attention, same={"F.scaled_dot_product_attention": library})

    q, k, v = r.normal(2, 3, 8), r.normal(2, 5, 8), r.normal(2, 5, 8)
    case(
        "task_2_attention/plain",
        why="q [2, 3, 8], k and v [2, 5, 8]: L ≠ S ≠ D, the default scale, no mask",
        inputs={"q": q, "k": k, "v": v},
        tolerance={"output": attention_rounding(q, k, v)},
    )
    q, k, v = r.normal(3, 8), r.normal(5, 8), r.normal(5, 8)
    case(
        "task_2_attention/two_axes",
        why="q [3, 8], k and v [5, 8]: no leading axes at all",
        inputs={"q": q, "k": k, "v": v},
        tolerance={"output": attention_rounding(q, k, v)},
    )
    q, k, v = r.normal(2, 3, 3, 4), r.normal(2, 3, 7, 4), r.normal(2, 3, 7, 4)
    out.case(
        "task_2_attention/scale_given",
        why="four axes [2, 3, L, 4] and a scale of 0.3 that is not 1/√D: the one given counts",
        inputs={"q": q, "k": k, "v": v},
        outputs=scaled_by(0.3),
        scalars={"scale": 0.3},
        tolerance={"output": attention_rounding(q, k, v, 0.3)},
        same={"F.scaled_dot_product_attention": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3)},
    )

    q, k, v = r.normal(2, 3, 8), r.normal(2, 5, 8), r.normal(2, 5, 8)
    removed = torch.zeros(2, 3, 5)
    removed[0, 0, 1:] = removed[0, 1, 3] = removed[1, 0, 0] = removed[1, 2, 2:4] = -math.inf

    case(
        "task_2_attention/mask_removes",
        why="a mask [2, 3, 5] of 0 and −inf, another one for each batch entry; query 0 of entry 0 sees key 0 alone",
        inputs={"q": q, "k": k, "v": v, "mask": removed},
        outputs=with_mask,
        tolerance={"output": attention_rounding(q, k, v)},
    )
    biases = r.normal(3, 5)
    biases[0, 3] = -math.inf  # distinguishes a mask that only removes keys from an ignored mask
    biases[0, 1] = biases[1, 4] = biases[2, 0] = 0.0  # a mask read as on/off keeps these keys
    case(
        "task_2_attention/mask_biases",
        why="a mask [3, 5] of ordinary signed numbers, one −inf and a 0 in each row, broadcast over the batch: a mask is added, after the scale",
        inputs={"q": q, "k": k, "v": v, "mask": biases},
        outputs=with_mask,
        tolerance={"output": attention_rounding(q, k, v)},
    )
    masked = torch.zeros(3, 5)
    masked[1] = -math.inf
    masked[2, 0] = -math.inf
    masked[0, 2] = -math.inf  # a first row of zeros would act like no mask
    out.case(
        "task_2_attention/masked_row",
        why="query 1 may see no key at all: its softmax row is all zeros, so its output is 0",
        nan="a row of scores that is −inf throughout has the maximum −inf, and −inf − (−inf) and 0/0 are NaN: its weights are zeros.",
        inputs={"q": q, "k": k, "v": v, "mask": masked},
        outputs=with_mask,
        tolerance={"output": attention_rounding(q, k, v)},
    )
    q, k, v = r.normal(1, 4, 8, std=20.0), r.normal(1, 9, 8, std=20.0), r.normal(1, 9, 8)
    k[:, 0] = q[0, 0] * 4  # gives query 0 a score of many hundreds
    case(
        "task_2_attention/large_scores",
        why="scores of several thousand: only a softmax that subtracts the maximum survives",
        nan="e^x of scores as large as these is ∞, and ∞/∞ is NaN: softmax must subtract the row's maximum first.",
        inputs={"q": q, "k": k, "v": v},
        tolerance={"output": attention_rounding(q, k, v)},
    )


def _multi_head(out):
    r = out.random(1104)
    b, l, s, e, h, d = 2, 3, 5, 14, 3, 8
    weights = {
        "q_proj": r.normal(h * d, e, std=0.4),
        "k_proj": r.normal(h * d, e, std=0.4),
        "v_proj": r.normal(h * d, e, std=0.4),
        "o_proj": r.normal(e, h * d, std=0.3),
    }
    inputs = {"query": r.normal(b, l, e), "key": r.normal(b, s, e), "value": r.normal(b, s, e), **weights}

    def tolerance(query, key, value, q_proj, k_proj, v_proj, o_proj):
        q, k, v = (split_heads(linear(x, w), h) for x, w in [(query, q_proj), (key, k_proj), (value, v_proj)])
        return {"output": attention_rounding(q, k, v, projections=2 * query.shape[-1], output=o_proj)}

    def right(query, key, value, mask=None, **weights):
        return multi_head_attention(query, key, value, mask, n_heads=h, **weights)

    def library(query, key, value, mask=None, *, q_proj, k_proj, v_proj, o_proj):
        """Calls PyTorch's module with identity projections, because it requires H·D = E. The real projections are outside."""
        width = h * d
        q, k, v, eye = query @ q_proj.T, key @ k_proj.T, value @ v_proj.T, torch.eye(width, dtype=query.dtype)
        mask = None if mask is None else mask.expand(b, h, l, s).reshape(b * h, l, s)
        y, _ = F.multi_head_attention_forward(
            q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), width, h, torch.eye(width, dtype=query.dtype).repeat(3, 1),
            None, None, None, False, 0.0, eye, None, training=False, attn_mask=mask, need_weights=False,
        )  # fmt: skip
        return y.transpose(0, 1) @ o_proj.T

    case = partial(out.case, outputs=right, same={"F.multi_head_attention_forward": library})
    case(
        "task_3_multi_head/cross",
        why="B=2, L=3, S=5, E=14, H=3, D=8: H·D ≠ E, H ≠ E/H, key and value differ, no mask",
        inputs=inputs,
        scalars={"n_heads": h},
        tolerance=tolerance(**inputs),
    )
    mask = torch.zeros(b, h, l, s)
    mask[0, 0, :, 3:] = mask[0, 1, 0, :4] = mask[1, 0, 2, 1] = mask[1, 2, :, 0] = -math.inf
    case(
        "task_3_multi_head/mask",
        why="a mask [B, H, L, S] that differs between batch entries and between heads",
        inputs={**inputs, "mask": mask},
        scalars={"n_heads": h},
        tolerance=tolerance(**inputs),
    )
    e, h, d = 8, 2, 4
    square = {n: r.normal(8, 8, std=0.4) for n in weights}
    x = r.normal(b, 4, e)
    causal = torch.full((4, 4), -math.inf).triu(1)
    inputs = {"query": x, "key": x.clone(), "value": x.clone(), "mask": causal, **square}
    l = s = 4
    case(
        "task_3_multi_head/self",
        why="self-attention at H=2, D=4, E=8, where every projection is square, with a causal mask [L, L]",
        inputs=inputs,
        scalars={"n_heads": h},
        tolerance=tolerance(**{n: v for n, v in inputs.items() if n != "mask"}),
    )
    x = torch.arange(2 * 4 * 24, dtype=torch.float32).reshape(2, 4, 24)
    out.case(
        "task_3_heads/split",
        seed=0,
        why="x [2, 4, 24] holds 0, 1, 2, … so that each number says where it came from; 3 heads of size 8",
        inputs={"x": x},
        outputs=lambda x: split_heads(x, 3),
        scalars={"n_heads": 3},
    )
