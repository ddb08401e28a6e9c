"""Week 2, day 1: the KV cache, attention over it, the model over rows.

A model must compute the same logits with a cache as without one. The expected logits come from the decoder of week 1, day 5, over whole
sequences. Two implementations with caches, which compute in chunks, must agree with it: one here, which concatenates keys and values, and that
of transformers.
"""

import math

import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

from oracle.fixtures import rounding
from oracle.week1_day2 import rope_half_split, rope_interleaved
from oracle.week1_day4 import rms_norm
from oracle.week1_day5 import CONFIGS, decoder, draw_model, inverse_frequencies, roundings, swiglu, tables, walk


def task_1(out):
    r = out.random(2101)
    keys, values = r.normal(2, 3, 5, 2, 4, std=3.0), r.normal(2, 3, 5, 2, 4, std=3.0)
    out.case(
        "task_1_cache/every_place",
        why="two layers, three sequences, five positions of a capacity of seven, two heads of four: every number is another",
        inputs={"keys": keys, "values": values},
        outputs={
            # [layers, sequences, positions, H, D] -> [layers, sequences, H, positions, D]
            "keys_f32": keys.transpose(2, 3),
            "values_f32": values.transpose(2, 3),
            "keys_f16": keys.transpose(2, 3).half().float(),
            "values_f16": values.transpose(2, 3).half().float(),
        },
    )
    halves = [1 + 2**-11, 1 + 3 * 2**-11, -(2 + 2**-10), 1 / 3, -2 / 3]
    for name, why, x in (
        ("f16", "numbers between two f16 values, some just in the middle, which go to the even one", halves + r.normal(11, std=2.0).tolist()),
        ("f16_large", "the largest f16, 65504, the last number that is rounded to it, and what is an infinity in f16", [65504.0, 65519.0, 65520.0, -70000.0, 33023.0, -40001.0, 2049.0, 2051.0]),
        ("f16_tiny", "f16 has subnormal numbers below 2^-14, down to 2^-24; both zeros", [0.0, -0.0, 2.0**-9, -(2.0**-13), 2.0**-14, 2.0**-15, -3 * 2.0**-20, 2.0**-24, 2.0**-25, 3 * 2.0**-26]),
    ):
        x = torch.tensor(x)
        out.case(
            f"task_1_cache/{name}",
            why=why,
            inputs={"x": x},
            outputs={"rounded": x.half().float()},
        )


def attention(q, keys, values, scale, mistake=None):
    """Computes attention of one row to one key/value head: `q [G, D]`, `keys [S, D]`, `values [S, D]`."""
    scores = q @ keys.T * (1.0 if mistake == "unscaled" else scale)
    weights = torch.full_like(scores, 1 / len(keys)) if mistake == "mean" else torch.softmax(scores, dim=-1)
    return weights @ values


