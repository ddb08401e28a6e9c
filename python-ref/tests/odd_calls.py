"""Odd calls of all bindings: wrong shapes and types, NaN and infinities, sizes of 0 and of terabytes, negative numbers, strides.

Every binding is called with valid arguments, of which one to three are made odd. It must either raise ValueError, TypeError or
MemoryError, or return what NumPy returns in float32 or in float64. It must not panic or end the process.

    python python-ref/tests/odd_calls.py --seed 1 --calls 2000

The last line has the counts. Each call is printed to standard error before it is made, so the last one printed is the one that
ended the process.
"""

import argparse
import json
import math
import random
import struct
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

# Makes this file run as a program.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import oracle.week1_day1 as day1
import oracle.week1_day2 as day2
import oracle.week1_day3 as day3
import oracle.week1_day4 as day4
import oracle.week1_day5 as day5
import oracle.week1_day7 as day7
import tiny_llm
import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants
from live import q8_0
from oracle.fixtures import Random
from oracle.week2_day4 import permuted

REFUSALS = (ValueError, TypeError, MemoryError)


class NoAnswer(Exception):
    """The oracle has no answer, so the call must be rejected."""


def need(condition):
    if not condition:
        raise NoAnswer


# What goes in ---------------------------------------------------------------------------------------------------------------------


class Valid:
    """A source of random valid arguments."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(self.random.getrandbits(60))

    def size(self, low=1, high=5):
        return self.random.randint(low, high)

    def floats(self, *shape):
        return self.numpy.standard_normal(shape).astype(np.float32)

    def ids(self, high, *shape):
        return self.numpy.integers(high, size=shape)

    def choice(self, *options):
        return self.random.choice(options)


def odd_floats(r, x):
    x = np.asarray(x)
    return r.choice(
        lambda: x.T if x.ndim > 1 else x[None],
        lambda: x[None],
        lambda: x[..., None],
        lambda: x[0] if x.ndim else x,
        lambda: np.concatenate([x, x], axis=r.randrange(x.ndim)),
        lambda: np.take(x, range(max(x.shape[-1] - 1, 0)), axis=-1),
        lambda: np.take(x, [], axis=r.randrange(x.ndim)),
        lambda: np.moveaxis(x, 0, -1),
        lambda: x.reshape((1,) * (33 - x.ndim) + x.shape),
        lambda: x.reshape((1,) * (32 - x.ndim) + x.shape),
        lambda: x.reshape(-1),
        lambda: np.broadcast_to(np.float32(1), (1 << 20, 1 << 20)),
        lambda: np.broadcast_to(np.float32(1), x.shape[:-1] + (1 << 36,)),
        lambda: with_value(r, x, r.choice((math.nan, math.inf, -math.inf, 1e38, -1e38, 1e-42, 0.0, -0.0, 1e19))),
        lambda: with_value(r, x.astype(np.float64), r.choice((1e300, -1e39))),
        lambda: np.full_like(x, r.choice((0.0, -math.inf, 3e38, 70_000.0, 1e-44))),
        lambda: np.repeat(x, 2, axis=-1)[..., ::2],
        lambda: x[::-1],
        lambda: x[..., ::-1],
        lambda: np.asfortranarray(x),
        lambda: x.astype(r.choice(("f8", "f2", ">f4", "i2", "u1", "i8", "longdouble"))),
        lambda: x.astype(r.choice(("?", "c8", "U4", "O", "M8[s]", "V4"))),
        lambda: x.tolist(),
        lambda: torch.tensor(x.copy()),
        lambda: torch.tensor(x.copy()).bool(),
        lambda: frozen(x),
        lambda: None,
        lambda: r.choice((3, 2.5, "text", b"bytes", [], [[]], {}, {1: 2}, [[1.0], [1.0, 2.0]], object(), iter([1.0]), math.nan)),
    )()


def with_value(r, x, value):
    x = np.array(x)
    if x.size:
        x.reshape(-1)[r.randrange(x.size)] = value
    return x


def frozen(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def odd_ids(r, x):
    x = np.asarray(x)
    return r.choice(
        lambda: with_value(r, x, r.choice((-1, 1 << 20, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, -(1 << 63)))),
        lambda: with_value(r, x.astype(np.uint64), (1 << 64) - 1),
        lambda: x.astype(r.choice(("f4", "?", "U3", "i1", "u2", ">i8", "O"))),
        lambda: x[..., :0],
        lambda: x[None],
        lambda: x[0],
        lambda: x[..., ::-1],
        lambda: np.repeat(x, 3, axis=-1),
        lambda: x.tolist(),
        lambda: torch.tensor(x.copy()),
        lambda: np.broadcast_to(np.int64(0), (1 << 40,) + x.shape),
        lambda: r.choice((None, 3, "ab", [1.5], [[1], [1, 2]], [10**30])),
    )()


HUGE = (1 << 16, 1 << 20, 1 << 31, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 1 << 200)


def odd_int(r, n):
    negative = (-1, -7, -(1 << 40), -(1 << 63), -(1 << 90))
    no_int = (2.0, 2.5, math.nan, "3", None, [1], 1j, np.float32(2))
    return r.choice((0, 1, n + 1, n - 1, 2 * n, True, np.int64(n), np.uint8(1), *HUGE, *negative, *no_int))


def odd_float(r, x):
    return r.choice((math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 2.0, 1e300, 1e-300, 1e39, 1e-40, 3, True, 10**400, "1", None, 1j, [1.0]))


def odd_text(r, text):
    return r.choice(("", text.lower(), text + "\0", "Q9_9", "é" * 50, b"F32", None, 3, text * 2, "F32", "Q8_0", "integer", "naive", "\ud800"))


def odd_bytes(r, data):
    return r.choice((b"", data[:-1], data + b"\0", data * 2, data[::-1], bytearray(data), memoryview(data), list(data), "text", None, data[:1], bytes(len(data)), b"\xff" * len(data)))


def odd_list(r, items):
    items = list(items)
    odd_item = lambda: [*items[:-1], odd(r, items[-1])] if items else [None]
    return r.choice((lambda: [], lambda: items[:-1], lambda: items + items[-1:], lambda: items[::-1], lambda: tuple(items), lambda: iter(items), odd_item, odd_item, lambda: None, lambda: 3, lambda: "ab", lambda: dict(enumerate(items)), lambda: [items]))()


def odd(r, value):
    """Returns an odd variant of `value`, a valid argument."""
    if isinstance(value, (np.ndarray, torch.Tensor)):
        return (odd_ids if value.dtype.kind in "iu" else odd_floats)(r, value)
    if isinstance(value, bool):
        return r.choice((not value, 0, "yes", None, 2))
    if isinstance(value, int):
        return odd_int(r, value)
    if isinstance(value, float):
        return odd_float(r, value)
    if isinstance(value, str):
        return odd_text(r, value)
    if isinstance(value, bytes):
        return odd_bytes(r, value)
    if isinstance(value, tuple):
        return r.choice((lambda: tuple(odd(r, item) for item in value), lambda: value[:-1], lambda: value + (1,), lambda: list(value)))()
    if isinstance(value, list):
        return odd_list(r, value)
    if value is None:
        return r.choice((0, "none", np.zeros(3), math.nan))
    return r.choice((None, 0, "F32", value.value if hasattr(value, "value") else 1, tiny_llm.student.week2.cache.CacheType.F16))


# What should come out ---------------------------------------------------------------------------------------------------------------


def array(x, axes=None, kind=float):
    """Reads an argument with NumPy, in the current precision. Raises `NoAnswer` if it is not an array of numbers."""
    try:
        x = np.asarray(x)
    except Exception:
        raise NoAnswer from None
    need(x.size == 0 or x.dtype.kind in ("fiu" if kind is float else "iu"))
    need(0 < x.ndim <= 32 and (axes is None or x.ndim == axes))
    need(x.size < 1 << 27)
    if kind is int:
        need(((x >= 0) & (x < 1 << 32)).all())
        return x.astype(np.int64)
    with np.errstate(all="ignore"):
        single = x.astype(np.float32)
    need((np.isinf(single) == np.isinf(x)).all())
    return single.astype(PRECISION)


PRECISION = np.float64
"""The precision of the oracle's arithmetic. `answers` sets it to float64, then to float32."""


