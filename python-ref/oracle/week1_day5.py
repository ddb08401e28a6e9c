"""Week 1, day 5: embedding and tied output, transformer block, the whole decoder, weights.

The decoder is plain PyTorch, in the dtype of its weights. transformers always computes norms and softmax in float32,
so it cannot give float64 results. For each whole model, the results of the two must agree to within the tolerance.
"""

import math

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from oracle import week1_day4 as day4
from oracle.fixtures import Tolerance, rounding
from oracle.week1_day2 import rope_half_split, rope_interleaved
from oracle.week1_day3 import causal_mask
from oracle.week1_day4 import rms_norm


def walk(roundings, value, factor=2):
    """Returns the tolerance of a chain of roundings whose errors have either sign, and so add up like a random walk.

    The sum of all roundings, as in `rounding`, would be far too wide for a whole model. A float32 run of each case
    must stay within the tolerance, which checks that `factor` is large enough.
    """
    magnitude = value.abs().max().item()
    bound = float(f"{factor * math.sqrt(roundings) * 2.0**-24 * magnitude:.1e}")
    return Tolerance(bound, f"factor {factor} × √({roundings} roundings) × 2^-24 × magnitude {magnitude:.3g} = {bound:.1e}")


def swiglu(x, w):
    return day4.swiglu(x, *(w[f"mlp.{name}_proj.weight"] for name in ("gate", "up", "down")))


def attention(x, w, c, cos, sin, mask, interleaved=False, seen=lambda name, value: None):
    """Computes grouped-query attention. `w` has a layer's weights by their names in a checkpoint, and `c` the sizes."""
    batch, length = x.shape[:2]

    def project(name, heads):
        y = x @ w[f"self_attn.{name}.weight"].T
        if f"self_attn.{name}.bias" in w:
            y = y + w[f"self_attn.{name}.bias"]
        seen(name, y)
        return y.view(batch, length, heads, c["head_dim"]).transpose(1, 2)

    q, k, v = project("q_proj", c["n_heads"]), project("k_proj", c["n_kv_heads"]), project("v_proj", c["n_kv_heads"])
    turn = rope_interleaved if interleaved else rope_half_split
    if "self_attn.q_norm.weight" in w:
        q, k = rms_norm(q, w["self_attn.q_norm.weight"], c["eps"]), rms_norm(k, w["self_attn.k_norm.weight"], c["eps"])
        seen("q_norm", q), seen("k_norm", k)
    q, k = turn(q, cos, sin), turn(k, cos, sin)
    seen("q_rope", q), seen("k_rope", k)
    group = c["n_heads"] // c["n_kv_heads"]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
    scores = q @ k.transpose(-1, -2) / math.sqrt(c["head_dim"])
    if mask is not None:
        scores = scores + mask
    heads = torch.softmax(scores, dim=-1) @ v
    seen("heads", heads)
    y = heads.transpose(1, 2).flatten(2) @ w["self_attn.o_proj.weight"].T
    return y + w["self_attn.o_proj.bias"] if "self_attn.o_proj.bias" in w else y


def block(x, w, c, cos, sin, mask, interleaved=False, seen=lambda name, value: None):
    """Computes one layer: attention and MLP, each after a norm and with a residual connection."""
    normed = rms_norm(x, w["input_layernorm.weight"], c["eps"])
    seen("input_norm", normed)
    attended = attention(normed, w, c, cos, sin, mask, interleaved, lambda name, value: seen(f"attention.{name}", value))
    seen("attention", attended)
    normed = rms_norm(x + attended, w["post_attention_layernorm.weight"], c["eps"])
    seen("post_attention_norm", normed)
    mlp = swiglu(normed, w)
    seen("mlp", mlp)
    return x + attended + mlp