def task_2(out):
    for seed, name, length, std, why in (
        (2102, "f32", 9, 1.0, "three query heads on one key head of size 8, nine positions"),
        (2103, "sharp", 7, 9.0, "scores in the hundreds, whose exponentials overflow unless the largest is subtracted"),
        (2104, "one_position", 1, 1.0, "a single position: all weight is on it"),
        (2110, "far_below_0", 7, 1.0, "one head whose scores are all so far below 0 that their exponentials vanish, two whose scores are far above"),
    ):
        r = out.random(seed)
        inputs = {"q": r.normal(3, 8, std=std), "keys": r.normal(length, 8, std=std), "values": r.normal(length, 8)}
        scale = 0.375
        if name == "far_below_0":
            inputs["keys"] = inputs["keys"] - 8.0
            inputs["q"] = inputs["q"] + torch.tensor([[9.0], [-9.0], [-6.0]])
        largest = (inputs["q"].double() @ inputs["keys"].double().T * scale).abs().max().item()
        # An error in a score is a relative error of its weight: eight products and their sum, then exp, sum, division, sum.
        bound = rounding(8 + length + 4, max(1.0, largest) * inputs["values"].abs().max().item(), factor=1)
        wrong = {} if length == 1 else {m: lambda mistake=m, **i: attention(scale=scale, mistake=mistake, **i) for m in ("unscaled", "mean")}
        nans = {
            "sharp": "the exponentials of scores in the hundreds are ∞, and ∞/∞ is NaN: subtract the largest score of the head first.",
            "far_below_0": "where all scores are far below 0 their exponentials are 0, and 0/0 is NaN; where they are far above, ∞/∞ is: "
            "subtract the largest score of each head first, whatever its sign.",
        }
        if name in ("sharp", "far_below_0"):
            wrong = {}  # the other cases detect these mistakes
        out.case(
            f"task_2_attention/{name}",
            why=why,
            inputs=inputs,
            outputs=lambda q, keys, values, scale=scale: attention(q, keys, values, scale),
            tolerance={"output": bound},
            scalars={"scale": scale},
            wrong=wrong,
            nan=nans.get(name),
        )
    r = out.random(2105)
    q, keys, values = r.normal(3, 8, std=1.5), r.normal(6, 8), r.normal(6, 8)
    out.case(
        "task_2_attention/f16",
        why="keys and values of which f16 keeps eleven bits: they are rounded when they are stored",
        inputs={"q": q, "keys": keys, "values": values},
        outputs=lambda q, keys, values: attention(q, keys.half().to(q.dtype), values.half().to(q.dtype), 0.25),
        tolerance={"output": rounding(8 + 6 + 4, 4.0 * values.abs().max().item(), factor=1)},
        scalars={"scale": 0.25},
        wrong={"not-rounded": lambda q, keys, values: attention(q, keys, values, 0.25)},
    )

    r = out.random(2106)
    n_heads, n_kv_heads, d = 4, 2, 6
    sequences = torch.tensor([1, 0, 1, 1, 0, 0, 1])
    positions = torch.tensor([2, 5, 3, 4, 6, 0, 1])
    keys, values = r.normal(2, 9, n_kv_heads, d), r.normal(2, 9, n_kv_heads, d)
    q = r.normal(len(positions), n_heads * d, std=1.5)

    def rows(q, keys, values, sequences, positions, seen=lambda position: position + 1):
        result = []
        for t in range(len(positions)):
            s, n = sequences[t], seen(positions[t])
            for head in range(n_heads):
                kv = head // (n_heads // n_kv_heads)
                one = q[t, head * d : (head + 1) * d][None]
                result.append(attention(one, keys[s, :n, kv], values[s, :n, kv], 1 / math.sqrt(d)))
        return torch.cat(result).reshape(len(positions), n_heads * d)

    out.case(
        "task_2_attend/two_sequences",
        why="rows of two sequences between one another, the first and second positions among them; behind each row's position the cache holds later rows, and old numbers",
        inputs={"q": q, "keys": keys, "values": values, "sequences": sequences, "positions": positions},
        outputs=rows,
        tolerance={"output": rounding(6 + 7 + 4, 4.0 * values.abs().max().item(), factor=1)},
        wrong={"not-itself": lambda **i: rows(seen=lambda position: position, **i), "one-more": lambda **i: rows(seen=lambda position: position + 2, **i)},
    )


def cached(json, weights, tokens, chunks, mistake=None):
    """Returns logits `[L, V]` of one sequence, computed in chunks, with one cache per layer."""
    rope = json.get("rope_parameters") or {}
    d, eps = json["head_dim"], json["rms_norm_eps"]
    embedding = weights["model.embed_tokens.weight"]
    scaling = rope if rope.get("rope_type") == "llama3" else None
    cos, sin = tables(inverse_frequencies(d, rope.get("rope_theta", json.get("rope_theta")), scaling), len(tokens), embedding.dtype)
    turn = rope_interleaved if mistake == "interleaved" else rope_half_split
    caches = [None] * json["num_hidden_layers"]
    logits, start = [], 0
    for chunk in chunks:
        x = embedding[tokens[start : start + chunk]]
        at = slice(0, chunk) if mistake == "rope-position-of-chunk" else slice(start, start + chunk)
        for i in range(json["num_hidden_layers"]):
            prefix = f"model.layers.{i}."
            w = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
            normed = rms_norm(x, w["input_layernorm.weight"], eps)

            def project(name):
                y = normed @ w[f"self_attn.{name}_proj.weight"].T
                if f"self_attn.{name}_proj.bias" in w:
                    y = y + w[f"self_attn.{name}_proj.bias"]
                y = y.view(chunk, -1, d).transpose(0, 1)  # [heads, chunk, D]
                norm = w.get(f"self_attn.{name}_norm.weight")
                return y if norm is None else rms_norm(y, norm, eps)

            q, k, v = turn(project("q"), cos[at], sin[at]), project("k"), project("v")
            if mistake != "keys-before-rope":
                k = turn(k, cos[at], sin[at])
            cache = 0 if mistake == "kv-shared-by-layers" else i
            if caches[cache] is not None:
                k, v = torch.cat((caches[cache][0], k), dim=1), torch.cat((caches[cache][1], v), dim=1)
            caches[cache] = (k, v)
            group = len(q) // len(k)
            scores = q @ k.repeat_interleave(group, dim=0).transpose(-1, -2) / math.sqrt(d)
            if mistake != "kv-cache-swallows-mask":
                seen = torch.arange(k.shape[1])[None] <= torch.arange(k.shape[1] - chunk, k.shape[1])[:, None]
                scores = scores.masked_fill(~seen, -math.inf)
            heads = torch.softmax(scores, dim=-1) @ v.repeat_interleave(group, dim=0)
            x = x + heads.transpose(0, 1).reshape(chunk, -1) @ w["self_attn.o_proj.weight"].T + w.get("self_attn.o_proj.bias", 0.0)
            x = x + swiglu(rms_norm(x, w["post_attention_layernorm.weight"], eps), w)
        x = rms_norm(x, weights["model.norm.weight"], eps)
        logits.append(x @ weights.get("lm_head.weight", embedding).T)
        start += chunk
    return torch.cat(logits)


