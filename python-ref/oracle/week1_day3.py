"""Week 1, day 3: grouped-query attention, the causal mask, the attention layer.

The functions are plain PyTorch in the dtype of their inputs. Names and argument order are those of the Rust side.
Below them, each function that takes `out` writes cases.
"""

import math

import torch
import torch.nn.functional as F

from oracle.fixtures import Random
from oracle.week1_day1 import attention_rounding, linear, merge_heads, scaled_dot_product_attention, split_heads
from oracle.week1_day2 import inverse_frequencies, rope_half_split, rope_tables


def grouped_query_attention(q, k, v, scale=None, mask=None):
    """`q [B, H_q, L, D]`, `k, v [B, H, S, D]` → `[B, H_q, L, D]`. Query head `h` reads key/value head `h // (H_q/H)`."""
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{q.shape[1]} query heads cannot share {k.shape[1]} key/value heads evenly")
    group = q.shape[1] // k.shape[1]
    heads = [h // group for h in range(q.shape[1])]
    return scaled_dot_product_attention(q, k[:, heads], v[:, heads], scale, mask)


def causal_mask(length, keys):
    """Returns the mask `[L, S]` for queries that are the last `length` of `keys` positions: 0 where key `j ≤ S − L + i`, else −inf."""
    if length > keys:
        raise ValueError(f"{length} queries cannot be the last of {keys} positions")
    i, j = torch.arange(length)[:, None], torch.arange(keys)
    return torch.where(j <= keys - length + i, 0.0, -math.inf)


def grouped_query_attention_layer(
    x, mask=None, *, n_heads, n_kv_heads, q_proj, k_proj, v_proj, o_proj, cos, sin,
    q_bias=None, k_bias=None, v_bias=None, o_bias=None, q_norm=None, k_norm=None,
):  # fmt: skip
    """Self-attention over `x [B, L, E]` at positions `0..L` → `[B, L, E]`.

    `mask` broadcasts to `[B, H_q, L, L]`. `q_norm`, `k_norm` are functions of `[B, H, L, D]`. `cos`, `sin [P, D/2]`.
    """
    q = split_heads(linear(x, q_proj, q_bias), n_heads)
    k = split_heads(linear(x, k_proj, k_bias), n_kv_heads)
    v = split_heads(linear(x, v_proj, v_bias), n_kv_heads)
    q = rope_half_split(q if q_norm is None else q_norm(q), cos, sin)
    k = rope_half_split(k if k_norm is None else k_norm(k), cos, sin)
    return linear(merge_heads(grouped_query_attention(q, k, v, None, mask)), o_proj, o_bias)


def max_norm(weight):
    """Returns the norm of queries and keys for the layer's tests. It divides each head by its largest magnitude and multiplies by `weight`.

    Like RMSNorm, it is not linear and does not commute with RoPE. Unlike RMSNorm, it reveals nothing of day 4.
    """
    return lambda x: x / x.abs().amax(-1, keepdim=True) * weight


def _grouped(out):
    r = out.random(1301)

    def right(q, k, v, mask=None):
        return grouped_query_attention(q, k, v, None, mask)

    def library(q, k, v, mask=None):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)

    def case(name, why, h_q, h, mask=None, scale=None, b=2, l=3, s=5, d=8, same=True, r=r):
        q, k, v = r.normal(b, h_q, l, d), r.normal(b, h, s, d), r.normal(b, h, s, d)
        inputs = {"q": q, "k": k, "v": v} | ({} if mask is None else {"mask": mask})
        if scale is not None:
            outputs = lambda q, k, v: grouped_query_attention(q, k, v, scale)  # noqa: E731
            theirs = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=True)  # noqa: E731
        else:
            outputs, theirs = right, library
        out.case(
            f"task_1_grouped/{name}",
            seed=r.seed,
            why=why,
            inputs=inputs,
            outputs=outputs,
            scalars={} if scale is None else {"scale": scale},
            tolerance={"output": attention_rounding(q, k, v, scale)},
            same={"F.scaled_dot_product_attention": theirs} if same else {},
        )

    case("plain", "B=2, H_q=6, H=2, L=3, S=5, D=8: three query heads share a key/value head, L ≠ S, no mask", 6, 2)
    case("scale_given", "a scale of 0.2 that is not 1/√D", 6, 2, scale=0.2)
    case("all_share_one", "H_q=3, H=1: one key/value head for all (multi-query attention)", 3, 1, d=4)
    case("none_share", "H_q=H=3: every query head has its own key/value head (multi-head attention)", 3, 3, d=4)

    per_batch = torch.zeros(2, 1, 3, 5)
    per_batch[0, :, :, 3:] = per_batch[1, :, :, 0] = per_batch[1, :, 1, 2] = -math.inf
    case("mask_per_batch", "a mask [B, 1, L, S] where B = H = 2: against [B, H, G, L, S] it would line up with the wrong axis", 6, 2, per_batch)
    shared = r.normal(3, 5)
    shared[1, 2] = -math.inf
    case("mask_shared", "a mask [L, S] of ordinary signed numbers and one −inf, broadcast over batch and heads", 6, 2, shared)
    finite = Random(1302)
    case("mask_finite", "a mask [L, S] of ordinary signed numbers without any −inf: they count all the same", 6, 2, finite.normal(3, 5), r=finite)
    per_head = r.normal(1, 6, 1, 5, std=2.0)
    per_head[0, 4, 0, 1] = -math.inf
    case("mask_per_head", "a mask [1, H_q, 1, S]: every query head has its own bias, and 1 broadcasts over B and L; head 4 does not see key 1", 6, 2, per_head)
    full = r.normal(2, 6, 3, 5)
    full[0, 4, 1] = full[1, 2, 0] = -math.inf
    full[1, 3, :, 2] = -math.inf
    case("mask_full", "a mask [B, H_q, L, S] with two rows that are −inf throughout: their output is 0", 6, 2, full, same=False)


