"""Week 2, day 4: K-quants in Q4_K and Q6_K, the search for scale and minimum, what a converter decides, writing GGUF.

The `gguf` package reads blocks, but cannot write K-quants. So the search is written here in float64, and blocks are packed from known
numbers, which the package must read back. Bytes of files are the package's own. The types of mixed files were recorded from llama.cpp
(llama-cpp-python 0.3.36, `llama_model_quantize`), as were the errors of its quantizers.
"""

import tempfile
from pathlib import Path
from unittest import mock

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as T
from safetensors.torch import load_file

from oracle.fixtures import FOLDER, Random, Tolerance


def ints(values):
    return torch.from_numpy(np.ascontiguousarray(values).astype(np.int64))


def decode(blocks, name):
    """Decodes bytes `[n, bytes]` of format `name` → weights `[n, 256]`."""
    with np.errstate(invalid="ignore"):
        return torch.from_numpy(gguf.dequantize(blocks.numpy().astype(np.uint8), T[name]).astype(np.float32).reshape(len(blocks), 256))


def half(x):
    """Returns the two bytes of each number, rounded to half precision."""
    return np.asarray(x, dtype=np.float16).reshape(-1, 1).view(np.uint8)


def embedded(name):
    weights = load_file(FOLDER.parents[1] / "models/tiny-story/model.safetensors")
    return weights[name].float()


# Blocks from their parts


def pack_q4_k(d, dmin, scales, minimums, codes):
    """Packs `d [n]`, `dmin [n]`, `scales [n, 8]`, `minimums [n, 8]`, `codes [n, 256]` → bytes `[n, 144]`."""
    six = np.concatenate((scales[:, :4] | (scales[:, 4:] >> 4) << 6, minimums[:, :4] | (minimums[:, 4:] >> 4) << 6, scales[:, 4:] & 15 | (minimums[:, 4:] & 15) << 4), 1)
    pairs = codes.reshape(-1, 4, 2, 32)
    return ints(np.concatenate((half(d), half(dmin), six.astype(np.uint8), (pairs[:, :, 0] | pairs[:, :, 1] << 4).reshape(-1, 128).astype(np.uint8)), 1))


def pack_q6_k(d, scales, codes):
    """Packs `d [n]`, `scales [n, 16]`, `codes [n, 256]` in 0…63 → bytes `[n, 210]`."""
    halves = codes.reshape(-1, 2, 4, 32)
    low = np.concatenate((halves[:, :, 0] & 15 | (halves[:, :, 2] & 15) << 4, halves[:, :, 1] & 15 | (halves[:, :, 3] & 15) << 4), 2)
    high = halves[:, :, 0] >> 4 | halves[:, :, 1] >> 4 << 2 | halves[:, :, 2] >> 4 << 4 | halves[:, :, 3] >> 4 << 6
    signed = scales.astype(np.int8).view(np.uint8)
    return ints(np.concatenate((low.reshape(-1, 128).astype(np.uint8), high.reshape(-1, 64).astype(np.uint8), signed, half(d)), 1))


def numbers(r, *shape, high):
    return r.integers(*shape, high=high).numpy()


def q4_k_parts(r, n, whole=False):
    """Returns d, dmin, scales, minimums and codes of `n` blocks. Scales and minimums are distinct, some above 15. Each group has codes 0 and 15."""
    scales = np.stack([(np.arange(8) * 7 + 5 * i) % 61 + 2 for i in range(n)])
    minimums = np.stack([(np.arange(8) * 11 + 3 * i + 4) % 59 + 3 for i in range(n)])
    for i in range(n):
        scales[i, (3 * i + 2) % 8], minimums[i, (5 * i + 5) % 8] = 63, 63
    codes = numbers(r, n, 256, high=16).reshape(n, 8, 32)
    codes[:, :, 5], codes[:, :, 20] = 0, 15
    d = np.ones(n) if whole else 2.0 ** np.array([-9 - i % 4 for i in range(n)])
    dmin = np.ones(n) if whole else 2.0 ** np.array([-8 - i % 3 for i in range(n)])
    return d, dmin, scales, minimums, codes.reshape(n, 256)


