"""Week 1, day 3: grouped-query attention, the causal mask, the attention layer.

The functions are plain PyTorch in the dtype of their inputs. Names and argument order are those of the Rust side.
Below them, each function that takes `out` writes cases.
"""

import math

import torch
import torch.nn.functional as F

from oracle.fixtures import Random
from oracle.week1_day1 import attention_rounding, linear, merge_heads, scaled_dot_product_attention, softmax, split_heads
from oracle.week1_day2 import inverse_frequencies, rope_half_split, rope_interleaved, rope_tables


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


def _indexed(heads):
    """Returns an attention function in which query head `h` reads key/value head `heads(h)`."""

    def wrong(q, k, v, mask=None):
        index = [heads(h) % k.shape[1] for h in range(q.shape[1])]
        return scaled_dot_product_attention(q, k[:, index], v[:, index], None, mask)

    return wrong


def _masked_in_groups(arrange):
    """Returns an attention function whose scores are `[B, H, G, L, S]`. `arrange(mask, b, h, g)` reshapes the mask to these axes."""

    def wrong(q, k, v, mask):
        b, h_q, l, d = q.shape
        h = k.shape[1]
        scores = q.reshape(b, h, h_q // h, l, d) @ k[:, :, None].transpose(-1, -2) / d**0.5
        return (softmax(scores + arrange(mask, b, h, h_q // h)) @ v[:, :, None]).reshape(q.shape)

    return wrong


def _grouped(out):
    r = out.random(1301)

    def right(q, k, v, mask=None):
        return grouped_query_attention(q, k, v, None, mask)

    def library(q, k, v, mask=None):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)

    mistakes = {
        "gqa-tile-not-repeat": _indexed(lambda h: h % 2),
        "gqa-divide-by-n_kv": _indexed(lambda h: h // 2),
        "groups of neighbours reversed": _indexed(lambda h: 1 - h // 3),
        "first key/value head for all": _indexed(lambda h: 0),
        "gqa-mha-strides": lambda q, k, v, mask=None: right(q, _as_rows(k), _as_rows(v), mask),
    }

    def case(name, why, h_q, h, mask=None, scale=None, b=2, l=3, s=5, d=8, wrong=None, same=True, r=r):
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
            wrong=wrong,
        )

    case(
        "plain",
        "B=2, H_q=6, H=2, L=3, S=5, D=8: three query heads share a key/value head, L ≠ S, no mask",
        6,
        2,
        wrong=mistakes
        | {
            "attn-scale-wrong (none)": lambda q, k, v: grouped_query_attention(q, k, v, 1.0),
            "attn-scale-wrong (1/√(H_q·D))": lambda q, k, v: grouped_query_attention(q, k, v, 48**-0.5),
            "attn-scale-wrong (1/√(G·D))": lambda q, k, v: grouped_query_attention(q, k, v, 24**-0.5),
            "attn-scale-wrong (1/√(H·D))": lambda q, k, v: grouped_query_attention(q, k, v, 16**-0.5),
        },
    )
    case("scale_given", "a scale of 0.2 that is not 1/√D", 6, 2, scale=0.2, wrong={"scale ignored": lambda q, k, v: right(q, k, v)})
    case("all_share_one", "H_q=3, H=1: one key/value head for all (multi-query attention)", 3, 1, d=4)
    case(
        "none_share",
        "H_q=H=3: every query head has its own key/value head (multi-head attention)",
        3,
        3,
        d=4,
        wrong={"first key/value head for all": _indexed(lambda h: 0)},
    )

    per_batch = torch.zeros(2, 1, 3, 5)
    per_batch[0, :, :, 3:] = per_batch[1, :, :, 0] = per_batch[1, :, 1, 2] = -math.inf
    ignored = {"mask ignored": lambda q, k, v, mask: right(q, k, v)}
    case(
        "mask_per_batch",
        "a mask [B, 1, L, S] where B = H = 2: against [B, H, G, L, S] it would line up with the wrong axis",
        6,
        2,
        per_batch,
        wrong=ignored
        | {
            "gqa-mask-not-broadcast (batch meets heads)": _masked_in_groups(lambda mask, b, h, g: mask),
            "mask-buffer-one-batch": lambda q, k, v, mask: right(q, k, v, mask[:1]),
        },
    )
    on_or_off = {"mask as on or off": lambda q, k, v, mask: right(q, k, v, mask.masked_fill(mask > -math.inf, 0.0))}
    shared = r.normal(3, 5)
    shared[1, 2] = -math.inf
    case(
        "mask_shared",
        "a mask [L, S] of ordinary signed numbers and one −inf, broadcast over batch and heads",
        6,
        2,
        shared,
        wrong=ignored | on_or_off | {"mask-multiplied (sign inverted)": lambda q, k, v, mask: right(q, k, v, -mask)},
    )
    finite = Random(1302)
    case(
        "mask_finite",
        "a mask [L, S] of ordinary signed numbers without any −inf: they count all the same",
        6,
        2,
        finite.normal(3, 5),
        wrong=ignored | {"mask-multiplied (sign inverted)": lambda q, k, v, mask: right(q, k, v, -mask)},
        r=finite,
    )
    per_head = r.normal(1, 6, 1, 5, std=2.0)
    per_head[0, 4, 0, 1] = -math.inf
    case(
        "mask_per_head",
        "a mask [1, H_q, 1, S]: every query head has a bias of its own, and 1 broadcasts over B and L; head 4 does not see key 1",
        6,
        2,
        per_head,
        wrong=ignored
        | on_or_off
        | {"gqa-mask-not-broadcast (heads tiled)": _masked_in_groups(lambda mask, b, h, g: mask.reshape(1, g, h, 1, 5).transpose(1, 2))},
    )
    full = r.normal(2, 6, 3, 5)
    full[0, 4, 1] = full[1, 2, 0] = -math.inf
    full[1, 3, :, 2] = -math.inf
    case(
        "mask_full",
        "a mask [B, H_q, L, S] with two rows that are −inf throughout: their output is 0",
        6,
        2,
        full,
        same=False,
        wrong=ignored
        | {
            "all-masked-row-nan": lambda q, k, v, mask: F.scaled_dot_product_attention(q, k, v, enable_gqa=True) * torch.softmax(mask, -1).sum(-1, True),
            "gqa-mask-not-broadcast (heads tiled)": _masked_in_groups(lambda mask, b, h, g: mask.reshape(b, g, h, 3, 5).transpose(1, 2)),
        },
    )


def _as_rows(x):
    """Returns `x [B, H, S, D]`, misread as if the axis of positions came before that of heads."""
    b, h, s, d = x.shape
    return x.reshape(b, s, h, d).transpose(1, 2)


def _mask(out):
    for length, keys in [(3, 5), (4, 4), (5, 8)]:  # S − L is 2, 0 and 3: with 1, two of the wrong diagonals would be equal
        i, j = torch.arange(length)[:, None], torch.arange(keys)

        def boolean(keep):
            return lambda: torch.where(keep, 0.0, -math.inf)

        wrong = {
            "causal-diag-off-by-one (j ≥ i)": boolean(j < keys - length + i),
            "causal-diag-off-by-one (j > i + 1)": boolean(j <= keys - length + i + 1),
            "causal-top-left": boolean(j <= i),
            "sees the future alone": boolean(j >= keys - length + i),
            "ones and zeros": lambda: (j <= keys - length + i).double(),
            "finite-sentinel": lambda: torch.where(j <= keys - length + i, 0.0, -1e9),
        }
        if length == keys:
            del wrong["causal-top-left"]  # a square has one diagonal
        out.case(
            f"task_2_causal_mask/{length}x{keys}",
            why=f"{length} queries, the last of {keys} positions",
            outputs=lambda: causal_mask(length, keys),
            scalars={"length": length, "keys": keys},
            same={"torch.triu": lambda: torch.full((length, keys), -math.inf).triu(keys - length + 1)},
            wrong=wrong,
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
    group = h_q // h
    cos, sin = (t.float() for t in rope_tables(inverse_frequencies(d, 100.0), l))

    def right(x, mask=None, q_norm=None, k_norm=None, **weights):
        norms = {n: None if w is None else max_norm(w) for n, w in {"q_norm": q_norm, "k_norm": k_norm}.items()}
        return grouped_query_attention_layer(x, mask, n_heads=h_q, n_kv_heads=h, **norms, **weights)

    def written_out(
        split=split_heads, rope_q=rope_half_split, rope_k=rope_half_split, rope_v=None, norm_first=True, attend=grouped_query_attention, merge=merge_heads
    ):
        """Returns the layer as a function. An argument that is not the default introduces a mistake."""

        def layer(x, mask=None, *, cos, sin, q_norm=None, k_norm=None, **w):
            q, k, v = (split(linear(x, w[f"{n}_proj"], w.get(f"{n}_bias")), heads) for n, heads in [("q", h_q), ("k", h), ("v", h)])
            norm_q, norm_k = (max_norm(n) if n is not None else lambda y: y for n in (q_norm, k_norm))
            q = rope_q(norm_q(q), cos, sin) if norm_first else norm_q(rope_q(q, cos, sin))
            k = rope_k(norm_k(k), cos, sin) if norm_first else norm_k(rope_k(k, cos, sin))
            v = v if rope_v is None else rope_v(v, cos, sin)
            return linear(merge(attend(q, k, v, None, mask)), w["o_proj"], w.get("o_bias"))

        return layer

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

    def twice(x, cos, sin):
        for _ in range(group):
            x = rope_half_split(x, cos, sin)
        return x

    def not_turned(x, cos, sin):
        return x

    def tiled(q, k, v, scale, mask):
        return _indexed(lambda i: i % h)(q, k, v, mask)

    def merged_at_once(x):
        return x.reshape(x.shape[0], x.shape[2], -1)

    def split_at_once(x, n):
        return x.reshape(x.shape[0], n, x.shape[1], -1)

    common = {
        "no RoPE": written_out(rope_q=not_turned, rope_k=not_turned),
        "rope-pairing-swapped": written_out(rope_q=rope_interleaved, rope_k=rope_interleaved),
        "rope-applied-to-v": written_out(rope_v=rope_half_split),
        "rope-k-loops-q-heads": written_out(rope_k=twice),
        "RoPE on q alone": written_out(rope_k=not_turned),
        "gqa-tile-not-repeat": written_out(attend=tiled),
        "heads-view-no-transpose": written_out(split=split_at_once),
        "heads-merge-no-transpose": written_out(merge=merged_at_once),
        "attn-scale-wrong (1/√E)": written_out(attend=lambda q, k, v, scale, mask: grouped_query_attention(q, k, v, e**-0.5, mask)),
    }

    def case(name, why, family, x, mask=None, wrong=None, **more):
        inputs = {"x": x, **weights, **tables, **more} | ({} if mask is None else {"mask": mask})
        out.case(
            f"task_3_layer/{name}",
            why=why,
            inputs=inputs,
            outputs=right,
            scalars={"n_heads": h_q, "n_kv_heads": h},
            tolerance=tolerance(**inputs),
            same={"transformers": _transformers(family, h_q, h, d), "written out": written_out()},
            wrong=common | (wrong or {}),
        )

    def causal_always(layer):
        return lambda x, mask=None, **w: layer(x, causal_mask(l, l).double() if mask is None else causal_mask(l, l).double() + mask, **w)

    def without(*names):
        return lambda **i: right(**{n: v for n, v in i.items() if n not in names})

    case(
        "llama",
        "B=2, L=5, E=10, H_q=6, H=2, D=8: no bias, no norm, no mask, so every row sees every other",
        "llama",
        r.normal(b, l, e),
        wrong={"a causal mask of its own": causal_always(right)},
    )
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
        wrong={
            "qkv-bias-dropped": without("q_bias", "k_bias", "v_bias"),
            "qkv-bias-dropped (q)": without("q_bias"),
            "qkv-bias-dropped (v)": without("v_bias"),
            "mask ignored": without("mask"),
            "padding-mask-drops-causal (causal alone)": lambda mask, **i: right(mask=causal_mask(l, l).double(), **i),
            "padding-mask-drops-causal (padding alone)": lambda mask, **i: right(mask=padding.double(), **i),
            "mask-buffer-one-batch": lambda mask, **i: right(mask=mask[:1], **i),
        },
        **biases,
    )
    case(
        "qwen3",
        "a norm of uneven signed weights on each query and key head, before RoPE; a causal mask [L, L]",
        "qwen3",
        r.normal(b, l, e),
        causal_mask(l, l),
        wrong={
            "qknorm-after-rope": written_out(norm_first=False),
            "qknorm dropped": without("q_norm", "k_norm"),
            "q_norm dropped": without("q_norm"),
            "k_norm dropped": without("k_norm"),
            "norms exchanged": lambda q_norm, k_norm, **i: right(q_norm=k_norm, k_norm=q_norm, **i),
            "mask ignored": without("mask"),
        },
        **norms,
    )
    per_head = r.normal(1, h_q, l, l)
    case(
        "every_bias",
        "biases on all four projections, and a mask [1, H_q, L, L] that differs between heads",
        "llama",
        r.normal(b, l, e),
        per_head,
        wrong={
            "o bias dropped": without("o_bias"),
            "one mask for all heads": lambda mask, **i: right(mask=mask[:, :1], **i),
        },
        **biases,
        o_bias=r.normal(e),
    )
