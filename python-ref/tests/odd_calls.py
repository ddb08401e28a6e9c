"""Odd calls over all bindings: wrong shapes and types, NaN and infinities, sizes of 0 and of terabytes, negative numbers, gaps in memory.

Every binding is called as it should be, with one to three arguments made odd. It may refuse (ValueError, TypeError, MemoryError,
and no other: a panic is none of these), or it must give what NumPy gives, in float32 or in float64. It must not end the process.

    python python-ref/tests/odd_calls.py --seed 1 --calls 2000

The last line says how it went. Each call is named on the standard error before it is made, so the last one named is the one that
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
from itertools import product
from pathlib import Path

import numpy as np
import tiny_llm
import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, quants

REFUSALS = (ValueError, TypeError, MemoryError)


class NoAnswer(Exception):
    """The oracle has no answer: the call had to be refused."""


def need(condition):
    if not condition:
        raise NoAnswer


# What goes in ---------------------------------------------------------------------------------------------------------------------


class Valid:
    """Arguments as they should be."""

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
    """The same argument, made odd."""
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
    """An argument as NumPy reads it, in the precision that is asked for; `NoAnswer` if it is no array of numbers."""
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
"""Of the oracle's arithmetic; the first precision and then the other is tried."""


def whole(n, low=0, high=1 << 27):
    need(isinstance(n, (int, np.integer)))
    need(low <= n < high)
    return int(n)


def real(x):
    """As f32, which is what a solution gets."""
    with np.errstate(all="ignore"):
        x = np.float32(finite(x))
    need(np.isfinite(x))
    return PRECISION(x)


def finite(x):
    need(isinstance(x, (int, float, np.floating, np.integer)))
    try:
        x = float(x)
    except OverflowError:
        raise NoAnswer from None
    need(math.isfinite(x))
    return x


def softmax(x):
    top = x.max(-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isneginf(top), 0, top)
    weights = np.exp(x - top)
    total = weights.sum(-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total != 0)


def o_softmax(x):
    x = array(x)
    need(x.shape[-1] > 0)
    return softmax(x)


def o_linear(x, weight, bias):
    x, weight = array(x), array(weight, 2)
    need(x.ndim >= 2 and x.shape[-1] == weight.shape[1] and 0 not in x.shape[-2:] + weight.shape)
    y = x @ weight.T
    if bias is not None:
        bias = array(bias, 1)
        need(len(bias) == len(weight))
        y = y + bias
    return y


def o_attention(q, k, v, scale, mask):
    q, k, v = array(q), array(k), array(v)
    need(min(q.ndim, k.ndim, v.ndim) >= 2 and 0 not in q.shape[-2:] + k.shape[-2:] + v.shape[-2:])
    need(q.shape[-1] == k.shape[-1] == v.shape[-1] and k.shape[-2] == v.shape[-2])
    try:
        np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
        scores = q @ np.swapaxes(k, -1, -2)
        scale = 1 / math.sqrt(q.shape[-1]) if scale is None else real(scale)
        scores = scores * PRECISION(scale)
        shape = np.broadcast_shapes(scores.shape[:-2], v.shape[:-2]) + scores.shape[-2:]
        if mask is not None:
            mask = array(mask)
            need(np.broadcast_shapes(shape, mask.shape) == shape)
            scores = scores + mask
        return softmax(scores) @ v
    except ValueError:
        raise NoAnswer from None


def split(x, heads):
    need(x.ndim == 3 and heads > 0 and x.shape[2] % heads == 0 and 0 not in x.shape)
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def merge(x):
    need(x.ndim == 4 and 0 not in x.shape)
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def o_mha(n_heads, q_proj, k_proj, v_proj, o_proj, query, key, value, mask):
    n_heads = whole(n_heads, 1)
    q_proj, k_proj, v_proj, o_proj = (array(x, 2) for x in (q_proj, k_proj, v_proj, o_proj))
    need(q_proj.shape == k_proj.shape == v_proj.shape == o_proj.T.shape and 0 not in q_proj.shape)
    query, key, value = (array(x, 3) for x in (query, key, value))
    need(key.shape == value.shape and len(query) == len(key) and query.shape[2] == key.shape[2] == q_proj.shape[1])
    need(0 not in query.shape + key.shape)
    q, k, v = split(query @ q_proj.T, n_heads), split(key @ k_proj.T, n_heads), split(value @ v_proj.T, n_heads)
    return merge(o_attention(q, k, v, None, mask)) @ o_proj.T