def q6_k_parts(r, n, whole=False):
    """Returns d, scales and codes of `n` blocks. Scales have either sign and include −128. Codes are 0…62, with 0 (the value −32) in each group."""
    scales = np.stack([((np.arange(16) * 37 + 11 * i) % 251) - 125 for i in range(n)])
    scales[np.abs(scales) < 3] = 31
    for i in range(n):
        scales[i, (5 * i + 3) % 16] = -128
    codes = numbers(r, n, 256, high=63).reshape(n, 16, 16)
    codes[:, :, 9] = 0
    d = np.ones(n) if whole else 2.0 ** np.array([-10 - i % 5 for i in range(n)]) * np.array([-1.0 if i % 2 else 1.0 for i in range(n)])
    return d, scales, codes.reshape(n, 256)


def by_value():
    return Tolerance(0.0, "the format says how each operation is rounded", relative=True)


def finite_halves(r, n, count):
    """Returns the bytes of `count` random finite half-precision numbers."""
    bits = r.integers(n, count, high=0x7C00).numpy() | r.integers(n, count, high=2).numpy() << 15
    bits[0, 0] = 0x0001
    return bits.astype(np.uint16).view(np.uint8)


# The search


def importance(x):
    return np.abs(x) + np.sqrt((x * x).mean(-1, keepdims=True))


def fit(x, w, q):
    """Fits `scale · q − minimum` to each row of `x` by least squares with weights `w`. Minimums are at least 0. `[n, N]` → `[n]`, `[n]`"""
    scale, minimum = np.zeros(len(x)), np.zeros(len(x))
    for i in range(len(x)):
        root = np.sqrt(w[i])
        a = np.stack((q[i] * root, -root), 1)
        if np.ptp(q[i]) > 0:
            scale[i], minimum[i] = np.linalg.lstsq(a, x[i] * root, rcond=None)[0]
        if np.ptp(q[i]) == 0 or minimum[i] < 0:
            minimum[i] = 0.0
            scale[i] = (w[i] * q[i] * x[i]).sum() / (w[i] * q[i] * q[i]).sum() if q[i].any() else 0.0
    return scale, minimum


def search(x, top, trials=range(-4, 5), rounds=4, weigh=importance):
    """Returns the best scale, minimum and error of each row of `x [n, N]`, each `[n]`, for codes `0 … top`."""
    w = weigh(x)
    lowest = np.minimum(x.min(1), 0)
    span = x.max(1).clip(min=lowest) - lowest
    best = np.zeros(len(x)), -lowest, np.where(span > 0, np.inf, (w * (-lowest[:, None] * -1 + 0 - x) ** 2).sum(1) * 0)
    for t in trials:
        scale, minimum = span / (top + t / 4), -lowest
        for _ in range(rounds):
            safe = np.where(scale > 0, scale, 1)
            q = np.clip(np.round((x + minimum[:, None]) / safe[:, None]), 0, top)
            scale, minimum = fit(x, w, q)
        error = (w * (scale[:, None] * q - minimum[:, None] - x) ** 2).sum(1)
        better = error < best[2]
        best = tuple(np.where(better, new, old) for new, old in zip((scale, minimum, error), best))
    return best


def search_symmetric(x, top, trials=range(-4, 5), rounds=4):
    """Returns the best scale of each row of `x [n, N]`, `[n]`, for codes `−top … top − 1`."""
    w = importance(x)
    largest = x[np.arange(len(x)), np.abs(x).argmax(1)]
    best, best_gain = np.zeros(len(x)), np.zeros(len(x))
    for t in trials:
        scale = -largest / (top + t / 4)
        for _ in range(rounds):
            q = np.clip(np.round(x / np.where(scale != 0, scale, 1)[:, None]), -top, top - 1)
            qx, qq = (w * q * x).sum(1), (w * q * q).sum(1)
            scale = np.where(qq > 0, qx / np.where(qq > 0, qq, 1), 0)
        gain = qx * scale
        best, best_gain = np.where(gain > best_gain, scale, best), np.maximum(gain, best_gain)
    return best


def share(values, top):
    """Returns `d [n]` in half precision, and integers up to `top`, whose products with `d` approximate `values [n, k]`."""
    d = values.max(1) / top
    return d.astype(np.float16).astype(np.float64), np.clip(np.round(values / np.where(d > 0, d, 1)[:, None]), 0, top)


def store_q4_k(x):
    """Returns `x [n, 256]` as it reads back from Q4_K. Codes are computed from the stored scales and minimums."""
    groups = x.reshape(-1, 32)
    scale, minimum, _ = search(groups, 15)
    (d, scales), (dmin, minimums) = share(scale.reshape(-1, 8), 63), share(minimum.reshape(-1, 8), 63)
    stored, stored_minimum = (d[:, None] * scales).reshape(-1, 1), (dmin[:, None] * minimums).reshape(-1, 1)
    q = np.clip(np.round((groups + stored_minimum) / np.where(stored > 0, stored, 1)), 0, 15)
    return (stored * q - stored_minimum).reshape(x.shape)