def inverse_frequencies(head_dim, theta, scaling=None):
    """Returns RoPE's frequencies, computed in float64 and rounded to float32, whatever the model's dtype. `scaling` is Llama 3's."""
    f = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    if scaling:
        turns = scaling["original_max_position_embeddings"] * f.float().double() / (2 * math.pi)
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        kept = ((turns - low) / (high - low)).clamp(0, 1)
        f = (1 - kept) * f.float().double() / scaling["factor"] + kept * f.float().double()
    return f.float()


def tables(frequencies, length, dtype):
    """Returns RoPE's cosine and sine in `dtype`. Their angles are in float32, as in all implementations."""
    angles = torch.arange(length, dtype=torch.float32)[:, None] * frequencies
    return angles.to(dtype).cos(), angles.to(dtype).sin()


def decoder(json, weights, tokens, interleaved=False, seen=lambda name, value: None):
    """Returns logits `[B, L, V]` of the model with this `config.json` and these weights. RoPE turns halves, or neighbours if `interleaved`."""
    rope = json.get("rope_parameters") or json.get("rope_scaling") or {}
    theta = rope.get("rope_theta", json.get("rope_theta", 10000.0))
    scaling = rope if rope.get("rope_type") == "llama3" else None
    c = {"n_heads": json["num_attention_heads"], "n_kv_heads": json["num_key_value_heads"], "head_dim": json["head_dim"], "eps": json["rms_norm_eps"]}
    embedding = weights["model.embed_tokens.weight"]
    length = tokens.shape[1]
    cos, sin = tables(inverse_frequencies(c["head_dim"], theta, scaling), length, embedding.dtype)
    x = embedding[tokens]
    seen("embedding", x)
    for i in range(json["num_hidden_layers"]):
        prefix = f"model.layers.{i}."
        w = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
        x = block(x, w, c, cos, sin, causal_mask(length, length).to(x.dtype), interleaved, lambda name, value: seen(f"layers.{i}.{name}", value))
        seen(f"layers.{i}", x)
    x = rms_norm(x, weights["model.norm.weight"], c["eps"])
    seen("norm", x)
    head = weights.get("lm_head.weight", embedding)
    logits = x @ head.T
    seen("logits", logits)
    return logits


def clear_tokens(json, weights, prompt, new, margin):
    """Returns what greedy decoding adds to the prompt: `new` tokens, or fewer if the two best logits come nearer than `margin`."""
    tokens = list(prompt)
    while len(tokens) < len(prompt) + new:
        best = decoder(json, weights, torch.tensor([tokens]))[0, -1].topk(2)
        if best.values[0] - best.values[1] < margin:
            break
        tokens.append(best.indices[0].item())
    return tokens[len(prompt) :]


SIZES = {"hidden_size": 24, "intermediate_size": 14, "num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 37, "hidden_act": "silu"}

LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 48}

# Contents of `config.json`: in its older form for qwen2, in that of transformers 5 for the others.
CONFIGS = {
    "llama": SIZES | {"model_type": "llama", "max_position_embeddings": 96, "rms_norm_eps": 0.01, "tie_word_embeddings": False, "attention_bias": False, "dtype": "float32",
                      "rope_parameters": {"rope_theta": 100.0, **LLAMA3}, "eos_token_id": 2},
    "qwen2": SIZES | {"model_type": "qwen2", "max_position_embeddings": 64, "rms_norm_eps": 0.02, "tie_word_embeddings": True, "torch_dtype": "float32", "rope_theta": 500.0,
                      "hidden_size": 22, "use_sliding_window": False, "sliding_window": 64, "eos_token_id": [1, 2]},
    "qwen3": SIZES | {"model_type": "qwen3", "max_position_embeddings": 64, "rms_norm_eps": 0.01, "tie_word_embeddings": True, "attention_bias": False, "dtype": "float32",
                      "rope_parameters": {"rope_theta": 300.0, "rope_type": "default"}, "hidden_size": 20, "num_attention_heads": 3, "num_key_value_heads": 1},
}