def _mask(out):
    for length, keys in [(3, 5), (4, 4), (5, 8)]:  # S − L is 2, 0 and 3: with 1, two wrong diagonals would be equal
        out.case(
            f"task_2_causal_mask/{length}x{keys}",
            why=f"{length} queries, the last of {keys} positions",
            outputs=lambda: causal_mask(length, keys),
            scalars={"length": length, "keys": keys},
            same={"torch.triu": lambda: torch.full((length, keys), -math.inf).triu(keys - length + 1)},
        )


def _transformers(family, n_heads, n_kv_heads, head_dim):
    """Returns a function that runs transformers' attention layer of `family` with our weights."""
    from transformers import LlamaConfig, Qwen2Config, Qwen3Config
    from transformers.models.llama.modeling_llama import LlamaAttention
    from transformers.models.qwen2.modeling_qwen2 import Qwen2Attention
    from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention

    config_class, module_class = {"llama": (LlamaConfig, LlamaAttention), "qwen2": (Qwen2Config, Qwen2Attention), "qwen3": (Qwen3Config, Qwen3Attention)}[family]

    class MaxNorm(torch.nn.Module):
        def __init__(self, weight):
            super().__init__()
            self.weight = weight

        def forward(self, x):
            return max_norm(self.weight)(x)

    def layer(x, mask=None, *, cos, sin, q_norm=None, k_norm=None, **weights):
        bias = "o_bias" in weights
        config = config_class(
            hidden_size=n_heads * head_dim, num_attention_heads=n_heads, num_key_value_heads=n_kv_heads, head_dim=head_dim,
            num_hidden_layers=1, vocab_size=8, intermediate_size=8, attention_bias=bias, attn_implementation="sdpa",
        )  # fmt: skip
        config.hidden_size = x.shape[-1]  # the constructor requires a multiple of n_heads, the module does not
        module = module_class(config, 0).double()
        state = {n.replace("_bias", "_proj.bias") if n.endswith("_bias") else f"{n}.weight": w for n, w in weights.items()}
        if q_norm is not None:
            module.q_norm, module.k_norm = MaxNorm(q_norm), MaxNorm(k_norm)
        module.load_state_dict(state)
        length = x.shape[1]
        mask = torch.zeros(1, 1, length, length, dtype=x.dtype) if mask is None else mask.expand(x.shape[0], n_heads, length, length)
        angles = [t[None, :length].repeat(1, 1, 2) for t in (cos, sin)]
        return module(x, angles, mask)[0]

    return layer