def store_q6_k(x):
    """Returns `x [n, 256]` as it reads back from Q6_K."""
    scale = search_symmetric(x.reshape(-1, 16), 32).reshape(-1, 16)
    d = -scale[np.arange(len(scale)), np.abs(scale).argmax(1)] / 128
    scales = np.clip(np.round(scale / np.where(d != 0, d, 1)[:, None]), -128, 127)
    stored = np.repeat(d.astype(np.float16).astype(np.float64)[:, None] * scales, 16, axis=1)
    return stored * np.clip(np.round(x / np.where(stored != 0, stored, 1)), -32, 31)


def relative_error(x, y):
    return np.sqrt(((x - y) ** 2).sum() / (x**2).sum())


def samples(r):
    """Returns weights to quantize, by name, `[8, 256]` each."""
    heavy = r.normal(8, 256).numpy().astype(np.float64)
    return {
        "gaussian": r.normal(8, 256).numpy().astype(np.float64),
        "heavy_tails": heavy**3 / 4,
        "shifted": r.normal(8, 256, mean=1.5).numpy().astype(np.float64),
        "model": embedded("model.layers.3.mlp.down_proj.weight").numpy().reshape(-1, 256)[100:108].astype(np.float64),
    }


LLAMA_CPP = {
    "Q4_K": {"gaussian": 0.07067, "heavy_tails": 0.08923, "shifted": 0.03789, "model": 0.07509},
    "Q6_K": {"gaussian": 0.01816, "heavy_tails": 0.02401, "shifted": 0.01492, "model": 0.01959},
}
"""Relative errors of llama.cpp's own quantizers (`ggml_quantize_chunk`, without an importance matrix) on `samples`, recorded."""


def errors(out, task, name, seed, store):
    x = samples(Random(seed))
    kinds = list(x)
    recorded = torch.tensor([LLAMA_CPP[name][kind] for kind in kinds])
    ours = torch.tensor([relative_error(x[kind], store(x[kind])) for kind in kinds])
    assert (ours < 1.02 * recorded).all(), f"{name}: the search misses its goal: {ours} against {recorded}"
    out.case(
        f"task_{task}_quantize/errors",
        seed=seed,
        why="gaussian weights, heavy tails, weights about 1.5, and weights of the embedded model",
        inputs={kind: torch.from_numpy(value).float() for kind, value in x.items()},
        outputs={"error": recorded},
        tolerance={"error": Tolerance(0.02, "at most 2 % above what llama.cpp's own quantizer loses; less is no fault", relative=True)},
        scalars={"kinds": kinds},
    )


# Tasks 1 and 2: reading, and Q6_K written


def reading_q4_k(out):
    r = out.random(2401)
    d, dmin, scales, minimums, codes = q4_k_parts(r, 3)
    packed = pack_q4_k(d, dmin, scales, minimums, codes)[:, 4:16]
    out.case(
        "task_1_scales/distinct",
        why="eight scales and eight minimums, all different, some above 15",
        inputs={"packed": packed},
        outputs={"scales": torch.from_numpy(scales).float(), "minimums": torch.from_numpy(minimums).float()},
    )
    whole = pack_q4_k(*q4_k_parts(r, 2, whole=True))
    random = r.integers(8, 144, high=256).numpy()
    random[:, :4] = finite_halves(r, 8, 2)
    x = embedded("model.layers.1.mlp.down_proj.weight").numpy().reshape(-1, 256)[:4].astype(np.float64)
    scale, minimum, _ = search(x.reshape(-1, 32), 15)
    (d, scales), (dmin, minimums) = share(scale.reshape(-1, 8), 63), share(minimum.reshape(-1, 8), 63)
    stored, less = (d[:, None] * scales).reshape(-1, 1), (dmin[:, None] * minimums).reshape(-1, 1)
    codes = np.clip(np.round((x.reshape(-1, 32) + less) / stored), 0, 15).astype(np.int64).reshape(-1, 256)
    model = pack_q4_k(d, dmin, scales.astype(np.int64), minimums.astype(np.int64), codes)
    for case, blocks, why in (
        ("whole", whole, "d and dmin are 1: each weight is a whole number"),
        ("random", ints(random), "random bytes with finite d and dmin of either sign and any size"),
        ("model", model, "weights of the embedded model"),
    ):
        golden = decode(blocks, "Q4_K")
        out.case(
            f"task_1_dequantize/{case}",
            why=why,
            inputs={"blocks": blocks},
            outputs={"weights": golden},
            tolerance={"weights": by_value()},
        )