def layer_shapes(json):
    """Returns the shapes of one layer's weights, by name."""
    e, i, d = json["hidden_size"], json["intermediate_size"], json["head_dim"]
    q, kv = json["num_attention_heads"] * d, json["num_key_value_heads"] * d
    shapes = {"input_layernorm.weight": (e,), "post_attention_layernorm.weight": (e,)}
    shapes |= {f"self_attn.{n}_proj.weight": (out, e) for n, out in (("q", q), ("k", kv), ("v", kv))}
    if json["model_type"] == "qwen2":
        shapes |= {f"self_attn.{n}_proj.bias": (out,) for n, out in (("q", q), ("k", kv), ("v", kv))}
    if json["model_type"] == "qwen3":
        shapes |= {"self_attn.q_norm.weight": (d,), "self_attn.k_norm.weight": (d,)}
    shapes |= {"self_attn.o_proj.weight": (e, q), "mlp.gate_proj.weight": (i, e), "mlp.up_proj.weight": (i, e), "mlp.down_proj.weight": (e, i)}
    return shapes


def draw(r, shapes):
    """Draws norm weights from 0.4 to 1.9, and signed matrices that roughly keep the size of their input."""
    def one(name, shape):
        if "norm" in name:
            return r.uniform(*shape, low=0.4, high=1.9)
        return r.normal(*shape, std=1.3 / math.sqrt(shape[-1]) if len(shape) == 2 else 0.5)

    return {name: one(name, shape) for name, shape in shapes.items()}


def draw_model(r, json):
    shapes = {"model.embed_tokens.weight": (json["vocab_size"], json["hidden_size"]), "model.norm.weight": (json["hidden_size"],)}
    if not json["tie_word_embeddings"]:
        shapes["lm_head.weight"] = shapes["model.embed_tokens.weight"]
    for layer in range(json["num_hidden_layers"]):
        shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in layer_shapes(json).items()}
    return draw(r, shapes)


def roundings(json, layers=None):
    """Returns the number of roundings in sequence between a token and its logits."""
    e, i, d, q = json["hidden_size"], json["intermediate_size"], json["head_dim"], json["num_attention_heads"] * json["head_dim"]
    per_layer = (e + 4) + e + (d + 4) + 3 + d + 8 + 12 + q + (e + 4) + e + 5 + i + 2
    return (json["num_hidden_layers"] if layers is None else layers) * per_layer + (e + 4) + e


def transformers_logits(json, weights, tokens):
    """Returns transformers' logits for this `config.json` and these weights, in float32."""
    config = AutoConfig.for_model(**json)
    config._attn_implementation = "eager"
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    model.tie_weights()
    with torch.no_grad():
        return model(tokens).logits


def task_1(out):
    r = out.random(1501)
    out.case(
        "task_1_embedding/two_rows",
        why="two sequences, the first and the last token of the vocabulary, and one token twice",
        inputs={"weight": r.normal(11, 6), "tokens": torch.tensor([[0, 10, 3, 3, 7], [5, 1, 10, 0, 9]])},
        outputs=lambda weight, tokens: weight[tokens],
    )
    weight, x = r.normal(11, 6), r.normal(2, 3, 6, std=2.0)
    out.case(
        "task_1_as_output/signed",
        why="11 logits for each of two times three positions of size 6",
        inputs={"weight": weight, "x": x},
        outputs=lambda weight, x: x @ weight.T,
        tolerance={"output": rounding(6, (x.abs() @ weight.abs().T))},
    )