def whole(n, low=0, high=1 << 27):
    need(isinstance(n, (int, np.integer)))
    need(low <= n < high)
    return int(n)


def positive(n):
    return whole(n, 1)


def real(x):
    """Reads a number as f32, which is what a solution gets."""
    with np.errstate(all="ignore"):
        x = np.float32(finite(x))
    need(np.isfinite(x))
    return float(x)


def finite(x):
    need(isinstance(x, (int, float, np.floating, np.integer)))
    try:
        x = float(x)
    except OverflowError:
        raise NoAnswer from None
    need(math.isfinite(x))
    return x


def takes(*kinds):
    """Returns a decorator that turns a function of tensors into an oracle for odd arguments. `kinds` says how to read each argument:
    a function, or the letters of an array's axes as in the bridge's docs, or for a size, a pair of its letter and a function.
    "?" marks an optional array, "~" one that broadcasts to the axes."""

    def oracle_of(function):
        def oracle(*arguments):
            sizes, read = {"...": ()}, []
            for kind, argument in zip(kinds, arguments, strict=True):
                if isinstance(kind, tuple):
                    sizes[kind[0]] = kind[1](argument)
                    read.append(sizes[kind[0]])
                elif callable(kind):
                    read.append(kind(argument))
                elif argument is None and "?" in kind:
                    read.append(None)
                else:
                    read.append(lettered(argument, kind, sizes))
            found = function(*read)
            return found.numpy() if torch.is_tensor(found) else found

        return oracle

    return oracle_of


def lettered(x, kind, sizes):
    """Reads an array whose axes have the letters in `kind`. The first array with a letter sets the letter's size, which is not 0."""
    x, letters = array(x), kind.strip("?~").split()
    if "~" in kind:
        broadcast(x.shape, shape := [n for letter in letters for n in ([sizes[letter]] if letter != "..." else sizes["..."])], shape)
        return torch.from_numpy(x)
    named = [letter for letter in letters if letter != "..."]
    lead = x.ndim - len(named)
    need(lead >= 0 if "..." in letters else lead == 0)
    for letter, size in zip(named, x.shape[lead:]):
        need(size > 0 and sizes.setdefault(letter, size) == size)
    if "..." in letters:
        sizes["..."] = broadcast(x.shape[:lead], sizes["..."])
    return torch.from_numpy(x)


def broadcast(shape, other, expected=None):
    try:
        both = np.broadcast_shapes(tuple(shape), tuple(other))
    except ValueError:
        raise NoAnswer from None
    need(expected is None or both == tuple(expected))
    return both


def optional(kind):
    return lambda x: None if x is None else kind(x)


def as_given(x):
    return x


def ids(axes):
    return lambda x: torch.from_numpy(array(x, axes, int))


def softmax(x):
    return day1.softmax(torch.from_numpy(x)).numpy()


@takes("B L W", positive)
def o_split(x, heads):
    need(x.shape[2] % heads == 0)
    return day1.split_heads(x, heads)


@takes(("H", positive), "W E", "W E", "W E", "E W", "B L E", "B S E", "B S E", "?~B H L S")
def o_mha(n_heads, q_proj, k_proj, v_proj, o_proj, query, key, value, mask):
    need(len(q_proj) % n_heads == 0)
    weights = {"q_proj": q_proj, "k_proj": k_proj, "v_proj": v_proj, "o_proj": o_proj}
    return day1.multi_head_attention(query, key, value, mask, n_heads=n_heads, **weights)


@takes(lambda n: whole(n, 2, 1 << 24), real)
def o_frequencies(head_dim, base):
    need(head_dim % 2 == 0 and base > 0)
    return day2.inverse_frequencies(head_dim, base)


def o_rope(form):
    @takes("... L D", "P D/2", "P D/2", whole)
    def rope(x, cos, sin, offset):
        need(x.shape[-1] == 2 * cos.shape[1] and offset + x.shape[-2] <= len(cos))
        return getattr(day2, f"rope_{form}")(x, cos, sin, offset)

    return rope


