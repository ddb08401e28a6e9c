"""Day 3: grouped-query attention, the causal mask, the attention layer."""

import oracle.week1_day3 as oracle
from live import close
from oracle.fixtures import exact
from oracle.week1_day1 import linear, split_heads
from oracle.week1_day2 import inverse_frequencies, rope_tables
from oracle.week1_day4 import rms_norm
from test_week1_day1 import attention_tolerance, random_mask


def test_week1_day3_task_1_grouped_query_attention(week1, r):
    b, h, group = r.size(1, 3), r.size(1, 3), r.size(1, 4)
    l, s, d = r.different(3, 1, 10)
    q, k, v = r.normal(b, h * group, l, d, std=2.0), r.normal(b, h, s, d, std=2.0), r.normal(b, h, s, d)
    scale = r.choice(None, 0.2)
    mask = r.choice(None, random_mask(r, l, s), random_mask(r, b, 1, l, s), random_mask(r, h * group, l, s), random_mask(r, b, h * group, 1, s))
    found = week1.gqa.grouped_query_attention(q, k, v, scale=scale, mask=mask)
    expected = oracle.grouped_query_attention(q.double(), k.double(), v.double(), scale, mask)
    close(found, expected, attention_tolerance(q, k, v, scale, mask))


def test_week1_day3_task_2_causal_mask(week1, r):
    keys = r.size(1, 12)
    length = r.choice(1, keys, r.size(1, keys))
    close(week1.gqa.causal_mask(length, keys), oracle.causal_mask(length, keys), exact())


def test_week1_day3_task_3_grouped_query_attention_layer(week1, r):
    b, h, group, l, e = r.size(1, 3), r.size(1, 3), r.size(1, 3), r.size(1, 8), r.size(5, 14)
    h_q, d, eps = h * group, 2 * r.size(1, 5), r.choice(1e-6, 0.05)
    sizes = {"q": h_q * d, "k": h * d, "v": h * d}
    projections = {f"{n}_proj": r.weight(size, e) for n, size in sizes.items()} | {"o_proj": r.weight(e, h_q * d)}
    with_bias, with_norm = r.choice((False, False), (True, False), (False, True))  # Llama, Qwen2, Qwen3
    biases = {f"{n}_bias": r.normal(size) for n, size in sizes.items()} if with_bias else {}
    norms = {"q_norm": r.norm_weight(d), "k_norm": r.norm_weight(d)} if with_norm else {}
    cos, sin = (t.float() for t in rope_tables(inverse_frequencies(d, 100.0), l + r.size(0, 3)))
    x = r.normal(b, l, e)
    mask = r.choice(None, random_mask(r, l, l), random_mask(r, b, 1, l, l), oracle.causal_mask(l, l))

    layers = {n: week1.gqa.Linear(w, biases.get(n.replace("proj", "bias"))) for n, w in projections.items()}
    rope = week1.rope.RopeTables.from_arrays(cos, sin)
    found = week1.gqa.GroupedQueryAttention(h_q, h, **layers, rope=rope, **norms, norm_eps=eps).forward(x, mask=mask)

    def normed(x, name):
        return x if name not in norms else rms_norm(x, norms[name].to(x.dtype), eps)

    expected = oracle.grouped_query_attention_layer(
        x.double(), mask, n_heads=h_q, n_kv_heads=h, cos=cos.double(), sin=sin.double(),
        q_norm=lambda q: normed(q, "q_norm"), k_norm=lambda k: normed(k, "k_norm"),
        **{n: w.double() for n, w in (projections | biases).items()},
    )  # fmt: skip
    q, k, v = (split_heads(linear(x, projections[f"{n}_proj"], biases.get(f"{n}_bias")), h_q if n == "q" else h) for n in "qkv")
    # Around the attention: two projections, two norms over D, RoPE.
    around = {"projections": 2 * (e + d) + 16, "output": projections["o_proj"]}
    close(found, expected, attention_tolerance(normed(q, "q_norm"), normed(k, "k_norm"), v, None, mask, **around))