def transformers_cached(json, weights, tokens, chunks):
    """Returns transformers' logits in float32, computed in `chunks` with its own cache."""
    config = AutoConfig.for_model(**json)
    config._attn_implementation = "eager"
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    model.load_state_dict(weights, strict=False)
    model.tie_weights()
    cache, logits = DynamicCache(), []
    with torch.no_grad():
        for part in tokens.split(chunks):
            logits.append(model(part[None], past_key_values=cache, use_cache=True).logits[0])
    return torch.cat(logits)


MODELS = CONFIGS | {"llama_with_biases": CONFIGS["llama"] | {"attention_bias": True}}
CHUNKS = [3, 1, 4]
NEW = 6


def draw_biases(r, json):
    """Draws biases for all four projections of a Llama with `attention_bias`."""
    q, kv = (json[f"num_{name}_heads"] * json["head_dim"] for name in ("attention", "key_value"))
    sizes = {"q": q, "k": kv, "v": kv, "o": json["hidden_size"]}
    layers = range(json["num_hidden_layers"] if json.get("attention_bias") else 0)
    return {f"model.layers.{i}.self_attn.{name}_proj.bias": r.normal(size, std=0.5) for i in layers for name, size in sizes.items()}


def task_3(out):
    for seed, (family, json) in zip((2107, 2108, 2109, 2111), MODELS.items(), strict=True):
        r = out.random(seed)
        weights, a = draw_model(r, json), r.integers(8, high=json["vocab_size"])
        weights |= draw_biases(r, json)
        b = torch.cat((a[:4], (a[4:6] + 1) % json["vocab_size"]))
        exact_weights = {name: value.double() for name, value in weights.items()}

        greedy = a.tolist()
        for _ in range(NEW):
            logits = decoder(json, exact_weights, torch.tensor([greedy]))[0, -1]
            best = logits.topk(2)
            assert best.values[0] - best.values[1] > 1e-3, f"{family}: the two best tokens are too close"
            greedy.append(best.indices[0].item())
        whole = torch.tensor(greedy[:-1])

        def run(a, b, json=json, family=family, whole=whole, **weights):
            def one(tokens, *mistake):
                return decoder(json, weights, tokens[None], *mistake)[0]

            found = {"logits_a": one(a), "logits_b": one(b), "logits_new": one(whole)[len(a) - 1 :]}
            return found | ({"logits_interleaved": one(a, "rope-pairing-swapped")} if family == "llama" else {})

        def wrong(mistake, json=json):
            return lambda a, b, **weights: {"logits_a": cached(json, weights, a, CHUNKS, mistake)}

        def with_cache(a, b, json=json, family=family, whole=whole, **weights):
            found = {"logits_a": cached(json, weights, a, CHUNKS), "logits_b": cached(json, weights, b, [1] * 6), "logits_new": cached(json, weights, whole, [8] + [1] * (NEW - 1))[len(a) - 1 :]}
            if family == "llama":
                found["logits_interleaved"] = cached(json, weights, a, CHUNKS, "interleaved")
            return found

        golden = run(a, b, **exact_weights)
        tolerance = {name: walk(roundings(json), value) for name, value in golden.items()}
        theirs = transformers_cached(json, weights, a, CHUNKS)
        error = (theirs.double() - golden["logits_a"]).abs().max().item()
        assert error <= tolerance["logits_a"].value, f"{family}: transformers differs by {error:.2e}; tolerance: {tolerance['logits_a'].derivation}"
        mistakes = ["rope-position-of-chunk", "keys-before-rope", "kv-cache-swallows-mask"]
        out.case(
            f"task_3_model/{family}",
            why=f"a whole {family}, {json['num_attention_heads']} query heads of 8 on {json['num_key_value_heads']}, hidden size {json['hidden_size']}; two sequences whose first four tokens are the same",
            inputs={**weights, "a": a, "b": b},
            outputs=run,
            tolerance=tolerance,
            scalars={"config": json, "greedy": greedy[len(a) :]},
            same={"with a cache": with_cache},
            wrong={mistake: wrong(mistake) for mistake in mistakes},
        )