@takes("B H L D", "P D/2", "P D/2", ids(2), as_given)
def o_rope_at(x, cos, sin, positions, form):
    need(isinstance(form, W1.rope.RopeForm) and x.shape[-1] == 2 * cos.shape[1])
    need(positions.shape == (x.shape[0], x.shape[2]) and (positions < len(cos)).all())
    return day2.rope_at_positions(x, cos, sin, positions, form.value.replace("-", "_"))


@takes("D/2", lambda n: whole(n, 0, 1 << 22))
def o_tables(frequencies, n):
    return [table.numpy() for table in day2.rope_tables(frequencies.float(), n)]


@takes("R E", positive)
def o_reorder(weight, heads):
    need(len(weight) % (2 * heads) == 0)
    return day2.half_split_to_interleaved(weight, heads)


@takes("B H_q L D", "B H S D", "B H S D", optional(real), "?~B H_q L S")
def o_gqa(q, k, v, scale, mask):
    need(q.shape[1] % k.shape[1] == 0)
    return day3.grouped_query_attention(q, k, v, scale, mask)


@takes(whole, whole)
def o_causal(length, keys):
    need(length <= keys and length * keys < 1 << 27)
    return day3.causal_mask(length, keys)


GQA_LAYER = ["Q E", "K E", "K E", "E Q", "?Q", "P D/2", "P D/2", "?D", real, "B L E", "?~B H_q L L"]


@takes(("H_q", positive), ("H", positive), *GQA_LAYER)
def o_gqa_layer(n_heads, n_kv_heads, q, k, v, o, bias, cos, sin, q_norm, eps, x, mask):
    d = len(q) // n_heads
    need(len(q) == n_heads * d and n_heads % n_kv_heads == 0 and len(k) == n_kv_heads * d)
    need(2 * cos.shape[1] == d and x.shape[1] <= len(cos) and (q_norm is None or len(q_norm) == d))
    norm = lambda heads: day4.rms_norm(heads.double(), 1.0, eps).to(x.dtype) * q_norm
    return day3.grouped_query_attention_layer(
        x, mask, n_heads=n_heads, n_kv_heads=n_kv_heads, q_proj=q, k_proj=k, v_proj=v, o_proj=o, q_bias=bias, cos=cos, sin=sin,
        q_norm=None if q_norm is None else norm,
    )  # fmt: skip


@takes("V E", ids(2))
def o_embedding(weight, tokens):
    need((tokens < len(weight)).all())
    return weight[tokens]


def logits_of(x):
    x = array(x, 1)
    need(len(x) > 0 and not np.isnan(x).any() and not np.isposinf(x).any())
    return x


def o_argmax(logits):
    logits = array(logits, 1)
    need(len(logits) > 0 and not np.isnan(logits).any())
    return int(logits.argmax())


def o_temperature(logits, t):
    logits, t = logits_of(logits), real(t)
    need(0 <= t < math.inf)
    if t == 0:
        return np.where(np.arange(len(logits)) == logits.argmax(), logits, -np.inf)
    with np.errstate(over="ignore"):
        shaped = (logits / t).astype(np.float32)
    need((np.isfinite(shaped) == np.isfinite(logits)).all())
    return logits / t


def keep(logits, kept):
    return np.where(np.isin(np.arange(len(logits)), list(kept)), logits, -np.inf)


def descending(logits):
    return sorted(range(len(logits)), key=lambda i: -logits[i])


def o_top_k(logits, k):
    logits, k = logits_of(logits), whole(k, 0, 1 << 64)
    return keep(logits, descending(logits)[: k or None])


def o_top_p(logits, p):
    logits, p = logits_of(logits), real(p)
    need(p >= 0)
    if p >= 1:
        return logits
    kept, mass = [], 0.0
    for i in descending(logits):
        if kept and mass >= p:
            break
        kept.append(i)
        mass += softmax(logits)[i]
    return keep(logits, kept)


def o_min_p(logits, p):
    logits, p = logits_of(logits), real(p)
    need(0 <= p <= 1)
    with np.errstate(invalid="ignore"):
        gone = np.exp(logits - logits.max()) < p
    return np.where(gone, -np.inf, logits)


def o_penalty(logits, seen, penalty):
    logits, seen, penalty = logits_of(logits).copy(), array(seen, 1, int), real(penalty)
    need((seen < len(logits)).all() and 0 < penalty < math.inf)
    for i in set(seen.tolist()):
        logits[i] = logits[i] / penalty if logits[i] > 0 else logits[i] * penalty
    return logits


def o_draw(logits, uniform):
    logits = logits_of(logits)
    need(0 <= finite(uniform) < 1 and np.isfinite(logits).any())
    return int((softmax(logits).cumsum() > uniform).argmax())


def o_rng(seed):
    return day7.splitmix64(whole(seed, 0, 1 << 64), 3)


def o_stream(data):
    need(isinstance(data, bytes))
    return data.decode("utf-8", "replace")


def o_to_f32(data, dtype, shape):
    need(isinstance(data, bytes) and isinstance(shape, (list, tuple)) and all(isinstance(n, (int, np.integer)) and 0 <= n for n in shape))
    need(dtype in ("F32", "F16", "BF16") and len(data) == math.prod(shape) * (4 if dtype == "F32" else 2))
    if dtype == "BF16":
        return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return np.frombuffer(data, "<f4" if dtype == "F32" else "<f2").reshape(shape)


def o_generate(prompt, new, context, stop):
    prompt, new, context = array(prompt, 1, int).tolist(), whole(new, 0, 1 << 64), whole(context, 0, 1 << 64)
    need(isinstance(stop, set) and all(0 <= whole(t, 0, 1 << 32) for t in stop) and 0 < len(prompt) <= context)
    made = []
    while len(made) < min(new, context - len(prompt), 40):
        token = (sum(prompt) + len(made)) % 7
        if token in stop:
            break
        made.append(token)
    return made


