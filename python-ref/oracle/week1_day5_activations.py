"""Week 1, day 5, task 3: 68 activations of the embedded model.

Names and order are those of `activations` in `provided/week1/model/activations.rs`. To keep the file small, it omits some
activations and most positions. Run `python -m oracle week1_day5_activations` after each training of the model.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from oracle.week1_day5 import decoder, roundings, walk

MODEL = Path(__file__).resolve().parents[2] / "models" / "tiny-story"

TEXT = "Once upon a time, Leo was a cheeky frog. Leo had a friend named Milo. Milo was a silly mole."

LENGTH = 24

POSITIONS = [0, 10, LENGTH - 1]

def stored(value):
    """Returns the rows of `value` at the positions that the fixture has. `value` is `[1, L, …]` or `[1, H, L, D]`."""
    return value.index_select(value.ndim - 2, torch.tensor(POSITIONS))


def run(config, tokens, weights):
    """Runs the decoder. Returns the stored rows of all activations, by name and in order."""
    seen = {}
    decoder(config, weights, tokens, seen=seen.__setitem__)
    return {name: stored(value) for name, value in seen.items()}


def hooked(tokens):
    """Returns the outputs of transformers' modules, in float32, under our names. Head norms output `[B, L, H, D]`."""
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32, attn_implementation="eager").eval()
    seen = {}

    def watch(module, name, change=lambda value: value):
        def keep(_module, _inputs, output):
            seen[name] = stored(change(output[0] if isinstance(output, tuple) else output))

        module.register_forward_hook(keep)

    watch(model.model.embed_tokens, "embedding")
    for i, layer in enumerate(model.model.layers):
        here = f"layers.{i}"
        watch(layer.input_layernorm, f"{here}.input_norm")
        for name in ("q_proj", "k_proj", "v_proj"):
            watch(getattr(layer.self_attn, name), f"{here}.attention.{name}")
        for name in ("q_norm", "k_norm"):
            watch(getattr(layer.self_attn, name), f"{here}.attention.{name}", lambda value: value.transpose(1, 2))
        watch(layer.self_attn, f"{here}.attention")
        watch(layer.post_attention_layernorm, f"{here}.post_attention_norm")
        watch(layer.mlp, f"{here}.mlp")
        watch(layer, here)
    watch(model.model.norm, "norm")
    with torch.no_grad():
        seen["logits"] = stored(model(tokens).logits)
    return seen


def cases(out):
    config = json.loads((MODEL / "config.json").read_text())
    weights = load_file(MODEL / "model.safetensors")
    tokens = torch.tensor([AutoTokenizer.from_pretrained(MODEL).encode(TEXT)[:LENGTH]])
    assert tokens.shape == (1, LENGTH), tokens.shape

    doubled = {name: value.double() for name, value in weights.items()}
    golden = run(config, tokens, doubled)
    # Each layer adds its roundings. An activation inside a layer counts all roundings of that layer.
    depth = {name: int(name.split(".")[1]) + 1 if name.startswith("layers.") else config["num_hidden_layers"] for name in golden}
    tolerance = {name: walk(1 if name == "embedding" else roundings(config, depth[name]), value) for name, value in golden.items()}
    for name, value in hooked(tokens).items():
        error = (value.double() - golden[name]).abs().max().item()
        assert error <= tolerance[name].value, f"{name}: transformers differs by {error:.2e}; tolerance: {tolerance[name].derivation}"
    single = run(config, tokens, {name: value.float() for name, value in weights.items()})
    for name, value in single.items():
        error = (value.double() - golden[name]).abs().max().item()
        assert error <= tolerance[name].value, f"{name}: float32 differs by {error:.2e}; tolerance: {tolerance[name].derivation}"

    out.case(
        "task_3_activations/tiny_story",
        seed=0,
        why=f"the first {LENGTH} tokens of a story, every activation in order, positions {POSITIONS}",
        inputs={"tokens": tokens},
        outputs=golden,
        tolerance=tolerance,
        scalars={"names": list(golden), "positions": POSITIONS},
    )
