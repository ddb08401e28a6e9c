"""Day 5: embedding and tied output, transformer block, the whole decoder, weights."""

import json
import math

import oracle.week1_day5 as oracle
import pytest
import tiny_llm
import torch
from live import close
from oracle.fixtures import Tolerance, exact
from oracle.week1_day1 import linear_rounding
from oracle.week1_day3 import causal_mask
from test_week1_day1 import random_mask
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.utils import logging

logging.disable_progress_bar()

FAMILIES = ["llama", "qwen2", "qwen3"]


def random_config(r, family):
    """Returns the `config.json` of a small model of odd sizes, as `oracle.week1_day5` reads it."""
    h, group, d = r.size(1, 3), r.size(1, 3), 2 * r.size(2, 5)
    heads = h * group
    rope = {"rope_type": "default", "rope_theta": r.choice(100.0, 10_000.0, 500_000.0)}
    if family == "llama" and r.choice(True, False):
        rope |= oracle.LLAMA3
    return {
        "model_type": family,
        "hidden_act": "silu",
        "hidden_size": heads * r.size(12 // heads + 1, 12 // heads + 4),
        "intermediate_size": r.size(5, 20),
        "num_hidden_layers": r.size(1, 3),
        "num_attention_heads": heads,
        "num_key_value_heads": h,
        "head_dim": d,
        "vocab_size": r.size(20, 60),
        "max_position_embeddings": 64,
        "rms_norm_eps": r.choice(1e-6, 0.02),
        "tie_word_embeddings": r.choice(True, False),
        "attention_bias": False,
        "rope_parameters": rope,
        "eos_token_id": 1,
    }


def random_tokens(r, config, most=24):
    return r.integers(r.size(1, 3), r.size(1, most), high=config["vocab_size"])


def without_layers(week1, r):
    """Returns the smallest decoder, of embedding, norm and output alone, its config and its weights. Tests run it first, so that a stub
    in these parts is reported before any other."""
    config = random_config(r, "llama")
    embedding, norm = r.weight(config["vocab_size"], config["hidden_size"]), r.norm_weight(config["hidden_size"])
    head = r.choice(None, r.weight(*embedding.shape))
    m = week1.model
    parts = m.Embedding(embedding), [], week1.norm.RmsNorm(norm, config["rms_norm_eps"]), None if head is None else week1.gqa.Linear(head)
    config = config | {"num_hidden_layers": 0}
    weights = {"model.embed_tokens.weight": embedding, "model.norm.weight": norm} | ({} if head is None else {"lm_head.weight": head})
    return m.Model(kit_config(config | {"num_hidden_layers": 1}), *parts), config, weights


def kit_config(config):
    return tiny_llm.kit.ModelConfig.from_json(json.dumps(config))


def walk(roundings, expected, single):
    """Returns the oracle's bound for a chain of roundings, plus 16 times the error of the same computation in float32, `single`.
    This covers inputs that amplify roundings, such as a small row before a norm."""
    value, derivation, _ = oracle.walk(roundings, expected, factor=8)
    measured = 16 * (single.double() - expected).abs().max().item()
    return Tolerance(value + measured, f"{derivation}; 16 × error of float32 = {measured:.1e}")


def logits_of(config, weights, tokens):
    """Returns the oracle's logits in float64, and their tolerance."""
    logits = oracle.decoder(config, {n: w.double() for n, w in weights.items()}, tokens)
    return logits, walk(oracle.roundings(config), logits, oracle.decoder(config, weights, tokens))


def test_week1_day5_task_1_embedding(week1, r):
    weight = r.normal(*r.different(2, 2, 12))
    tokens = r.integers(r.size(1, 3), r.size(1, 6), high=len(weight))
    close(week1.model.Embedding(weight).forward(tokens), weight[tokens], exact())


def test_week1_day5_task_1_as_output(week1, r):
    weight = r.normal(*r.different(2, 2, 12))
    x = r.normal(*r.shape(1, 2), weight.shape[1])
    close(week1.model.Embedding(weight).as_output(x), x.double() @ weight.double().T, linear_rounding(x, weight))


@pytest.mark.parametrize("family", FAMILIES)
def test_week1_day5_task_2_transformer_block(week1, r, family):
    config = random_config(r, family)
    e, d, h_q, eps = config["hidden_size"], config["head_dim"], config["num_attention_heads"], config["rms_norm_eps"]
    w = oracle.draw(r, oracle.layer_shapes(config))
    b, l = r.size(1, 3), r.size(1, 9)
    x, mask = r.normal(b, l, e), r.choice(causal_mask(l, l), random_mask(r, b, 1, l, l))
    cos, sin = oracle.tables(oracle.inverse_frequencies(d, 100.0), l + r.size(0, 2), torch.float32)

    norm, linear = week1.norm.RmsNorm, week1.gqa.Linear
    projections = (linear(w[f"self_attn.{n}_proj.weight"], w.get(f"self_attn.{n}_proj.bias")) for n in "qkvo")
    norms = {n: w.get(f"self_attn.{n}.weight") for n in ("q_norm", "k_norm")}
    block = week1.model.TransformerBlock(
        norm(w["input_layernorm.weight"], eps),
        week1.gqa.GroupedQueryAttention(
            h_q, config["num_key_value_heads"], *projections, week1.rope.RopeTables.from_arrays(cos, sin), **norms, norm_eps=eps
        ),
        norm(w["post_attention_layernorm.weight"], eps),
        week1.mlp.SwiGlu(*(w[f"mlp.{n}_proj.weight"] for n in ("gate", "up", "down"))),
    )
    found = block.forward(x, mask)

    c = {"n_heads": h_q, "n_kv_heads": config["num_key_value_heads"], "head_dim": d, "eps": eps}
    wide = {n: v.double() for n, v in w.items()}
    visible = mask.isfinite().any(-1, keepdim=True)  # the oracle has no answer where no key may be seen
    mask = torch.where(visible, mask, 0.0)
    expected = oracle.block(x.double(), wide, c, cos.double(), sin.double(), mask.double())
    single = oracle.block(x, w, c, cos, sin, mask)
    seen = visible.expand(b, 1, l, 1)[:, 0].expand_as(expected)
    close(found[seen.numpy()], expected[seen], walk(oracle.roundings(config, layers=1), expected, single))


def test_week1_day5_task_3_decoder_without_layers(week1, r):
    model, config, weights = without_layers(week1, r)
    tokens = random_tokens(r, config)
    close(model.forward(tokens), *logits_of(config, weights, tokens))


@pytest.mark.parametrize("family", FAMILIES)
def test_week1_day5_task_3_decoder(week1, r, family):
    """Compares every activation in order, so that a failure names the first difference."""
    without_layers(week1, r)[0].forward([[0]])
    config = random_config(r, family)
    weights, tokens = oracle.draw_model(r, config), random_tokens(r, config)
    expected, single = {}, {}
    oracle.decoder(config, {n: w.double() for n, w in weights.items()}, tokens, seen=expected.__setitem__)
    oracle.decoder(config, weights, tokens, seen=single.__setitem__)
    found = week1.model.Model.build(kit_config(config), weights).activations(tokens)
    for name, value in found.items():
        layers = int(name.split(".")[1]) + 1 if name.startswith("layers.") else None
        try:
            close(value, expected[name], walk(oracle.roundings(config, layers=layers), expected[name], single[name]))
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=["F32", "F16", "BF16"])
def test_week1_day5_task_4_to_f32(week1, r, dtype):
    shape = r.shape(1, 3)
    integer = torch.int32 if dtype == torch.float32 else torch.int16
    bits = torch.iinfo(integer)
    values = torch.tensor([r.random.randint(bits.min, bits.max) for _ in range(math.prod(shape))], dtype=integer).view(dtype).reshape(shape)
    name = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}[dtype]
    found = torch.tensor(week1.weights.to_f32(values.view(integer).numpy().tobytes(), name, shape))
    assert torch.equal(found.isnan(), values.isnan())
    close(found.nan_to_num(nan=7.0), values.float().nan_to_num(nan=7.0), exact())