@takes("G D", "S D", "S D", as_given, real)
def o_two_pass(q, keys, values, lengths, scale):
    need(isinstance(lengths, (list, tuple)) and sum(map(positive, lengths)) == len(keys))
    return day1.scaled_dot_product_attention(q, keys, values, scale)


def cache_round(x, cache_type):
    if cache_type == CT.Q8_0:
        return q8_0(x)
    with np.errstate(over="ignore"):
        return x.astype(np.float16).astype(PRECISION) if cache_type == CT.F16 else x


def pairs_of(runs, cache_type, d):
    need(isinstance(runs, (list, tuple)) and runs and isinstance(cache_type, CT))
    pairs = []
    for run in runs:
        need(isinstance(run, tuple) and len(run) == 2)
        k, v = array(run[0], 2), array(run[1], 2)
        need(k.shape == v.shape and k.shape[1] == d and len(k) > 0)
        pairs.append([torch.from_numpy(cache_round(x, cache_type)) for x in (k, v)])
    return map(torch.cat, zip(*pairs))


@takes("G D", as_given, real, as_given)
def o_streaming(q, runs, scale, cache_type):
    need(q.shape[0] <= 16 and q.shape[1] <= 256)
    return day1.scaled_dot_product_attention(q, *pairs_of(runs, cache_type, q.shape[1]), scale)


@takes("G D", as_given, as_given, real, as_given, as_given)
def o_block(q, visible, runs, scale, cache_type, start):
    need(q.shape[0] <= 128 and q.shape[1] <= 256)
    keys, values = pairs_of(runs, cache_type, q.shape[1])
    need(isinstance(visible, (list, tuple)) and len(visible) == len(q))
    start, rows = whole(start, 0, 1 << 63), []
    for row, seen in zip(q, visible):
        need(isinstance(seen, tuple) and len(seen) == 2)
        first, end = (whole(n, start, start + len(keys) + 1) - start for n in seen)
        need(first < end)
        rows.append(day1.scaled_dot_product_attention(row[None], keys[first:end], values[first:end], scale)[0])
    return torch.stack(rows)


def o_absorb(scores):
    scores = array(scores, 1)
    need(not np.isnan(scores).any() and not np.isposinf(scores).any())
    top = scores.max(initial=-np.inf)
    return np.zeros_like(scores) if np.isneginf(top) else np.exp(scores - top)


def o_cache(layers, sequences, heads, capacity, d, cache_type, layer, sequence, position, keys, values, head):
    sizes = [whole(n, 1, 1 << 40) for n in (layers, sequences, heads, capacity, d)]
    need(isinstance(cache_type, CT) and math.prod(sizes) < 1 << 29)
    keys, values = array(keys, 2), array(values, 2)
    need(keys.shape == values.shape == (sizes[2], sizes[4]))
    head = whole(head)
    need(whole(layer) < sizes[0] and whole(sequence) < sizes[1] and whole(position) < sizes[3] and head < sizes[2])
    return cache_round(keys, cache_type)[head], cache_round(values, cache_type)[head]


def block_of(name):
    need(isinstance(name, str) and name.upper() in TYPES)
    return GGML_QUANT_SIZES[GGMLQuantizationType[name.upper()]]


def decode(name, data):
    with np.errstate(all="ignore"):
        return quants.dequantize(np.frombuffer(data, np.uint8), GGMLQuantizationType[name.upper()]).astype(np.float64)


def o_dequantize(name, data):
    _, size = block_of(name)
    need(isinstance(data, bytes) and len(data) % size == 0)
    return decode(name, data) if data else np.zeros(0)


def storable(name, x):
    length, _ = block_of(name)
    x = array(x, 1)
    need(len(x) > 0 and len(x) % length == 0 and np.isfinite(x).all())
    need(name.upper() in ("F32", "BF16") or (np.abs(x) <= 65504).all())
    return x


LOSSES = {"F32": 0, "F16": 1e-3, "BF16": 1e-2, "Q8_0": 0.02, "Q6_K": 0.08, "Q5_0": 0.12, "Q5_1": 0.12, "Q5_K": 0.12, "Q4_0": 0.2, "Q4_1": 0.2, "Q4_K": 0.2, "Q3_K": 0.5, "Q2_K": 0.8}
"""The largest allowed error of each type, as a fraction of the row's largest number."""


def o_quantize(name, x):
    """Returns the row `x`, to which the quantized bytes must be as close as the type allows."""
    return storable(name, x)


def c_quantize(found, expected, name, x):
    back = decode(name, found)
    assert back.shape == expected.shape
    largest = np.abs(expected).max()
    worst = np.abs(back - expected).max()
    assert worst <= LOSSES[name.upper()] * largest + 1e-6 * (largest < 1), f"{worst} of {largest} lost"


@takes("n", "n")
def o_rms(x, y):
    return float(((x.double() - y) ** 2).mean().sqrt())


@takes("n", "n")
def o_relative(x, y):
    error = ((x.double() - y) ** 2).mean().sqrt()
    return float(error / (x.double() ** 2).mean().sqrt()) if error else 0.0


def o_activations(x, per_scale):
    x, per_scale = array(x, 1), whole(per_scale)
    need(len(x) > 0 and np.isfinite(x).all() and per_scale in (32, 256))
    return x