def reading_q6_k(out):
    r = out.random(2402)
    whole = pack_q6_k(*q6_k_parts(r, 2, whole=True))
    random = r.integers(8, 210, high=256).numpy()
    random[:, 208:] = finite_halves(r, 8, 1)
    x = embedded("model.layers.1.mlp.down_proj.weight").numpy().reshape(-1, 256)[:4].astype(np.float64)
    scale = search_symmetric(x.reshape(-1, 16), 32).reshape(-1, 16)
    d = -scale[np.arange(len(scale)), np.abs(scale).argmax(1)] / 128
    scales = np.clip(np.round(scale / d[:, None]), -128, 127)
    stored = np.repeat(d.astype(np.float16).astype(np.float64)[:, None] * scales, 16, axis=1)
    model = pack_q6_k(d, scales.astype(np.int64), (np.clip(np.round(x / stored), -32, 31) + 32).astype(np.int64))
    for case, blocks, why in (
        ("whole", whole, "d is 1: each weight is a whole number"),
        ("random", ints(random), "random bytes with a finite d of either sign and any size"),
        ("model", model, "weights of the embedded model"),
    ):
        golden = decode(blocks, "Q6_K")
        out.case(
            f"task_2_dequantize/{case}",
            why=why,
            inputs={"blocks": blocks},
            outputs={"weights": golden},
            tolerance={"weights": by_value()},
        )


def writing_q6_k(out):
    r = out.random(2403)
    d, scales, codes = q6_k_parts(r, 6)
    x = decode(pack_q6_k(d, scales, codes), "Q6_K")
    out.case(
        "task_2_quantize/exact",
        why="weights that Q6_K can hold without any error, with scales of either sign",
        inputs={"x": x},
        outputs={"d": torch.from_numpy(d).float(), "scales": torch.from_numpy(scales).float(), "integers": torch.from_numpy(codes).float()},
    )
    errors(out, 2, "Q6_K", 2430, store_q6_k)


# Tasks 3 and 4: the search, and Q4_K written


def fitting(out):
    r = out.random(2404)
    n, size = 10, 32
    q = numbers(r, n, size, high=16).astype(np.float64)
    x = q * r.uniform(n, 1, low=0.05, high=0.4).numpy() - r.uniform(n, 1, low=0.3, high=2.0).numpy() + r.normal(n, size, std=0.1).numpy()
    x, w = x.astype(np.float32).astype(np.float64), importance(x.astype(np.float32).astype(np.float64)).astype(np.float32).astype(np.float64)
    q[7] = 15.0
    x[7] = np.abs(x[7])
    q[8] = 0.0
    x[9] = (0.2 * q[9] + 0.7).astype(np.float32)  # the best minimum is −0.7
    scale, minimum = fit(x, w, q)
    out.case(
        "task_3_fit/groups",
        why="codes and noise; in row 7 all codes are 15, in row 8 all are 0, in row 9 the best minimum would be negative",
        inputs={"x": torch.from_numpy(x).float(), "importance": torch.from_numpy(w).float(), "codes": torch.from_numpy(q).float()},
        outputs={"scale": torch.from_numpy(scale), "minimum": torch.from_numpy(minimum)},
        tolerance={
            "scale": Tolerance(2e-5, "sums of 32 products in float32, and a difference of products up to 30 times as large as itself"),
            "minimum": Tolerance(1e-4, "as the scale, times codes up to 15"),
        },
    )


