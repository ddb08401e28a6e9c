"""Writes models with experts for speed comparisons: Qwen3-MoE and gpt-oss, scaled down, with random weights.

    python python-ref/peers/mixture_files.py FOLDER           # 1.7 GB
    cargo course bench week2 --peers FOLDER --llama-bin FOLDER_OF_LLAMA_CPP
"""

import argparse
import struct
from pathlib import Path

import numpy as np

F32, Q8_0, Q4_K, MXFP4 = 0, 8, 12, 39
# Number of weights and of bytes in a block of each type.
BLOCKS = {F32: (1, 4), Q8_0: (32, 34), Q4_K: (256, 144), MXFP4: (32, 17)}
U32, FLOAT, STRING = 4, 6, 8
VOCABULARY, LAYERS = 32_000, 12


def half(x):
    return np.frombuffer(np.float16(x).tobytes(), np.uint8)


def random(bits, kind, count):
    """Returns `count` weights with a standard deviation near 0.02, as bytes."""
    weights, size = BLOCKS[kind]
    if kind == F32:
        return bits.normal(0, 0.02, count).astype(np.float32).tobytes()
    blocks = bits.integers(256, size=(count // weights, size), dtype=np.uint8)
    if kind == Q8_0:
        blocks[:, :2] = half(0.02 / 74)
    elif kind == Q4_K:
        # All scales and minimums are 32, and dmin is such that the middle code is 0.
        blocks[:, :2], blocks[:, 2:4], blocks[:, 4:12], blocks[:, 12:16] = half(0.02 / 148), half(0.15 / 148), 32, 0
    else:
        blocks[:, 0] = 120
    return blocks.tobytes()


def tensors(shape, kind):
    """Returns `[(name, axes in ggml's order, type)]`."""
    e, d, heads, kv, experts, inner = (shape[key] for key in ("e", "d", "heads", "kv", "experts", "inner"))
    oss, other = shape["architecture"] == "gpt-oss", Q8_0 if kind == MXFP4 else kind
    found = [("token_embd.weight", (e, VOCABULARY), other), ("output.weight", (e, VOCABULARY), other), ("output_norm.weight", (e,), F32)]
    for layer in range(LAYERS):
        parts = [
            ("attn_norm.weight", (e,), F32), ("attn_q.weight", (e, heads * d), other), ("attn_k.weight", (e, kv * d), other),
            ("attn_v.weight", (e, kv * d), other), ("attn_output.weight", (heads * d, e), other), ("ffn_gate_inp.weight", (e, experts), F32),
            ("ffn_gate_exps.weight", (e, inner, experts), kind), ("ffn_up_exps.weight", (e, inner, experts), kind),
            ("ffn_down_exps.weight", (inner, e, experts), kind),
        ]  # fmt: skip
        if oss:
            parts += [
                ("attn_q.bias", (heads * d,), F32), ("attn_k.bias", (kv * d,), F32), ("attn_v.bias", (kv * d,), F32), ("attn_output.bias", (e,), F32),
                ("attn_sinks.weight", (heads,), F32), ("post_attention_norm.weight", (e,), F32), ("ffn_gate_inp.bias", (experts,), F32),
                ("ffn_gate_exps.bias", (inner, experts), F32), ("ffn_up_exps.bias", (inner, experts), F32), ("ffn_down_exps.bias", (e, experts), F32),
            ]  # fmt: skip
        else:
            parts += [("ffn_norm.weight", (e,), F32), ("attn_q_norm.weight", (d,), F32), ("attn_k_norm.weight", (d,), F32)]
        found += [(f"blk.{layer}.{name}", axes, what) for name, axes, what in parts]
    return found


def metadata(shape):
    a = shape["architecture"]
    pairs = [
        ("general.architecture", STRING, a), ("tokenizer.ggml.model", STRING, "none"), (f"{a}.vocab_size", U32, VOCABULARY),
        (f"{a}.context_length", U32, 4096), (f"{a}.embedding_length", U32, shape["e"]), (f"{a}.block_count", U32, LAYERS),
        (f"{a}.feed_forward_length", U32, shape["inner"]), (f"{a}.expert_feed_forward_length", U32, shape["inner"]),
        (f"{a}.attention.head_count", U32, shape["heads"]), (f"{a}.attention.head_count_kv", U32, shape["kv"]),
        (f"{a}.attention.key_length", U32, shape["d"]), (f"{a}.attention.value_length", U32, shape["d"]),
        (f"{a}.rope.freq_base", FLOAT, 1e6 if a == "qwen3moe" else 150_000.0), (f"{a}.attention.layer_norm_rms_epsilon", FLOAT, 1e-5),
        (f"{a}.expert_count", U32, shape["experts"]), (f"{a}.expert_used_count", U32, 4),
    ]  # fmt: skip
    if a == "gpt-oss":
        pairs += [
            (f"{a}.attention.sliding_window", U32, 128), (f"{a}.rope.scaling.type", STRING, "yarn"), (f"{a}.rope.scaling.factor", FLOAT, 32.0),
            (f"{a}.rope.scaling.original_context_length", U32, 4096),
        ]  # fmt: skip
    return pairs


def text(x):
    return struct.pack("<Q", len(x)) + x.encode()


def value(kind, x):
    return text(x) if kind == STRING else struct.pack("<I" if kind == U32 else "<f", x)


def write(path, shape, kind):
    """Writes a GGUF file of version 3."""
    pairs, parts, at = metadata(shape), [], 0
    for name, axes, what in tensors(shape, kind):
        count = int(np.prod(axes))
        weights, size = BLOCKS[what]
        parts.append((name, axes, what, count, at))
        at += (count // weights * size + 31) // 32 * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(parts), len(pairs))
    head += b"".join(text(key) + struct.pack("<I", kind) + value(kind, x) for key, kind, x in pairs)
    for name, axes, what, _, offset in parts:
        head += text(name) + struct.pack(f"<I{len(axes)}QIQ", len(axes), *axes, what, offset)
    bits, unfinished = np.random.default_rng(6), path.with_suffix(".unfinished")
    with open(unfinished, "wb") as file:
        file.write(head + bytes(-len(head) % 32))
        for name, _, what, count, _ in parts:
            data = np.ones(count, np.float32).tobytes() if name.endswith("norm.weight") else random(bits, what, count)
            file.write(data + bytes(-len(data) % 32))
    unfinished.rename(path)


QWEN = {"architecture": "qwen3moe", "e": 1024, "d": 128, "heads": 8, "kv": 2, "experts": 32, "inner": 512}
# Rows have 45 blocks of 32, which is not a multiple of 256, like the 90 blocks of gpt-oss.
GPT_OSS = {"architecture": "gpt-oss", "e": 1440, "d": 64, "heads": 32, "kv": 4, "experts": 16, "inner": 1440}
FILES = {"qwen3-moe-q8_0": (QWEN, Q8_0), "qwen3-moe-q4_k": (QWEN, Q4_K), "gpt-oss-mxfp4": (GPT_OSS, MXFP4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the files are written to")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name, (shape, kind) in FILES.items():
        path = args.folder / f"{name}.gguf"
        if not path.exists():
            write(path, shape, kind)


if __name__ == "__main__":
    main()
