"""Week 4, day 6: whole models with experts. transformers' Qwen3-MoE and gpt-oss, with small random weights, and their logits.

Each model is a case with the bytes of a file: `model.safetensors` of a Hugging Face folder, or a GGUF file written by the `gguf`
package. The file's types hold the weights exactly, so only arithmetic is compared.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import torch
from gguf import GGMLQuantizationType as Q
from gguf import GGUFWriter
from gguf.quants import dequantize
from safetensors.torch import save
from transformers import GptOssConfig, GptOssForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM

from oracle.fixtures import Random, Tolerance

LETTERS = [*"abcdefghijklmnopqrstuvwxyz", "Ġ", "Ċ", ".", ",", "<|pad|>", "<|end|>"]
V, E, INTERMEDIATE, LAYERS, HEADS, KV_HEADS, D, EXPERTS, PER_TOKEN = len(LETTERS), 32, 32, 2, 4, 2, 16, 4, 2
CONTEXT, WINDOW, LENGTH, SHOWN = 128, 24, 100, 16
ROPE = {"rope_type": "yarn", "rope_theta": 1000.0, "factor": 2.0, "original_max_position_embeddings": 64, "beta_fast": 32.0, "beta_slow": 1.0}
COMMON = dict(
    vocab_size=V, hidden_size=E, num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, head_dim=D,
    num_experts_per_tok=PER_TOKEN, max_position_embeddings=CONTEXT, tie_word_embeddings=False, bos_token_id=None, eos_token_id=V - 1, pad_token_id=V - 2,
)  # fmt: skip


def qwen3_moe(renormalize=True):
    config = Qwen3MoeConfig(
        **COMMON, num_experts=EXPERTS, moe_intermediate_size=INTERMEDIATE // 2, intermediate_size=INTERMEDIATE, norm_topk_prob=renormalize,
        rope_parameters={"rope_type": "default", "rope_theta": 1000.0}, rms_norm_eps=1e-6,
    )  # fmt: skip
    config._experts_implementation = "eager"
    return Qwen3MoeForCausalLM(config)


def gpt_oss(truncate):
    config = GptOssConfig(
        **COMMON, num_local_experts=EXPERTS, intermediate_size=INTERMEDIATE, sliding_window=WINDOW, layer_types=["sliding_attention", "full_attention"],
        rope_parameters=ROPE | {"truncate": truncate}, rms_norm_eps=1e-5, attn_implementation="eager",
    )  # fmt: skip
    config._experts_implementation = "eager"
    return GptOssForCausalLM(config)


def fill(model, seed):
    """Fills `model` with weights that bf16 or MXFP4 holds exactly, and uneven norms. Returns the experts' MXFP4 blocks, if any."""
    r, blocks = Random(seed), {}
    with torch.no_grad():
        for name, x in sorted(model.named_parameters()):
            if name.endswith(("experts.gate_up_proj", "experts.down_proj")) and isinstance(model, GptOssForCausalLM):
                # The shape is `[n, in, out]`. In a file, each output has a row of blocks.
                n, cols, rows = x.shape
                raw = r.integers(n, rows, cols // 32, 17, high=256).to(torch.uint8)
                raw[..., 0] = 123 + raw[..., 0] % 3
                blocks[name] = raw
                x.copy_(torch.from_numpy(dequantize(raw.flatten(2).numpy(), Q.MXFP4)).transpose(1, 2))
            elif "norm" in name:
                x.copy_(r.normal(*x.shape, std=0.25, mean=1.0).bfloat16())
            elif name.endswith(("bias", "sinks")):
                x.copy_(r.normal(*x.shape, std=0.5).bfloat16())
            elif "router" in name or name.endswith("mlp.gate.weight"):
                x.copy_(r.normal(*x.shape, std=0.6).bfloat16())
            else:
                x.copy_(r.normal(*x.shape, std=1.0 if "embed" in name else 0.25).bfloat16())
    return blocks


def logits(model, tokens):
    """Returns logits in float64, except that transformers itself computes norms and Qwen3-MoE's router softmax in float32."""
    gaps = []

    def gap(_, __, result):
        best = result[0].sort(-1, descending=True).values
        gaps.append((best[:, PER_TOKEN - 1] - best[:, PER_TOKEN]).min().item())

    hooks = [m.register_forward_hook(gap) for n, m in model.named_modules() if n.endswith(("mlp.gate", "mlp.router"))]
    with torch.no_grad():
        found = model.double().eval()(tokens[None]).logits[0]
    for hook in hooks:
        hook.remove()
    assert len(hooks) == LAYERS and min(gaps) > 1e-4, f"an expert is chosen by {min(gaps)}, which a rounding may exchange"
    return found


def packed(data):
    """Packs `data` into int64, seven bytes per number so that none is negative. Zeros fill the last number."""
    sevens = np.frombuffer(data + bytes(-len(data) % 7), np.uint8).reshape(-1, 7)
    return torch.from_numpy(np.pad(sevens, ((0, 0), (0, 1))).copy().view(np.int64).reshape(-1))


def neighbours(raw):
    """Returns ggml's blocks in the layout of Hugging Face: codes of two neighbours per byte, and separate scales."""
    codes = torch.cat([raw[..., 1:] & 15, raw[..., 1:] >> 4], -1)
    return codes[..., ::2] | codes[..., 1::2] << 4, raw[..., 0]


def folder(model, blocks, stacked=False):
    """Returns the bytes of `model.safetensors`, as on the hub: Qwen3-MoE's experts one by one unless `stacked`, gpt-oss's in `blocks` if any."""
    tensors = {}
    for name, x in model.state_dict().items():
        x = x.detach().float()
        if name in blocks:
            codes, scales = neighbours(blocks[name])
            tensors[f"{name}_blocks"], tensors[f"{name}_scales"] = codes.contiguous(), scales.contiguous()
        elif name.endswith("experts.gate_up_proj") and isinstance(model, Qwen3MoeForCausalLM) and not stacked:
            for e in range(EXPERTS):
                prefix = name.replace("gate_up_proj", str(e))
                tensors[f"{prefix}.gate_proj.weight"], tensors[f"{prefix}.up_proj.weight"] = (h.bfloat16().contiguous() for h in x[e].chunk(2))
        elif name.endswith("experts.down_proj") and isinstance(model, Qwen3MoeForCausalLM) and not stacked:
            for e in range(EXPERTS):
                tensors[name.replace("down_proj", f"{e}.down_proj.weight")] = x[e].bfloat16().contiguous()
        else:
            tensors[name] = x.bfloat16().contiguous()
    return save(tensors)


def as_config(model, blocks):
    config = json.loads(model.config.to_json_string())
    if blocks:
        config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}
    return json.dumps(config)