def searching(out):
    r = out.random(2405)
    n, size = 24, 32
    x = r.normal(n, size).numpy().astype(np.float64)
    x[4:8] = x[4:8] ** 3 / 4
    x[8:12] += 1.5
    x[12:16] -= 2.0
    x[16:20] = np.abs(x[16:20])
    x[20, 3], x[21, 30] = 12.0, -9.0
    x = x.astype(np.float32).astype(np.float64)
    w = importance(x)
    def error(scale, minimum, top):
        q = np.clip(np.round((x + minimum[:, None]) / np.where(scale > 0, scale, 1)[:, None]), 0, top)
        return torch.from_numpy(np.sqrt((w * (scale[:, None] * q - minimum[:, None] - x) ** 2).sum(1) / w.sum(1)))

    for top in (15, 3):
        scale, minimum, _ = search(x, top)
        golden = error(scale, minimum, top)
        out.case(
            f"task_3_search/top_{top}",
            why="groups of 32: gaussian, heavy tails, about 1.5, about −2, none negative, and one weight far from the others",
            inputs={"x": torch.from_numpy(x).float()},
            outputs={"error": golden},
            tolerance={"error": Tolerance(0.005, "of two trials that are as good to within rounding either may win; more than the oracle's error is a fault, less is not", relative=True)},
            scalars={"top": top},
        )
    exact_scale = np.array([0.25, 1.5, 0.0625, 3.0])
    exact_min = np.array([0.0, 6.0, 0.5, 45.0])
    q = numbers(r, 4, size, high=16)
    q[:, 3], q[:, 17] = 0, 15
    x = exact_scale[:, None] * q - exact_min[:, None]
    x = np.concatenate((x, np.full((1, size), -0.75), np.zeros((1, size))))
    out.case(
        "task_3_search/exact",
        why="groups that can be stored without any error; row 4 is −0.75 throughout, row 5 is 0",
        inputs={"x": torch.from_numpy(x).float()},
        outputs={
            "scale": torch.tensor([*exact_scale, 0.0, 0.0]).double(),
            "minimum": torch.tensor([*exact_min, 0.75, 0.0]).double(),
        },
        tolerance={name: Tolerance(1e-4, "sums of 32 products in float32") for name in ("scale", "minimum")},
    )


def writing_q4_k(out):
    r = out.random(2406)
    d, dmin, scales, minimums, codes = q4_k_parts(r, 6)
    out.case(
        "task_4_pack/distinct",
        why="eight scales and eight minimums, all different, some above 15",
        inputs={"scales": ints(scales), "minimums": ints(minimums)},
        outputs={"packed": pack_q4_k(d, dmin, scales, minimums, codes)[:, 4:16].float()},
    )
    x = decode(pack_q4_k(d, dmin, scales, minimums, codes), "Q4_K")
    out.case(
        "task_4_quantize/exact",
        why="weights that Q4_K can hold without any error",
        inputs={"x": x},
        outputs={
            name: torch.from_numpy(value).float()
            for name, value in {"d": d, "dmin": dmin, "scales": scales, "minimums": minimums, "integers": codes}.items()
        },
    )
    constant = np.stack((np.zeros(256), np.full(256, -0.5), np.full(256, 0.75)))
    out.case(
        "task_4_quantize/constant",
        why="blocks of one value: 0, −0.5 and 0.75",
        inputs={"x": torch.from_numpy(constant).float()},
        outputs={"weights": torch.from_numpy(constant)},
        tolerance={"weights": Tolerance(5e-4, "d or dmin is rounded to half precision, 2^-11 of the value")},
    )
    errors(out, 4, "Q4_K", 2430, store_q4_k)


# Task 5: what a converter decides


