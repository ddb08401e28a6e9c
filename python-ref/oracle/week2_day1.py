"""Week 2, day 1: the KV cache, attention over it, the model over rows.

A model must compute the same logits with a cache as without one. The expected logits come from the decoder of week 1, day 5, over whole
sequences. On the first of two sequences, transformers, which computes in chunks with its cache, must agree with it.
"""

import math

import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

from oracle.fixtures import rounding
from oracle.week1_day5 import CONFIGS, clear_tokens, decoder, draw_model, roundings, walk


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


def attention(q, keys, values, scale):
    """Computes attention of one row to one key/value head: `q [G, D]`, `keys [S, D]`, `values [S, D]`."""
    return torch.softmax(q @ keys.T * scale, dim=-1) @ values


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
        nans = {
            "sharp": "the exponentials of scores in the hundreds are ∞, and ∞/∞ is NaN: subtract the largest score of the head first.",
            "far_below_0": "where all scores are far below 0 their exponentials are 0, and 0/0 is NaN; where they are far above, ∞/∞ is: "
            "subtract the largest score of each head first, whatever its sign.",
        }
        out.case(
            f"task_2_attention/{name}",
            why=why,
            inputs=inputs,
            outputs=lambda q, keys, values, scale=scale: attention(q, keys, values, scale),
            tolerance={"output": bound},
            scalars={"scale": scale},
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
    )

    r = out.random(2106)
    n_heads, n_kv_heads, d = 4, 2, 6
    sequences = torch.tensor([1, 0, 1, 1, 0, 0, 1])
    positions = torch.tensor([2, 5, 3, 4, 6, 0, 1])
    keys, values = r.normal(2, 9, n_kv_heads, d), r.normal(2, 9, n_kv_heads, d)
    q = r.normal(len(positions), n_heads * d, std=1.5)

    def rows(q, keys, values, sequences, positions):
        result = []
        for t in range(len(positions)):
            s, n = sequences[t], positions[t] + 1
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
    )


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

        greedy = clear_tokens(json, exact_weights, a.tolist(), NEW, margin=1e-3)
        assert len(greedy) == NEW, f"{family}: the two best tokens are too close"
        whole = torch.tensor([*a.tolist(), *greedy[:-1]])

        def run(a, b, json=json, family=family, whole=whole, **weights):
            def one(tokens, interleaved=False):
                return decoder(json, weights, tokens[None], interleaved)[0]

            found = {"logits_a": one(a), "logits_b": one(b), "logits_new": one(whole)[len(a) - 1 :]}
            return found | ({"logits_interleaved": one(a, interleaved=True)} if family == "llama" else {})

        golden = run(a, b, **exact_weights)
        tolerance = {name: walk(roundings(json), value) for name, value in golden.items()}
        theirs = transformers_cached(json, weights, a, CHUNKS)
        error = (theirs.double() - golden["logits_a"]).abs().max().item()
        assert error <= tolerance["logits_a"].value, f"{family}: transformers differs by {error:.2e}; tolerance: {tolerance['logits_a'].derivation}"
        out.case(
            f"task_3_model/{family}",
            why=f"a whole {family}, {json['num_attention_heads']} query heads of 8 on {json['num_key_value_heads']}, hidden size {json['hidden_size']}; two sequences whose first four tokens are the same",
            inputs={**weights, "a": a, "b": b},
            outputs=run,
            tolerance=tolerance,
            scalars={"config": json, "greedy": greedy},
        )