def task_2(out):
    sizes = SIZES | {"hidden_size": 12, "intermediate_size": 10}
    c = {"n_heads": 6, "n_kv_heads": 2, "head_dim": 8, "eps": 0.01}
    for seed, family, masked in ((1502, "llama", True), (1503, "qwen2", True), (1504, "qwen3", False)):
        r = out.random(seed)
        inputs = draw(r, layer_shapes(sizes | {"model_type": family})) | {"x": r.normal(2, 5, 12, std=1.5)}
        cos, sin = tables(inverse_frequencies(8, 50.0), 6, torch.float32)
        inputs |= {"cos": cos, "sin": sin} | ({"mask": causal_mask(5, 5)} if masked else {})

        def run(x, cos, sin, mask=None, **w):
            return block(x, w, c, cos, sin, mask)

        doubled = {name: value.double() for name, value in inputs.items()}
        out.case(
            f"task_2_block/{family}",
            why=f"norm weights from 0.4 to 1.9, six query heads on two key heads, head size 8 where E is 12, {'a causal mask' if masked else 'no mask'}",
            inputs=inputs,
            outputs=run,
            tolerance={"output": walk(roundings(sizes, layers=1), run(**doubled))},
            scalars=c,
        )


def task_3(out):
    r = out.random(1505)
    weights = draw(r, {"embedding": (9, 6), "norm": (6,), "head": (9, 6)})
    tokens = torch.tensor([[8, 0, 3], [4, 4, 1]])
    out.case(
        "task_3_decoder/no_layers",
        why="no layers at all: embedding, norm, output head, and nothing between",
        inputs={**weights, "tokens": tokens},
        outputs=lambda embedding, norm, head, tokens: {
            "tied": rms_norm(embedding[tokens], norm, 0.01) @ embedding.T,
            "untied": rms_norm(embedding[tokens], norm, 0.01) @ head.T,
        },
        tolerance={"tied": rounding(6 + 4 + 6, 6 * 3.0), "untied": rounding(6 + 4 + 6, 6 * 3.0)},
        scalars={"eps": 0.01},
    )
    for seed, (family, json) in zip((1506, 1507, 1508), CONFIGS.items(), strict=True):
        r = out.random(seed)
        weights, tokens = draw_model(r, json), r.integers(2, 13, high=json["vocab_size"])

        def run(tokens, json=json, **weights):
            return {"logits": decoder(json, weights, tokens)}

        golden = run(tokens, **{name: value.double() for name, value in weights.items()})["logits"]
        tolerance = walk(roundings(json), golden)
        theirs = transformers_logits(json, weights, tokens)
        error = (theirs.double() - golden).abs().max().item()
        assert error <= tolerance.value, f"{family}: transformers differs by {error:.2e}; tolerance: {tolerance.derivation}"
        if family == "llama":
            unscaled = json | {"rope_parameters": json["rope_parameters"] | {"rope_type": "default"}}
            difference = (decoder(unscaled, weights, tokens) - golden).abs().max()
            assert difference > 20 * tolerance.value, "the scaling of RoPE changes too little"
        out.case(
            f"task_3_decoder/{family}",
            why=f"a whole {family} of {json['num_hidden_layers']} different layers, {json['num_attention_heads']} query heads of 8 on {json['num_key_value_heads']}, hidden size {json['hidden_size']}",
            inputs={**weights, "tokens": tokens},
            outputs=run,
            tolerance={"logits": tolerance},
            scalars={"config": json},
        )


def task_4(out):
    r = out.random(1509)
    for name, dtype, special in (
        ("bf16", torch.bfloat16, [0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x0080, 0x3F80, 0xBF80, 0x3C00, 0x4049, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0]),
        ("f16", torch.float16, [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x3C00, 0xBC00, 0x3F80, 0x3555, 0x4248, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00]),
        ("f32", torch.float32, [0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x3F800000, 0x3DCCCCCD, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000]),
    ):
        size = torch.finfo(dtype).bits
        bits = torch.tensor(special + r.integers(64 - len(special), high=1 << size).tolist()).reshape(4, 16)
        integer = {16: torch.int16, 32: torch.int32}[size]
        values = bits.to(integer).view(dtype).float()
        out.case(
            f"task_4_to_f32/{name}",
            why="zeros of both signs, the smallest and largest subnormal and normal numbers, infinities, NaN, and random patterns",
            inputs={"bits": bits},
            outputs={"values": values},
        )