def save_random_model(r, family, folder):
    """Saves a random model with transformers, in one file or several. Returns it in float32, and its `config.json`."""
    config = random_config(r, family)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config), dtype=torch.float32)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(oracle.draw(r, {name: tuple(parameter.shape)})[name])
    model.tie_weights()
    model.to(r.choice(torch.float32, torch.float16, torch.bfloat16)).save_pretrained(folder, max_shard_size=r.choice("1GB", "4KB"))
    # Reloads the model, because conversion to 16 bits rounds RoPE's frequencies too, which are not weights.
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    if r.choice(True, False):
        write_older_form(folder / "config.json")
    return model.eval(), config


def write_older_form(path):
    """Rewrites a `config.json` in the form of most on the hub: `rope_theta` and `rope_scaling` at the top level, `torch_dtype` for `dtype`."""
    config = json.loads(path.read_text())
    rope = config.pop("rope_parameters")
    config |= {"rope_theta": rope.pop("rope_theta"), "rope_scaling": rope if rope["rope_type"] == "llama3" else None, "torch_dtype": config.pop("dtype")}
    path.write_text(json.dumps(config))


@pytest.mark.parametrize("family", FAMILIES)
def test_week1_day5_task_4_load(solution, r, family, tmp_path):
    """Loads folders that transformers wrote: one file or several, three types, both forms of `config.json`."""
    folder = tmp_path / str(r.number)
    model, config = save_random_model(r, family, folder)
    tokens = random_tokens(r, config)
    found = solution.load(folder).logits(tokens)
    with torch.no_grad():
        single = model(tokens).logits
        expected = model.double()(tokens).logits
    # transformers always computes norms in float32, so its own error is similar.
    close(found, expected, walk(2 * oracle.roundings(config), expected, single))