def permuted(rows, n_heads):
    """Returns the order in which llama.cpp's converter writes rows: each head's two halves, interleaved."""
    return np.arange(rows).reshape(n_heads, 2, rows // n_heads // 2).swapaxes(1, 2).reshape(rows)


MORE_BITS = {
    5: [2, 4],
    9: [0, 3, 6, 7, 8],
    16: [0, 1, 4, 7, 10, 13, 14, 15],
    22: [0, 1, 4, 7, 10, 13, 16, 19, 20, 21],
    32: [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31],
}
"""The layers whose attn_v and ffn_down are Q6_K in llama.cpp's Q4_K_M, by the model's number of layers, recorded."""


def converting(out):
    for rows, n_heads in ((16, 2), (48, 3), (24, 1)):
        order = permuted(rows, n_heads)
        out.case(
            f"task_5_permute/{n_heads}_heads",
            why=f"{rows} rows of {n_heads} heads",
            outputs={"interleaved": torch.from_numpy(order).float(), "half_split": torch.from_numpy(np.argsort(order)).float()},
            scalars={"rows": rows, "n_heads": n_heads},
        )
    layers = sorted(MORE_BITS)
    grid = torch.zeros(len(layers), max(layers))
    for i, n in enumerate(layers):
        grid[i, MORE_BITS[n]] = 1
    out.case(
        "task_5_mix/more_bits",
        why="models of 5, 9, 16, 22 and 32 layers; 1 where llama.cpp spends more bits",
        outputs={"layers": grid},
        scalars={"n_layers": layers},
    )


# Task 6: writing GGUF


def values():
    """Returns metadata entries: name, type and value. Names are sorted, and come after `general.architecture`."""
    V = gguf.GGUFValueType
    return [
        ("k.a_u8", V.UINT8, 200), ("k.b_i8", V.INT8, -3), ("k.c_u16", V.UINT16, 65000), ("k.d_i16", V.INT16, -300),
        ("k.e_u32", V.UINT32, 4_000_000_000), ("k.f_i32", V.INT32, -70000), ("k.g_f32", V.FLOAT32, 0.1), ("k.h_true", V.BOOL, True),
        ("k.i_false", V.BOOL, False), ("k.j_text", V.STRING, "Grüße 世界"), ("k.k_empty", V.STRING, ""), ("k.l_u64", V.UINT64, 2**63 + 5),
        ("k.m_i64", V.INT64, -(2**40)), ("k.n_f64", V.FLOAT64, 1e-300),
    ]  # fmt: skip


def file_head(alignment):
    """Writes a file with the package. Returns its bytes before the data, each tensor's offset and size, and the start of each field."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gguf"
        writer = gguf.GGUFWriter(path, "llama")
        for name, kind, value in values():
            writer.add_key_value(name, value, kind)
        writer.add_array("k.o_texts", ["a", "", "ßé"])
        writer.add_array("k.p_floats", [0.5, -1.25, 3e38])
        writer.add_array("k.q_ints", [-1, 0, 7])
        writer.data_alignment = alignment
        for name, shape, kind in TENSORS:
            rows = int(np.prod(shape[:-1]))
            size = gguf.quant_shape_to_byte_shape(shape, T[kind])
            raw = np.zeros((rows, size[-1]), dtype=np.uint8).reshape(size)
            if kind == "F32":
                writer.add_tensor(name, np.zeros(shape, dtype=np.float32))
            else:
                writer.add_tensor(name, raw, raw_dtype=T[kind])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        data = path.read_bytes()
        # The metadata does not contain the alignment, so the reader gets it here.
        with mock.patch.object(gguf.GGUFReader, "alignment", alignment):
            reader = gguf.GGUFReader(path)
        start = reader.data_offset
        table = [(t.data_offset - start, t.n_bytes) for t in reader.tensors]
        return data[:start], table, fields(reader)


def fields(reader):
    """Returns the start and the name of each field before a file's data."""
    counts = {"GGUF.version": "version", "GGUF.tensor_count": "number of tensors", "GGUF.kv_count": "number of metadata entries"}
    found = [[0, "magic"]]

    def follow(at, parts, names):
        for part, name in zip(parts, names, strict=False):
            found.append([at, name])
            at += part.nbytes
        return at

    for name, field in reader.fields.items():
        if name in counts:
            found.append([field.offset, counts[name]])
        else:
            follow(field.offset, field.parts[:4], [f"{part} {name}" for part in ("length of the key", "key", "type of", "value of")])
    end = 0
    for tensor in reader.tensors:
        names = ("length of the name", "name", "number of axes", "axes", "type", "offset")
        end = follow(tensor.field.offset, tensor.field.parts, [f"{part} of tensor {tensor.name}" for part in names])
    return [*found, [end, "zeros behind the table"]]


TENSORS = [
    ("token_embd.weight", (5, 64), "Q4_0"), ("blk.0.attn_norm.weight", (3,), "F32"), ("blk.0.attn_q.weight", (3, 256), "Q4_K"),
    ("blk.0.ffn_down.weight", (2, 512), "Q6_K"), ("blk.0.ffn_norm.weight", (8,), "F32"), ("output_norm.weight", (7,), "F32"), ("output.weight", (5, 32), "Q8_0"),
]  # fmt: skip


def writing_files(out):
    # With alignment 32, one tensor ends at a multiple of the alignment. With 8, three do, and so does the table.
    for case, alignment in (("file", 32), ("file_of_8", 8)):
        head, table, fields = file_head(alignment)
        assert any((offset + size) % alignment == 0 for offset, size in table[:-1]) and (len(head) == fields[-1][0]) == (alignment == 8)
        out.case(
            f"task_6_write/{case}",
            why=f"a file with a value of each type and seven tensors, aligned to {alignment}, as the gguf package writes it",
            outputs={
                "head": torch.tensor(list(head)).float(),
                "offsets": torch.tensor([offset for offset, _ in table]).float(),
                "sizes": torch.tensor([size for _, size in table]).float(),
            },
            scalars={"alignment": alignment, "fields": fields, "tensors": [[name, list(shape), kind] for name, shape, kind in TENSORS]},
        )
