"""Week 4, day 6: experts, sinks, windows.

Routers, attention with sinks and masks are transformers' own, of Qwen3-MoE and gpt-oss. Products of experts are plain PyTorch: a
loop over tokens gives the expected result of the grouped form.
"""

import random
from types import SimpleNamespace

import torch
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from transformers.masking_utils import causal_mask_function, sliding_window_causal_mask_function
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssTopKRouter, eager_attention_forward
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeTopKRouter

from oracle.fixtures import Random, exact, random_walk, relative_rounding, rounding

ROUTES = (
    ("qwen3_moe", 5, 8, 2, "qwen3", True, 0.0, "Qwen3-MoE: the weights of the chosen add up to 1"),
    ("not_renormalized", 5, 8, 3, "qwen3", False, 0.0, "norm_topk_prob is false: they add up to less"),
    ("gpt_oss", 5, 8, 4, "gpt_oss", True, 0.0, "gpt-oss: softmax over the chosen logits alone"),
    ("one_of_six", 4, 6, 1, "qwen3", False, 0.0, "a single expert, whose weight is its probability"),
    ("all_of_them", 3, 4, 4, "gpt_oss", True, 0.0, "as many as there are"),
    ("large_logits", 4, 7, 3, "qwen3", False, 100.0, "e to the power of such logits is no float"),
    ("large_logits_first", 4, 7, 3, "gpt_oss", True, 100.0, "the same, best first"),
    ("far_apart", 4, 7, 3, "gpt_oss", True, 0.0, "e to the power of a difference from the first logit is no float"),
)  # fmt: skip

GROUPS = (
    ("two_of_four", [2, 0, 2, 1, 0, 2], 4, "expert 3 gets nothing, expert 2 three"),
    ("one_token", [5, 1], 8, "most experts get nothing"),
    ("all_to_one", [3, 3, 3, 3, 3], 5, "everything goes to one expert"),
    ("first_and_last", [0, 6, 6, 0, 0, 6, 6], 7, "the ends of the range"),
    ("no_tokens", [], 3, "nothing to sort"),
)  # fmt: skip

SINKS = (
    ("one_head", 1, 1, 8, 5, 1, 0.0, "one head, a few positions"),
    ("a_group", 3, 1, 16, 20, 1, 0.5, "three query heads over one key head, each with a sink of its own"),
    ("two_groups", 2, 2, 8, 40, 3, -1.0, "two key heads, three rows"),
    ("over_tiles", 2, 1, 32, 150, 1, 1.0, "more positions than a tile has"),
    ("a_large_sink", 2, 1, 8, 12, 1, 6.0, "most goes to the sink"),
    ("one_position", 2, 1, 8, 1, 1, 0.0, "a single position does not get everything"),
)  # fmt: skip

WINDOWS = ((None, 9), (1, 7), (4, 12), (8, 8), (8, 20), (5, 40))
PAGES = ((None, 4, 30), (4, 4, 30), (6, 4, 30), (5, 8, 40), (16, 4, 40), (1, 3, 20), (7, 1, 20), (128, 64, 400))


def router(kind, renormalize, logits, k):
    """Runs transformers' router with an identity matrix, so that `logits` are its logits. Returns weights and chosen experts."""
    n = logits.shape[-1]
    config = SimpleNamespace(num_experts_per_tok=k, num_experts=n, num_local_experts=n, norm_topk_prob=renormalize, hidden_size=n)
    module = (Qwen3MoeTopKRouter if kind == "qwen3" else GptOssTopKRouter)(config).to(logits.dtype)
    with torch.no_grad():
        module.weight.copy_(torch.eye(n))
        _, weights, chosen = module(logits)
    return weights, chosen


def no_ties(logits):
    """Returns whether no two experts' logits are so close that rounding could exchange them."""
    return logits.sort(-1, descending=True).values.diff(dim=-1).abs().min() > 1e-3


def route(logits, kind, renormalize, k):
    """Returns the weights of the chosen experts, without rounding the softmax to float32 as transformers' Qwen3-MoE does."""
    best = torch.topk(logits, k, dim=-1)
    if kind == "gpt_oss" or renormalize:
        return best.values.softmax(-1)
    return logits.softmax(-1).gather(-1, best.indices)