def o_frequencies(head_dim, base):
    head_dim, base = whole(head_dim, 2, 1 << 24), float(real(base))
    need(head_dim % 2 == 0 and 0 < base < math.inf)
    return base ** (-2 * np.arange(head_dim // 2) / head_dim)


def tables_of(cos, sin):
    cos, sin = array(cos, 2), array(sin, 2)
    need(cos.shape == sin.shape and 0 not in cos.shape)
    return cos, sin


def turn(x, cos, sin, interleaved):
    half = x.shape[-1] // 2
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    first, second = a * cos - b * sin, a * sin + b * cos
    return np.stack([first, second], -1).reshape(x.shape) if interleaved else np.concatenate([first, second], -1)


def o_rope(interleaved):
    def rope(x, cos, sin, offset):
        x, (cos, sin), offset = array(x), tables_of(cos, sin), whole(offset)
        need(x.ndim >= 2 and 0 not in x.shape[-2:] and x.shape[-1] == 2 * cos.shape[1])
        need(offset + x.shape[-2] <= len(cos))
        at = slice(offset, offset + x.shape[-2])
        return turn(x, cos[at], sin[at], interleaved)

    return rope


def o_rope_at(x, cos, sin, positions, form):
    x, (cos, sin), positions = array(x, 4), tables_of(cos, sin), array(positions, 2, int)
    need(isinstance(form, W1.rope.RopeForm) and 0 not in x.shape and x.shape[-1] == 2 * cos.shape[1])
    need(positions.shape == (x.shape[0], x.shape[2]) and (positions < len(cos)).all())
    return turn(x, cos[positions][:, None], sin[positions][:, None], form.name == "Interleaved")


def o_tables(frequencies, n):
    frequencies, n = array(frequencies, 1), whole(n, 0, 1 << 22)
    need(len(frequencies) > 0)
    angles = np.arange(n, dtype=np.float32)[:, None] * frequencies.astype(np.float32)
    return np.cos(angles, dtype=np.float32), np.sin(angles, dtype=np.float32)


def o_reorder(weight, heads):
    weight, heads = array(weight, 2), whole(heads, 1)
    need(0 not in weight.shape and len(weight) % (2 * heads) == 0)
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def o_gqa(q, k, v, scale, mask):
    q, k, v = array(q, 4), array(k, 4), array(v, 4)
    need(0 not in q.shape + k.shape and k.shape == v.shape and len(q) == len(k) and q.shape[1] % k.shape[1] == 0)
    group = q.shape[1] // k.shape[1]
    if mask is not None:
        need(array(mask).ndim <= 4)
    return o_attention(q, k.repeat(group, 1), v.repeat(group, 1), scale, mask)


def o_causal(length, keys):
    length, keys = whole(length), whole(keys)
    need(length <= keys and length * keys < 1 << 27)
    return np.where(np.arange(keys) <= keys - length + np.arange(length)[:, None], 0, -np.inf)


def o_gqa_layer(n_heads, n_kv_heads, q, k, v, o, bias, cos, sin, q_norm, eps, x, mask):
    n_heads, n_kv_heads, eps = whole(n_heads, 1), whole(n_kv_heads, 1), float(real(eps))
    q, k, v, o, (cos, sin), x = *(array(w, 2) for w in (q, k, v, o)), tables_of(cos, sin), array(x, 3)
    need(0 not in q.shape + x.shape and len(q) % n_heads == 0 and n_heads % n_kv_heads == 0)
    d = len(q) // n_heads
    need(k.shape == v.shape == (n_kv_heads * d, q.shape[1]) and o.shape == q.T.shape and x.shape[2] == q.shape[1])
    need(2 * cos.shape[1] == d and x.shape[1] <= len(cos))
    heads = split(o_linear(x, q, bias), n_heads)
    if q_norm is not None:
        q_norm = array(q_norm, 1)
        need(len(q_norm) == d)
        wide = heads.astype(np.float64)
        heads = (wide / np.sqrt((wide**2).mean(-1, keepdims=True) + eps)).astype(PRECISION) * q_norm
    length = slice(x.shape[1])
    turned = [turn(t, cos[length], sin[length], False) for t in (heads, split(x @ k.T, n_kv_heads))]
    return merge(o_gqa(*turned, split(x @ v.T, n_kv_heads), None, mask)) @ o.T


def o_norm(weight, eps, x):
    weight, x, eps = array(weight, 1), array(x), real(eps)
    need(len(weight) > 0 and x.shape[-1] == len(weight))
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight


def o_silu(x):
    return (lambda x: x / (1 + np.exp(-x)))(array(x))


def o_swiglu(gate, up, down, x):
    gate, up, down, x = array(gate, 2), array(up, 2), array(down, 2), array(x)
    need(gate.shape == up.shape == down.T.shape and 0 not in gate.shape + x.shape[-2:] and x.ndim >= 2 and x.shape[-1] == gate.shape[1])
    return (o_silu(x @ gate.T) * (x @ up.T)) @ down.T


def o_embedding(weight, tokens):
    weight, tokens = array(weight, 2), array(tokens, 2, int)
    need(0 not in weight.shape and (tokens < len(weight)).all())
    return weight[tokens]


def o_as_output(weight, x):
    return o_linear(x, weight, None)


def logits_of(x, infinite=True):
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


def splitmix(seed):
    state, numbers = seed, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        numbers.append(z ^ (z >> 31))
    return numbers


def o_rng(seed):
    return splitmix(whole(seed, 0, 1 << 64))


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


def o_two_pass(q, keys, values, lengths, scale):
    q, keys, values = array(q, 2), array(keys, 2), array(values, 2)
    lengths = [whole(n, 1) for n in lengths] if isinstance(lengths, (list, tuple)) else need(False)
    need(sum(lengths) == len(keys))
    return o_attention(q, keys, values, real(scale), None)


def cache_round(x, cache_type):
    with np.errstate(over="ignore"):
        return x.astype(np.float16).astype(PRECISION) if cache_type == CT.F16 else x


def pairs_of(runs, cache_type, d):
    need(isinstance(runs, (list, tuple)) and runs and isinstance(cache_type, CT))
    keys, values = [], []
    for run in runs:
        need(isinstance(run, tuple) and len(run) == 2)
        k, v = array(run[0], 2), array(run[1], 2)
        need(k.shape == v.shape and k.shape[1] == d and len(k) > 0)
        keys.append(cache_round(k, cache_type))
        values.append(cache_round(v, cache_type))
    return np.concatenate(keys), np.concatenate(values)


def o_streaming(q, runs, scale, cache_type):
    q = array(q, 2)
    need(0 not in q.shape and q.shape[0] <= 16 and q.shape[1] <= 256)
    keys, values = pairs_of(runs, cache_type, q.shape[1])
    return o_attention(q, keys, values, real(scale), None)


def o_block(q, visible, runs, scale, cache_type, start):
    q = array(q, 2)
    need(0 not in q.shape and q.shape[0] <= 128 and q.shape[1] <= 256)
    keys, values = pairs_of(runs, cache_type, q.shape[1])
    need(isinstance(visible, (list, tuple)) and len(visible) == len(q))
    start, rows = whole(start, 0, 1 << 63), []
    for row, seen in zip(q, visible):
        need(isinstance(seen, tuple) and len(seen) == 2)
        first, end = (whole(n, start, start + len(keys) + 1) - start for n in seen)
        need(first < end)
        rows.append(o_attention(row[None], keys[first:end], values[first:end], real(scale), None)[0])
    return np.stack(rows)


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
"""More than a type loses of a row, as a part of its largest block's largest number."""


def o_quantize(name, x):
    """What the row is; the bytes that come back must be no further from it than the type allows."""
    return storable(name, x)


def c_quantize(found, expected, name, x):
    back = decode(name, found)
    assert back.shape == expected.shape
    largest = np.abs(expected).max()
    worst = np.abs(back - expected).max()
    assert worst <= LOSSES[name.upper()] * largest + 1e-6 * (largest < 1), f"{worst} of {largest} lost"


def o_rms(x, y):
    x, y = array(x, 1), array(y, 1)
    need(x.shape == y.shape and len(x) > 0)
    return float(np.sqrt(((x.astype(np.float64) - y) ** 2).mean()))


def o_relative(x, y):
    error, size = o_rms(x, y), float(np.sqrt((array(x, 1).astype(np.float64) ** 2).mean()))
    return 0.0 if error == 0 else np.float64(error) / size


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
    # Activations lose half a step of their largest on rungs that multiply integers.
    with np.errstate(all="ignore"):
        weights = np.stack([np.abs(decode(name, row)).sum() for row in rows])
        allowed = np.abs(x).max(-1, keepdims=True) * weights / (200 if rung not in ("naive", "fused") else 1e4) + 1e-30
        # Not beyond what float32 can hold on the way.
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
    return np.arange(rows).reshape(heads, 2, -1).swapaxes(1, 2).reshape(-1)


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


def model_weights():
    r = np.random.default_rng(7)
    shapes = {"model.embed_tokens.weight": (11, 8), "model.norm.weight": (8,)}
    for i in range(2):
        part = {"self_attn.q_proj": (8, 8), "self_attn.k_proj": (4, 8), "self_attn.v_proj": (4, 8), "self_attn.o_proj": (8, 8)}
        part |= {"mlp.gate_proj": (12, 8), "mlp.up_proj": (12, 8), "mlp.down_proj": (8, 12)}
        part |= {"input_layernorm": (8,), "post_attention_layernorm": (8,)}
        shapes |= {f"model.layers.{i}.{name}.weight": shape for name, shape in part.items()}
    return {name: r.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


WEIGHTS = model_weights()
KIT = tiny_llm.kit.ModelConfig.from_json(json.dumps(CONFIG))
MODEL1, MODEL2 = W1.model.Model.build(KIT, WEIGHTS), W2.model.Model.build(KIT, WEIGHTS)


def decoder(tokens):
    """Logits `[L, V]` of one sequence, by the parts above."""
    w = {name: weight.astype(PRECISION) for name, weight in WEIGHTS.items()}
    angles = np.arange(20)[:, None] * o_frequencies(4, 100.0)
    x = w["model.embed_tokens.weight"][tokens][None]
    mask = o_causal(len(tokens), len(tokens))
    for i in range(2):
        name = lambda part: w[f"model.layers.{i}.{part}.weight"]
        q, k, v, o = (name(f"self_attn.{n}_proj") for n in "qkvo")
        normed = o_norm(name("input_layernorm"), 1e-5, x)
        x = x + o_gqa_layer(2, 1, q, k, v, o, None, np.cos(angles), np.sin(angles), None, 1e-5, normed, mask)
        normed = o_norm(name("post_attention_layernorm"), 1e-5, x)
        x = x + o_swiglu(name("mlp.gate_proj"), name("mlp.up_proj"), name("mlp.down_proj"), normed)
    return (o_norm(w["model.norm.weight"], 1e-5, x) @ w["model.embed_tokens.weight"].T)[0]


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
    # Keys and values of half precision have 11 bits.
    allowed = (0.03 if cache_type == CT.F16 else 1e-3) * np.abs(expected).max(initial=0)
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
    """Of each binding the name, the function, the oracle, the arguments as they should be, and how results are compared if that is
    not number by number."""
    f, n = r.floats, r.size
    a, b, c, d = (n() for _ in range(4))
    h, g, e = n(1, 3), n(1, 3), 2 * n(1, 3)
    maybe = lambda x: r.choice(None, x)
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
    yield "softmax", W1.attention.softmax, o_softmax, [f(a, b, c)], None
    yield "linear", W1.attention.linear, o_linear, [f(a, b, c), f(d, c), maybe(f(d))], None
    yield "attention", W1.attention.scaled_dot_product_attention, o_attention, [f(2, a, d), f(2, b, d), f(2, b, d), maybe(0.3), maybe(f(a, b))], None
    yield "split_heads", W1.attention.split_heads, lambda x, h: split(array(x, 3), whole(h, 1)), [f(a, b, h * c), h], None
    yield "merge_heads", W1.attention.merge_heads, lambda x: merge(array(x, 4)), [f(a, b, c, d)], None
    mha_call = lambda n, q, k, v, o, *x: W1.attention.MultiHeadAttention(n, q, k, v, o).forward(*x)
    yield "MultiHeadAttention", mha_call, o_mha, [h, *mha, x, f(b, d, c), f(b, d, c), maybe(f(a, d))], None
    yield "inverse_frequencies", W1.rope.inverse_frequencies, o_frequencies, [e, 100.0], None
    tables = lambda x, n: (lambda t: (t.cos, t.sin))(W1.rope.RopeTables(x, n))
    yield "RopeTables", tables, o_tables, [np.abs(f(a)), b], None
    for form in ("interleaved", "half_split"):
        call = lambda x, cos, sin, at, form=form: getattr(W1.rope, f"rope_{form}")(x, W1.rope.RopeTables.from_arrays(cos, sin), at)
        yield f"rope_{form}", call, o_rope(form == "interleaved"), [f(b, a, e), cos, sin, n(0, 6)], None
    call = lambda x, cos, sin, at, form: W1.rope.rope_at_positions(x, W1.rope.RopeTables.from_arrays(cos, sin), at, form)
    yield "rope_at_positions", call, o_rope_at, [f(b, h, a, e), cos, sin, r.ids(6, b, a), r.choice(*W1.rope.RopeForm)], None
    yield "half_split_to_interleaved", W1.rope.half_split_to_interleaved, o_reorder, [f(h * e, c), h], None
    yield "grouped_query_attention", W1.gqa.grouped_query_attention, o_gqa, [f(b, h * g, a, e), f(b, h, c, e), f(b, h, c, e), maybe(0.3), maybe(f(a, c))], None
    yield "causal_mask", W1.gqa.causal_mask, o_causal, [a, a + b], None
    yield "GroupedQueryAttention", layer, o_gqa_layer, [h * g, h, *gqa, maybe(f(h * g * e)), cos, sin, maybe(f(e)), 1e-5, x, maybe(f(a, a))], None
    yield "RmsNorm", lambda w, eps, x: W1.norm.RmsNorm(w, eps).forward(x), o_norm, [f(c), 1e-5, x], None
    yield "silu", W1.mlp.silu, o_silu, [x], None
    yield "SwiGlu", lambda *w: W1.mlp.SwiGlu(*w[:3]).forward(w[3]), o_swiglu, [f(d, c), f(d, c), f(c, d), x], None
    yield "Embedding", lambda w, t: W1.model.Embedding(w).forward(t), o_embedding, [f(a + 1, c), r.ids(a + 1, b, d)], None
    yield "Embedding.as_output", lambda w, x: W1.model.Embedding(w).as_output(x), o_as_output, [f(d, c), x], None
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
    yield "Model.build", build1, lambda config, weights, tokens: need(config is KIT and weights == dict(WEIGHTS) or False) or o_model1(tokens), [KIT, 3, tokens[None]], None
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


def alike(found, expected):
    """Whether numbers are the same to within what float32 loses: element by element a NaN for a NaN, an infinity for an infinity."""
    if isinstance(expected, (tuple, list)) and isinstance(found, (tuple, list)):
        return len(found) == len(expected) and all(map(alike, found, expected))
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
    """What NumPy gives, in either precision."""
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
    """`refused` or `answered`; an AssertionError says what is wrong."""
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
        assert any(alike(found, answer) for answer in expected), f"found {shown(found)}, expected {shown(expected[0])}\n{found}\n{expected[0]}"
    else:
        compare(found, expected[0], *arguments)
    return "answered"


def limit_memory():
    """Little enough that what is not refused ends this process, and no other."""
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
                continue  # this argument cannot be made odd in this way
            if not iterators and any(hasattr(argument, "__next__") for argument in arguments):
                continue  # it would be empty by the time that the oracle reads it
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