def c_activations(found, expected, x, per_scale):
    values, sums, scales = (np.asarray(part, np.float64) for part in found)
    super_blocks = -(-len(expected) // 256)
    assert values.shape == (super_blocks, 256) and sums.shape == (super_blocks, 16) and scales.shape == (super_blocks, 8)
    back = (values * scales.repeat(32, 1)).reshape(-1)
    padded = np.zeros(super_blocks * 256)
    padded[: len(expected)] = expected
    steps = np.abs(padded.reshape(-1, int(per_scale))).max(-1).repeat(int(per_scale)) / 127
    assert (np.abs(back - padded) <= 0.5001 * steps + 1e-36).all(), "a value is more than half a step away"
    assert (sums == values.reshape(super_blocks, 16, 16).sum(-1)).all()


def o_matmul(rung, name, rows, x, threads):
    length, size = block_of(name)
    need(isinstance(rung, str) and rung in W2.kernels.rungs() and isinstance(rows, (list, tuple)) and rows)
    x, _ = array(x, 2), whole(threads, 1, 257)
    need(0 not in x.shape and x.shape[1] % length == 0 and np.isfinite(x).all())
    need(all(isinstance(row, bytes) and len(row) == x.shape[1] // length * size for row in rows))
    return x @ np.stack([decode(name, row) for row in rows]).T


def c_matmul(found, expected, rung, name, rows, x, threads):
    x = array(x, 2)
    assert found.shape == expected.shape
    # On integer rungs, an activation is off by up to half a step, 1/254 of the row's largest.
    with np.errstate(all="ignore"):
        weights = np.stack([np.abs(decode(name, row)).sum() for row in rows])
        allowed = np.abs(x).max(-1, keepdims=True) * weights / (200 if rung not in ("naive", "fused") else 1e4) + 1e-30
        # Compares only where intermediate results fit into float32.
        fits = allowed * 1e5 < 3e38
        assert (np.abs(found - expected) <= allowed)[fits & np.isfinite(expected)].all()


def o_work(tensors):
    need(isinstance(tensors, (list, tuple)))
    total, products, tied = 0, 0, True
    sizes = []
    for tensor in tensors:
        need(isinstance(tensor, tuple) and len(tensor) == 3)
        name, shape, kind = tensor
        length, size = block_of(kind)
        need(isinstance(name, str) and isinstance(shape, (list, tuple)) and shape)
        shape = [whole(n, 1, 1 << 64) for n in shape]
        need(shape[-1] % length == 0)
        sizes.append((name, shape, math.prod(shape) // length * size))
        need(sizes[-1][2] < 1 << 64)
        tied &= name != "output.weight"
    need(sum(size for *_, size in sizes) < 1 << 64 and sum(math.prod(shape) for _, shape, _ in sizes) < 1 << 64)
    for name, shape, size in sizes:
        if len(shape) == 2:
            once = name == "token_embd.weight" and not tied
            total += size // shape[0] if once else size
            products += 0 if once else math.prod(shape)
    return total, products


def o_machine(bandwidth, operations, work, rows):
    bandwidth, operations = finite(bandwidth), finite(operations)
    need(bandwidth > 0 and operations > 0 and isinstance(work, tuple) and len(work) == 2)
    read, products = (whole(n, 1, 1 << 64) for n in work)
    rows = whole(rows, 0, 1 << 64)
    with np.errstate(all="ignore"):
        reading, computing = np.float64(read) / bandwidth, 2 * np.float64(products) / operations
        seconds = max(reading, computing * rows)
        return seconds, np.float64(rows) / seconds, reading / computing


def o_permute(rows, heads):
    rows, heads = whole(rows, 1, 1 << 24), whole(heads, 1)
    need(rows % (2 * heads) == 0)
    return permuted(rows, heads)


def o_more_bits(layer, layers):
    layers = whole(layers, 1, 1 << 20)
    layer = whole(layer, 0, layers)
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def o_data_start(position, alignment):
    position, alignment = whole(position, 0, 1 << 64), whole(alignment, 1, 1 << 64)
    need(alignment & (alignment - 1) == 0)
    start = -(-position // alignment) * alignment
    need(start < 1 << 64)
    return start


def o_file(metadata, tensors, alignment):
    need(isinstance(metadata, (list, tuple)) and isinstance(tensors, (list, tuple)))
    alignment = whole(alignment, 1, (1 << 20) + 1)
    need(alignment & (alignment - 1) == 0)
    for entry in metadata:
        need(isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str))
        value = entry[1]
        texts = isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value)
        need(texts or isinstance(value, (bool, int, float, str, np.floating, np.integer)))
        need(not isinstance(value, int) or -(1 << 63) <= value < 1 << 63)
    need(len({key for key, _ in metadata}) == len(metadata))
    for tensor in tensors:
        need(isinstance(tensor, (tuple, list)) and len(tensor) == 4)
        name, shape, kind, data = tensor
        length, size = block_of(kind)
        need(isinstance(name, str) and isinstance(shape, (list, tuple)) and 1 <= len(shape) <= 4)
        shape = [whole(n, 1, 1 << 64) for n in shape]
        data = bytes(data) if isinstance(data, (bytes, bytearray, list, memoryview)) else need(False)
        need(shape[-1] % length == 0 and len(data) == math.prod(shape) // length * size)
    need(len({name for name, *_ in tensors}) == len(tensors))
    return dict(metadata), {name: bytes(data) for name, _, _, data in tensors}


def c_file(found, expected, metadata, tensors, alignment):
    metadata, tensors = expected
    found_metadata, found_tensors = found
    assert found_tensors == tensors, "other bytes"
    for key, value in metadata.items():
        value = list(value) if isinstance(value, tuple) else value
        assert found_metadata[key] == value or value != value, f"{key}: {found_metadata[key]!r}, not {value!r}"


# Bindings --------------------------------------------------------------------------------------------------------------------------

W1, W2 = tiny_llm.reference.week1, tiny_llm.reference.week2
CT = W2.cache.CacheType
TYPES = [name for name in LOSSES]
FOLDER = Path(tempfile.mkdtemp())


def layer(n_heads, n_kv_heads, q, k, v, o, bias, cos, sin, q_norm, eps, x, mask):
    linear = W1.gqa.Linear
    rope = W1.rope.RopeTables.from_arrays(cos, sin)
    attention = W1.gqa.GroupedQueryAttention(n_heads, n_kv_heads, linear(q, bias), linear(k), linear(v), linear(o), rope, q_norm, norm_eps=eps)
    return attention.forward(x, mask)


def rng(seed):
    rng = W1.sampling.Rng(seed)
    return [rng.next_u64() for _ in range(3)]


def stream(data):
    stream = W1.stream.TextStream()
    return stream.push(data) + stream.finish()


def week1_generate(prompt, new, context, stop):
    made = []

    def choose(logits, tokens):
        return (sum(tokens[: len(tokens) - len(made)]) + len(made)) % 7

    def on_token(token):
        made.append(token)
        return len(made) == 40

    W1.generate.generate(lambda tokens: np.zeros(7), prompt, W1.generate.Limits(new, context, stop), choose, on_token)
    return made


def cached(layers, sequences, heads, capacity, d, cache_type, layer, sequence, position, keys, values, head):
    cache = W2.cache.DenseCache(layers, sequences, heads, capacity, d, cache_type)
    cache.write(layer, sequence, position, keys, values)
    keys, values = cache.run(layer, sequence, head, 0, int(position) + 1)
    return keys[-1], values[-1]


def machine(bandwidth, operations, work, rows):
    machine = W2.roofline.Machine(bandwidth, operations)
    return machine.seconds(work, rows), machine.tokens_per_second(work, rows), machine.balanced_rows(work)


def written(metadata, tensors, alignment):
    path = FOLDER / "written.gguf"
    W2.writer.write_file(path, metadata, tensors, alignment)
    gguf = W2.gguf.Gguf.open(path)
    data = {name: gguf.bytes_of(name) for name, *_ in gguf.tensors()}
    return {key: value for key, (_, value) in gguf.metadata()}, data


CONFIG = dict(
    model_type="llama", hidden_act="silu", hidden_size=8, intermediate_size=12, num_hidden_layers=2, num_attention_heads=2,
    num_key_value_heads=1, head_dim=4, vocab_size=11, max_position_embeddings=20, rms_norm_eps=1e-5, tie_word_embeddings=True,
    attention_bias=False, rope_theta=100.0, eos_token_id=1,
)  # fmt: skip


WEIGHTS = day5.draw_model(Random(7), CONFIG)
KIT = tiny_llm.kit.ModelConfig.from_json(json.dumps(CONFIG))
MODEL1, MODEL2 = W1.model.Model.build(KIT, WEIGHTS), W2.model.Model.build(KIT, WEIGHTS)


def decoder(tokens):
    """Returns logits `[L, V]` of one sequence."""
    dtype = torch.float64 if PRECISION is np.float64 else torch.float32
    weights = {name: weight.to(dtype) for name, weight in WEIGHTS.items()}
    return day5.decoder(CONFIG, weights, torch.as_tensor(tokens)[None])[0].numpy()


def checked_tokens(tokens, axes):
    tokens = array(tokens, axes, int)
    need(0 < tokens.shape[-1] <= 20 and len(tokens) > 0 and (tokens < 11).all())
    return tokens


def o_model1(tokens):
    return np.stack([decoder(row) for row in checked_tokens(tokens, 2)])


def o_next(tokens):
    return decoder(checked_tokens(tokens, 1))[-1]


def o_feed(tokens, chunk, context, cache_type):
    tokens, context = checked_tokens(tokens, 1), whole(context, 1, 1 << 64)
    whole(chunk, 0, 1 << 64)
    need(len(tokens) <= context and isinstance(cache_type, CT))
    return decoder(tokens)[-1]


def c_feed(found, expected, tokens, chunk, context, cache_type):
    # In half precision, keys and values have 11 bits.
    allowed = {CT.F32: 1e-3, CT.F16: 0.03, CT.Q8_0: 0.1}[cache_type] * np.abs(expected).max(initial=0)
    assert found.shape == expected.shape and (np.abs(found - expected) <= allowed).all(), f"{found}, not {expected}"


def session_feed(tokens, chunk, context, cache_type):
    return W2.generate.Session(MODEL2, context, cache_type).feed(tokens, chunk)


def session_generate(first, prompt, chunk, new, context):
    session = W2.generate.Session(MODEL2, context)
    session.feed(first, chunk)
    return session.generate(prompt, chunk, new, lambda logits, tokens: len(tokens) % 11)


def o_session_generate(first, prompt, chunk, new, context):
    first, prompt = checked_tokens(first, 1).tolist(), checked_tokens(prompt, 1).tolist()
    chunk, new, context = whole(chunk, 0, 1 << 64), whole(new, 0, 1 << 64), whole(context, 1, 1 << 64)
    context = min(context, 20)
    need(len(first) <= context and len(prompt) <= context)
    return [n % 11 for n in range(len(prompt), min(context, len(prompt) + new))]


def c_rows(found, expected, passes, sequences, cache_type):
    c_feed(found, expected, None, None, None, cache_type)


def o_rows(passes, sequences, cache_type):
    sequences = whole(sequences, 1, 1 << 64)
    need(isinstance(cache_type, CT) and isinstance(passes, (list, tuple)))
    seen, out = {}, []
    for rows in passes:
        need(isinstance(rows, (list, tuple)) and rows)
        for row in rows:
            need(isinstance(row, tuple) and len(row) == 4 and isinstance(row[3], (bool, np.bool_)))
            token, position, sequence = (whole(n, 0, 1 << 64) for n in row[:3])
            before = seen.setdefault(sequence, [])
            need(token < 11 and sequence < sequences and position == len(before) < 20)
            before.append(token)
            if row[3]:
                out.append(decoder(np.array(before))[-1])
    return np.stack(out) if out else np.zeros((0, 11))


def build1(config, weights, tokens):
    return W1.model.Model.build(config, weights).forward(tokens)


def bindings(r):
    """Yields, for each binding, its name, function, oracle and valid arguments, and a function that compares results, or `None` to
    compare number by number."""
    f, n = r.floats, r.size
    a, b, c, d = (n() for _ in range(4))
    h, g, e = n(1, 3), n(1, 3), 2 * n(1, 3)
    maybe = lambda x: r.choice(None, x)
    attention = takes("... L D", "... S D", "... S D", optional(real), "?~... L S")(day1.scaled_dot_product_attention)
    cos, sin = f(6 + a, e // 2), f(6 + a, e // 2)
    name = r.choice(*TYPES)
    length, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    block = lambda count: b"".join(struct.pack("<e", r.random.uniform(-2, 2)) * (size // 2 + 1) for _ in range(count * 2))[: count * size]
    row = f(length * n(1, 3))
    runs = [(f(n(), e), f(n(), e)) for _ in range(n(1, 3))]
    runs = [(keys, f(*keys.shape)) for keys, _ in runs]
    positions = sum(len(keys) for keys, _ in runs)
    start = n(0, 40)
    logits, rung = f(n(2, 9)), r.choice(*W2.kernels.rungs())
    tensors = [(f"blk.{i}.w", [n(), length * n(1, 2)], name) for i in range(n(1, 3))]
    stored = [(f"t{i}", [a, length], name, block(a)) for i in range(n(1, 3))]
    metadata = [("a.text", "né"), ("a.whole", -3), ("a.yes", True), ("a.part", 0.5), ("a.texts", ["", "ß"])]
    tokens, keys = r.ids(11, n(1, 8)), f(b, e)
    lengths = [1] * (b - 1) + [1] if b > 1 else [b]
    passes = [[(int(t), i, 0, r.choice(True, False))] for i, t in enumerate(tokens)]
    first, prompt = tokens[: max(len(tokens) - 1, 1)], np.append(tokens, 3)
    mha = [f(h * d, c) for _ in range(3)] + [f(c, h * d)]
    gqa = [f(h * g * e, c), f(h * e, c), f(h * e, c), f(c, h * g * e)]
    x = f(b, a, c)
    yield "softmax", W1.attention.softmax, takes("... n")(day1.softmax), [f(a, b, c)], None
    yield "linear", W1.attention.linear, takes("... L in", "out in", "?out")(day1.linear), [f(a, b, c), f(d, c), maybe(f(d))], None
    yield "attention", W1.attention.scaled_dot_product_attention, attention, [f(2, a, d), f(2, b, d), f(2, b, d), maybe(0.3), maybe(f(a, b))], None
    yield "split_heads", W1.attention.split_heads, o_split, [f(a, b, h * c), h], None
    yield "merge_heads", W1.attention.merge_heads, takes("B H L D")(day1.merge_heads), [f(a, b, c, d)], None
    mha_call = lambda n, q, k, v, o, *x: W1.attention.MultiHeadAttention(n, q, k, v, o).forward(*x)
    yield "MultiHeadAttention", mha_call, o_mha, [h, *mha, x, f(b, d, c), f(b, d, c), maybe(f(a, d))], None
    yield "inverse_frequencies", W1.rope.inverse_frequencies, o_frequencies, [e, 100.0], None
    tables = lambda x, n: (lambda t: (t.cos, t.sin))(W1.rope.RopeTables(x, n))
    yield "RopeTables", tables, o_tables, [np.abs(f(a)), b], None
    for form in ("interleaved", "half_split"):
        call = lambda x, cos, sin, at, form=form: getattr(W1.rope, f"rope_{form}")(x, W1.rope.RopeTables.from_arrays(cos, sin), at)
        yield f"rope_{form}", call, o_rope(form), [f(b, a, e), cos, sin, n(0, 6)], None
    call = lambda x, cos, sin, at, form: W1.rope.rope_at_positions(x, W1.rope.RopeTables.from_arrays(cos, sin), at, form)
    yield "rope_at_positions", call, o_rope_at, [f(b, h, a, e), cos, sin, r.ids(6, b, a), r.choice(*W1.rope.RopeForm)], None
    yield "half_split_to_interleaved", W1.rope.half_split_to_interleaved, o_reorder, [f(h * e, c), h], None
    yield "grouped_query_attention", W1.gqa.grouped_query_attention, o_gqa, [f(b, h * g, a, e), f(b, h, c, e), f(b, h, c, e), maybe(0.3), maybe(f(a, c))], None
    yield "causal_mask", W1.gqa.causal_mask, o_causal, [a, a + b], None
    yield "GroupedQueryAttention", layer, o_gqa_layer, [h * g, h, *gqa, maybe(f(h * g * e)), cos, sin, maybe(f(e)), 1e-5, x, maybe(f(a, a))], None
    yield "RmsNorm", lambda w, eps, x: W1.norm.RmsNorm(w, eps).forward(x), takes("E", real, "... E")(lambda w, eps, x: day4.rms_norm(x, w, eps)), [f(c), 1e-5, x], None
    yield "silu", W1.mlp.silu, takes("...")(day4.silu), [x], None
    yield "SwiGlu", lambda *w: W1.mlp.SwiGlu(*w[:3]).forward(w[3]), takes("I E", "I E", "E I", "... L E")(lambda *w: day4.swiglu(w[3], *w[:3])), [f(d, c), f(d, c), f(c, d), x], None
    yield "Embedding", lambda w, t: W1.model.Embedding(w).forward(t), o_embedding, [f(a + 1, c), r.ids(a + 1, b, d)], None
    yield "Embedding.as_output", lambda w, x: W1.model.Embedding(w).as_output(x), takes("V E", "... L E")(lambda w, x: day1.linear(x, w)), [f(d, c), x], None
    yield "argmax", W1.generate.argmax, o_argmax, [logits], None
    yield "apply_temperature", W1.sampling.apply_temperature, o_temperature, [logits, 0.5], None
    yield "top_k", W1.sampling.top_k, o_top_k, [logits, n()], None
    yield "top_p", W1.sampling.top_p, o_top_p, [logits, 0.7], None
    yield "min_p", W1.sampling.min_p, o_min_p, [logits, 0.3], None
    yield "repetition_penalty", W1.sampling.repetition_penalty, o_penalty, [logits, r.ids(len(logits), n()), 1.5], None
    yield "draw", W1.sampling.draw, o_draw, [logits, 0.4], None
    yield "Rng", rng, o_rng, [n()], None
    yield "TextStream", stream, o_stream, ["né 世界".encode()], None
    kind = r.choice("F32", "F16", "BF16")
    yield "to_f32", W1.weights.to_f32, o_to_f32, [bytes(a * b * (4 if kind == "F32" else 2)), kind, [a, b]], None
    yield "generate", week1_generate, o_generate, [r.ids(7, n()), n(), 20, {6}], None
    yield "Model", MODEL1.forward, o_model1, [r.ids(11, b, a)], None
    yield "Model.build", build1, lambda *_: need(False), [KIT, 3, tokens[None]], None
    yield "next_token_logits", lambda t: W1.generate.next_token_logits(MODEL1, t), o_next, [tokens], None
    yield "attend_two_pass", W2.attention.attend_two_pass, o_two_pass, [f(g, e), keys, f(b, e), lengths, 0.5], None
    yield "attend_streaming", W2.streaming.attend_streaming, o_streaming, [f(g, e), runs, 0.5, r.choice(*CT)], None
    yield "attend_block", W2.streaming.attend_block, o_block, [f(g, e), [(start + i % positions, start + positions) for i in range(g)], runs, 0.5, r.choice(*CT), start], None
    yield "OnlineSoftmax", lambda x: W2.streaming.OnlineSoftmax().absorb(x)[0], o_absorb, [logits], None
    yield "DenseCache", cached, o_cache, [2, a, b, c, d, r.choice(*CT), 1, a - 1, c - 1, f(b, d), f(b, d), b - 1], None
    yield "dequantize_row", W2.blocks.dequantize_row, o_dequantize, [name, block(a)], None
    yield "quantize_row", W2.blocks.quantize_row, o_quantize, [name, row], c_quantize
    yield "rms_error", W2.blocks.rms_error, o_rms, [row, f(len(row))], None
    yield "relative_error", W2.blocks.relative_error, o_relative, [row, f(len(row))], None
    yield "activations", W2.input.quantize_activations, o_activations, [f(n(1, 600)), r.choice(32, 256)], c_activations
    columns = length * n(1, 2)
    yield "matmul", W2.kernels.matmul, o_matmul, [rung, name, [block(columns // length) for _ in range(b)], f(a, columns), n(1, 3)], c_matmul
    yield "work", W2.roofline.work, o_work, [tensors], None
    yield "Machine", machine, o_machine, [1e9, 1e10, (n() * 1000, n() * 1000), n()], None
    yield "permute_rows", W2.recipe.permute_rows_for_interleaved, o_permute, [h * e, h], None
    yield "use_more_bits", W2.recipe.use_more_bits, o_more_bits, [n(0, 9), 10], None
    yield "data_start", W2.gguf.data_start, o_data_start, [n(0, 900), 32], None
    yield "write_file", written, o_file, [metadata, stored, 32], c_file
    yield "Session.feed", session_feed, o_feed, [tokens, n(), 20, r.choice(*CT)], c_feed
    yield "Session.generate", session_generate, o_session_generate, [first, prompt, n(), n(), 20], None
    yield "Model (rows)", MODEL2.forward, o_rows, [passes, 1, CT.F32], c_rows


# One call --------------------------------------------------------------------------------------------------------------------------


def nearly_equal(found, expected):
    """Returns whether results are equal up to float32's errors. NaN equals NaN, and infinities equal themselves."""
    if isinstance(expected, (tuple, list)) and isinstance(found, (tuple, list)):
        return len(found) == len(expected) and all(map(nearly_equal, found, expected))
    if isinstance(expected, str):
        return found == expected
    single = getattr(found, "dtype", None) == np.float32
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    if found.shape != expected.shape:
        return False
    with np.errstate(all="ignore"):
        if single:
            expected = expected.astype(np.float32).astype(np.float64)
        size = np.abs(expected[np.isfinite(expected)]).max(initial=1e-30)
        return (np.isclose(found, expected, rtol=3e-3, atol=3e-4 * size, equal_nan=True)).all()


def answers(oracle, arguments):
    """Yields NumPy's results in both precisions."""
    global PRECISION
    for PRECISION in (np.float64, np.float32):
        with np.errstate(all="ignore"):
            yield oracle(*arguments)


def shown(value):
    if isinstance(value, np.ndarray):
        return f"array{list(value.shape)}:{value.dtype}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(shown, value[:4])) + "]"
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."


def attempt(function, oracle, arguments, compare):
    """Makes a call and returns `refused` or `answered`. Raises AssertionError if anything else happens."""
    try:
        found = function(*arguments)
    except REFUSALS as error:
        assert not isinstance(error, tiny_llm.SolutionPanic)
        return "refused"
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}") from error
    except BaseException as error:
        raise AssertionError(f"{type(error).__name__}, which is no Exception: {error}") from error
    try:
        expected = list(answers(oracle, arguments))
    except NoAnswer:
        raise AssertionError(f"accepted, with the answer {shown(found)}") from None
    if compare is None:
        assert any(nearly_equal(found, answer) for answer in expected), f"found {shown(found)}, expected {shown(expected[0])}\n{found}\n{expected[0]}"
    else:
        compare(found, expected[0], *arguments)
    return "answered"


def limit_memory():
    """Limits this process's memory, so that an excessive call that is not rejected ends only this process."""
    try:
        import resource
    except ImportError:
        return
    if Path("/proc/self/statm").exists():
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (6 << 30),) * 2)


def main(bindings=bindings, iterators=True):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=2000)
    options = parser.parse_args()
    limit_memory()
    r = random.Random(options.seed)
    counts, wrong, made = Counter(), [], 0
    while made < options.calls:
        for name, function, oracle, arguments, compare in bindings(Valid(r.getrandbits(60))):
            chosen = sorted(r.sample(range(len(arguments)), min(len(arguments), r.choice((1, 1, 1, 2, 3)))))
            try:
                for at in chosen:
                    arguments[at] = odd(r, arguments[at])
            except (TypeError, ValueError, IndexError):
                continue  # this variant does not exist for this argument
            if not iterators and any(hasattr(argument, "__next__") for argument in arguments):
                continue  # the call would use up the iterator before the oracle reads it
            call = f"{name}({', '.join(map(shown, arguments))})"
            print(f"{made}: {call}", file=sys.stderr, flush=True)
            made += 1
            try:
                counts[attempt(function, oracle, arguments, compare)] += 1
            except AssertionError as error:
                wrong.append(f"{made - 1}: {call}\n  {error}")
                counts["wrong"] += 1
            except Exception:
                wrong.append(f"{made - 1}: {call}\n  {traceback.format_exc()}")
                counts["oracle"] += 1
    print("\n".join(wrong))
    print(json.dumps({"calls": made, **counts}))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