def attention(module_sinks, q, k, v):
    """Runs transformers' gpt-oss attention without a mask: `q [H_q, L, D]`, `k`, `v [H, L, D]` → `[L, H_q, D]`."""
    groups = q.shape[0] // k.shape[0]
    module = SimpleNamespace(sinks=module_sinks, num_key_value_groups=groups, training=False)
    out, _ = eager_attention_forward(module, q[None], k[None], v[None], None, scaling=q.shape[-1] ** -0.5)
    return out[0]


def mask(window, length):
    """Returns transformers' mask `[length, length]`, true where a row sees a position."""
    sees = causal_mask_function if window is None else sliding_window_causal_mask_function(window)
    return torch.tensor([[bool(sees(0, 0, torch.tensor(q), torch.tensor(k))) for k in range(length)] for q in range(length)])


def seen(window, length):
    sees = mask(window, length)
    starts = [int(row.nonzero()[0]) for row in sees]
    ends = [int(row.nonzero()[-1]) + 1 for row in sees]
    assert all(bool(sees[q, s:e].all()) for q, (s, e) in enumerate(zip(starts, ends, strict=True)))
    return starts, ends


def pages_out(window, page, steps):
    """Returns, for each position, how many pages neither its row nor a later one sees, according to the mask."""
    starts, _ = seen(window, steps)
    first_needed = [min(starts[n:]) for n in range(steps)]
    return [sum(1 for p in range(steps // page + 1) if (p + 1) * page <= needed) for needed in first_needed]


def cases(out):
    for i, (name, rows, n, k, kind, renormalize, mean, why) in enumerate(ROUTES):
        std = 100.0 if name == "far_apart" else 1.0
        seed = next(seed for seed in range(4600 + 5 * i, 4700) if no_ties(Random(seed).normal(rows, n, mean=mean, std=std)))
        logits = Random(seed).normal(rows, n, mean=mean, std=std)
        weights, chosen = router(kind, renormalize, logits, k)
        out.case(
            f"task_1_route/{name}", seed=seed, why=why, inputs={"logits": logits},
            outputs=lambda logits, kind=kind, renormalize=renormalize, k=k: {"weights": route(logits, kind, renormalize, k)},
            tolerance={"weights": rounding(n + 8 + int(2 * mean), 1.0)}, similar={"transformers": {"weights": weights.double()}},
            scalars={"k": k, "kind": kind, "renormalize": renormalize, "chosen": chosen.flatten().tolist()},
            nan="You take `exp` of a large logit, which is infinite. Subtract the largest logit first." if mean or std > 1 else None,
        )  # fmt: skip
    for i, (name, chosen, n, why) in enumerate(GROUPS):
        ids = torch.tensor(chosen, dtype=torch.int64)
        members = torch.argsort(ids, stable=True).tolist()
        starts = [0, *torch.bincount(ids, minlength=n).cumsum(0).tolist()]
        out.case(
            f"task_2_group/{name}", why=why, tolerance={},
            scalars={"chosen": chosen, "experts": n, "starts": starts, "members": members},
        )  # fmt: skip
    for i, (name, tokens, k, n, rows, cols, per_token, kind, why) in enumerate((
        ("up", 5, 2, 4, 6, 8, True, "F32", "a row for each token, which two experts read"),
        ("down", 4, 3, 5, 8, 6, False, "F32", "a row for each assignment"),
        ("one_token", 1, 2, 6, 5, 7, True, "F32", "decoding: two experts of six are read"),
        ("q8_0", 3, 2, 4, 3, 64, True, "Q8_0", "experts in blocks"),
    )):  # fmt: skip
        r, picks = Random(4650 + i), random.Random(4650 + i)
        chosen = [picks.sample(range(n), k) for _ in range(tokens)]
        flat = torch.tensor(chosen).flatten()
        stack, x = r.normal(n, rows, cols), r.normal(tokens if per_token else tokens * k, cols)
        inputs = {"stack": stack, "x": x}
        bytes_of_one = rows * cols * 4
        if kind != "F32":
            stored = quantize(stack.numpy(), GGMLQuantizationType[kind])
            inputs = {"bytes": torch.from_numpy(stored.astype("int64")).reshape(-1), "x": x}
            stack = torch.from_numpy(dequantize(stored, GGMLQuantizationType[kind]).astype("float64"))
            bytes_of_one = stored.size // n

        def product(x, stack, flat=flat, k=k, per_token=per_token):
            return torch.stack([stack[e] @ x[a // k if per_token else a] for a, e in enumerate(flat.tolist())])

        outputs = (lambda stack, x, product=product: {"output": product(x, stack)}) if kind == "F32" else {"output": product(x.double(), stack)}
        out.case(
            f"task_2_product/{name}", seed=4650 + i, why=why, inputs=inputs, outputs=outputs,
            tolerance={"output": rounding(random_walk(cols) + 2, 30.0)},
            scalars={"chosen": flat.tolist(), "experts": n, "rows": rows, "cols": cols, "type": kind, "bytes": len(set(flat.tolist())) * bytes_of_one},
        )  # fmt: skip
    for i, (name, tokens, k, width) in enumerate((("two", 3, 2, 5), ("four", 2, 4, 7), ("one", 3, 1, 4))):
        r = out.random(4680 + i)
        outputs, weights = r.normal(tokens * k, width), r.uniform(tokens * k, low=0.1, high=1.0)
        out.case(
            f"task_2_combine/{name}", why=f"{k} experts a token", inputs={"outputs": outputs, "weights": weights},
            outputs=lambda outputs, weights, tokens=tokens, k=k: {"output": (outputs * weights[:, None]).view(tokens, k, -1).sum(1)},
            tolerance={"output": rounding(k + 1, 6.0)}, scalars={"tokens": tokens},
        )  # fmt: skip
    for i, (name, n, sink, mean, why) in enumerate((
        ("a_sink", 6, 0.5, 0.0, "the sink is among the scores"),
        ("a_small_sink", 5, -20.0, 0.0, "a sink that takes next to nothing"),
        ("large_sink", 4, 95.0, 92.0, "e to the power of the sink is no float"),
        ("large_scores", 5, 88.0, 90.0, "nor to that of the scores"),
        ("one_score", 1, 0.25, 0.0, "one score shares with the sink"),
    )):  # fmt: skip
        scores = Random(4700 + i).normal(n, mean=mean)
        out.case(
            f"task_3_softmax/{name}", seed=4700 + i, why=why, inputs={"scores": scores},
            outputs=lambda scores, sink=sink: {"weights": torch.cat([scores, torch.tensor([sink], dtype=scores.dtype)]).softmax(-1)[:-1]},
            tolerance={"weights": relative_rounding(n + 8 + int(2 * max(mean, abs(sink))))}, scalars={"sink": sink},
        )  # fmt: skip
    for i, (name, group, heads, d, length, rows, sink, why) in enumerate(SINKS):
        r = out.random(4720 + i)
        q, k, v = r.normal(group * heads, rows, d), r.normal(heads, length, d), r.normal(heads, length, d)
        sinks = r.normal(group * heads, mean=sink)
        out.case(
            f"task_3_attend/{name}", why=why, inputs={"q": q, "k": k, "v": v, "sinks": sinks},
            outputs=lambda q, k, v, sinks: {"output": attention(sinks, q, k, v)},
            tolerance={"output": rounding(random_walk(d) + random_walk(length) + 24, v.abs().max().item())},
        )  # fmt: skip
    for window, length in WINDOWS:
        starts, ends = seen(window, length)
        out.case(
            f"task_4_visible/{'all' if window is None else window}_of_{length}", why="what each row sees, by transformers' mask",
            tolerance={}, scalars={"window": window or 0, "starts": starts, "ends": ends},
        )  # fmt: skip
    for window, page, steps in PAGES:
        out.case(
            f"task_4_pages/{'all' if window is None else window}_in_pages_of_{page}", why="pages that nobody sees again, found in the mask",
            tolerance={}, scalars={"window": window or 0, "page": page, "out": pages_out(window, page, steps)},
        )  # fmt: skip
    x = Random(4790).integers(4 * 17, high=256)
    x[::17] = torch.tensor([127, 120, 0, 1])
    decoded = dequantize(x.to(torch.uint8).numpy(), GGMLQuantizationType.MXFP4)
    out.case(
        "mxfp4/blocks", seed=4790, why="four blocks of MXFP4, two of them with scales that are no normal numbers", inputs={"blocks": x},
        outputs={"weights": torch.from_numpy(decoded).double()}, tolerance={"weights": exact()},
    )  # fmt: skip