def _layer(out):
    r = out.random(1303)
    b, l, e, h_q, h, d = 2, 5, 10, 6, 2, 8
    cos, sin = (t.float() for t in rope_tables(inverse_frequencies(d, 100.0), l))

    def right(x, mask=None, q_norm=None, k_norm=None, **weights):
        norms = {n: None if w is None else max_norm(w) for n, w in {"q_norm": q_norm, "k_norm": k_norm}.items()}
        return grouped_query_attention_layer(x, mask, n_heads=h_q, n_kv_heads=h, **norms, **weights)

    def tolerance(x, mask=None, q_norm=None, k_norm=None, *, q_proj, k_proj, v_proj, o_proj, cos, sin, q_bias=None, k_bias=None, v_bias=None, **_):
        q, k, v = (split_heads(linear(x, *w), n) for w, n in [((q_proj, q_bias), h_q), ((k_proj, k_bias), h), ((v_proj, v_bias), h)])
        q, k = (y if w is None else max_norm(w)(y) for y, w in [(q, q_norm), (k, k_norm)])
        # Norm and RoPE add eight roundings to the projections of q and k.
        return {"output": attention_rounding(q, k, v, projections=2 * e + 8, output=o_proj)}

    weights = {
        "q_proj": r.normal(h_q * d, e, std=0.4),
        "k_proj": r.normal(h * d, e, std=0.4),
        "v_proj": r.normal(h * d, e, std=0.4),
        "o_proj": r.normal(e, h_q * d, std=0.2),
    }
    tables = {"cos": cos, "sin": sin}
    biases = {"q_bias": r.normal(h_q * d), "k_bias": r.normal(h * d), "v_bias": r.normal(h * d)}
    norms = {"q_norm": r.normal(d, std=0.7, mean=1.0), "k_norm": r.normal(d, std=0.7, mean=-1.0)}

    def case(name, why, family, x, mask=None, **more):
        inputs = {"x": x, **weights, **tables, **more} | ({} if mask is None else {"mask": mask})
        out.case(
            f"task_3_layer/{name}",
            why=why,
            inputs=inputs,
            outputs=right,
            scalars={"n_heads": h_q, "n_kv_heads": h},
            tolerance=tolerance(**inputs),
            same={"transformers": _transformers(family, h_q, h, d)},
        )

    case("llama", "B=2, L=5, E=10, H_q=6, H=2, D=8: no bias, no norm, no mask, so every row sees every other", "llama", r.normal(b, l, e))
    padding = torch.zeros(2, 1, 1, l)
    padding[0, :, :, :1] = padding[1, :, :, :2] = -math.inf
    both = causal_mask(l, l) + padding
    for sequence, padded in enumerate([1, 2]):  # padded rows see some keys, because libraries differ on rows that see none
        both[sequence, :, :padded, :padded] = causal_mask(padded, padded)
    case(
        "qwen2",
        "biases on q, k and v; a mask [B, 1, L, L] that is causal and hides one padded position of the first sequence, two of the second",
        "qwen2",
        r.normal(b, l, e),
        both,
        **biases,
    )
    case("qwen3", "a norm of uneven signed weights on each query and key head, before RoPE; a causal mask [L, L]", "qwen3", r.normal(b, l, e), causal_mask(l, l), **norms)
    per_head = r.normal(1, h_q, l, l)
    case("every_bias", "biases on all four projections, and a mask [1, H_q, L, L] that differs between heads", "llama", r.normal(b, l, e), per_head, **biases, o_bias=r.normal(e))