NAMES = {
    "model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight",
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "self_attn.sinks": "attn_sinks.weight",
    "mlp.router": "ffn_gate_inp", "mlp.gate": "ffn_gate_inp",
}  # fmt: skip


def gguf_name(name, architecture):
    if name in NAMES:
        return NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    if rest in NAMES:
        return f"blk.{layer}.{NAMES[rest]}"
    part, kind = rest.rsplit(".", 1)
    norm = "ffn_norm" if architecture == "qwen3moe" else "post_attention_norm"
    return f"blk.{layer}.{norm if part == 'post_attention_layernorm' else NAMES[part]}.{kind}"


def gguf(model, blocks, letters=LETTERS):
    """Returns a file as llama.cpp's converter writes it. Without `letters`, it has no tokenizer, because llama.cpp rejects one without merges."""
    config, oss = model.config, isinstance(model, GptOssForCausalLM)
    with tempfile.TemporaryDirectory() as where:
        path, architecture = Path(where) / "model.gguf", "gpt-oss" if oss else "qwen3moe"
        writer = GGUFWriter(path, architecture)
        writer.add_context_length(config.max_position_embeddings)
        writer.add_embedding_length(config.hidden_size)
        writer.add_block_count(config.num_hidden_layers)
        writer.add_feed_forward_length(config.intermediate_size)
        writer.add_head_count(config.num_attention_heads)
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
        writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_expert_count(config.num_local_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        size = config.intermediate_size if oss else config.moe_intermediate_size
        writer.add_expert_feed_forward_length(size)
        if oss:
            from gguf import RopeScalingType

            writer.add_sliding_window(config.sliding_window)
            writer.add_rope_scaling_type(RopeScalingType.YARN)
            writer.add_rope_scaling_factor(config.rope_parameters["factor"])
            writer.add_rope_scaling_orig_ctx_len(config.rope_parameters["original_max_position_embeddings"])
        if letters:
            writer.add_tokenizer_model("gpt2")
            writer.add_tokenizer_pre("gpt-2")
            writer.add_token_list(letters)
            writer.add_token_types([3 if token.startswith("<|") else 1 for token in letters])
            writer.add_token_merges([])
            writer.add_eos_token_id(len(letters) - 1)
            writer.add_pad_token_id(len(letters) - 2)
            writer.add_add_bos_token(False)
        else:
            writer.add_tokenizer_model("none")
            writer.add_vocab_size(config.vocab_size)
        for name, x in model.state_dict().items():
            x = x.detach().float()
            if ".experts." in name:
                prefix = f"blk.{name.split('.')[2]}.ffn_"
                kind = "bias" if name.endswith("_bias") else "weight"
                down = ".down_proj" in name
                if name in blocks:
                    raw = blocks[name]
                    parts = {"down": raw} if down else {"gate": raw[:, ::2], "up": raw[:, 1::2]}
                    for part, rows in parts.items():
                        writer.add_tensor(f"{prefix}{part}_exps.{kind}", rows.flatten(2).contiguous().numpy(), raw_dtype=Q.MXFP4)
                    continue
                if oss:
                    x = x.transpose(1, 2) if kind == "weight" else x
                    parts = {"down": x} if down else {"gate": x[:, ::2], "up": x[:, 1::2]}
                else:
                    parts = {"down": x} if down else dict(zip(("gate", "up"), x.chunk(2, 1), strict=True))
                for part, rows in parts.items():
                    rows = rows.contiguous().numpy()
                    writer.add_tensor(f"{prefix}{part}_exps.{kind}", rows if oss else rows.astype(np.float16))
            else:
                x = x.numpy()
                keep = x.ndim == 1 or "mlp." in name
                writer.add_tensor(gguf_name(name, architecture), x if keep else x.astype(np.float16))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path.read_bytes()


TOLERANCE = Tolerance(
    2e-4, "transformers rounds norms and the router's softmax to float32: about 100 roundings × 2^-24 × logits up to 20, and what two layers make of them"
)


def cases(out):
    tokens = Random(4800).integers(LENGTH, high=V - 2)
    models = {}
    for name, make, seed, stored in (
        ("qwen3_moe/folder", qwen3_moe, 4801, folder),
        ("qwen3_moe/gguf", qwen3_moe, 4801, gguf),
        ("gpt_oss/folder", lambda: gpt_oss(False), 4802, folder),
        ("gpt_oss/gguf", lambda: gpt_oss(True), 4802, gguf),
    ):
        model = make()
        blocks = fill(model, seed)
        config, data = as_config(model, blocks), stored(model, blocks)
        expected = logits(model, tokens)
        models[name] = expected
        out.case(
            f"whole/{name}", seed=seed, why=f"two layers of {EXPERTS} experts, {LENGTH} tokens", inputs={"tokens": tokens, "file": packed(data)},
            outputs={"logits": expected[-SHOWN:]}, tolerance={"logits": TOLERANCE}, scalars={"bytes": len(data), "config": config},
        )  # fmt: skip
    assert (models["gpt_oss/folder"] - models["gpt_oss/gguf"]).abs().max() > 20 * TOLERANCE.value, "whole pairs or not would make no difference"


if __name__ == "__main__":
    # Writes GGUF files of these models and of the embedded one, for `peers/mixture_texts.py`.
    import sys

    target = Path(sys.argv[1])
    for name, make, seed, in_blocks in (
        ("qwen3-moe", qwen3_moe, 4801, True),
        ("gpt-oss", lambda: gpt_oss(True), 4802, True),
        # llama.cpp rounds the activations for MXFP4 blocks to int8. The same weights as floats show the effect.
        ("gpt-oss-f32", lambda: gpt_oss(True), 4802, False),
    ):
        model = make()
        blocks = fill(model, seed)
        (target / f"{name}.gguf").write_bytes(gguf(model, blocks if in_blocks else {}, None))
    embedded = Path(__file__).resolve().parents[2] / "models" / "tiny-mixture"
    model = Qwen3MoeForCausalLM.from_pretrained(embedded, dtype=torch.float32)
    (target / "tiny-mixture.gguf").write_bytes(gguf(model, {}, None))
