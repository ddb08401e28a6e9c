"""Week 1, day 2: RoPE in its two forms.

The functions are plain PyTorch in the dtype of their inputs. Names and argument order are those of the Rust side,
with the two tables as separate arguments. Below them, each function that takes `out` writes cases.
"""

import math

import torch

from oracle.fixtures import relative_rounding, rounding


def inverse_frequencies(head_dim, base):
    """`base^(−2i/D)` for `i` in `0..D/2`, in float64."""
    if head_dim % 2:
        raise ValueError(f"the head size must be even, not {head_dim}")
    return float(base) ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)


def rope_tables(inverse_frequencies, n_positions):
    """Returns `cos, sin`, each `[P, D/2]`. Entry `[p, i]` is of the angle `p · inverse_frequencies[i]`."""
    angles = torch.arange(n_positions, dtype=inverse_frequencies.dtype)[:, None] * inverse_frequencies
    return angles.cos(), angles.sin()


def rope_interleaved(x, cos, sin, offset=0):
    """Rotates the pairs `(x[2i], x[2i+1])` of `x [..., L, D]`. Row `l` is at position `offset + l`."""
    cos, sin = _rows(x, cos, sin, offset)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def rope_half_split(x, cos, sin, offset=0):
    """Rotates the pairs `(x[i], x[i + D/2])` of `x [..., L, D]`. Row `l` is at position `offset + l`."""
    cos, sin = _rows(x, cos, sin, offset)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def rope_at_positions(x, cos, sin, positions, form):
    """Rotates `x [B, H, L, D]`, whose rows are at `positions [B, L]`. `form` is "interleaved" or "half_split"."""
    cos, sin = cos[positions][:, None], sin[positions][:, None]
    rotate = {"interleaved": rope_interleaved, "half_split": rope_half_split}[form]
    return rotate(x, cos, sin, 0)


def half_split_to_interleaved(weight, n_heads):
    """Moves rows within each head of `weight [n_heads·D, E]`: row `i` to `2i` and `i + D/2` to `2i + 1`."""
    rows, width = weight.shape
    heads = weight.reshape(n_heads, rows // n_heads, width)
    first, second = heads.chunk(2, dim=1)
    return torch.stack([first, second], dim=2).reshape(rows, width)


def _rows(x, cos, sin, offset):
    length = x.shape[-2]
    if offset + length > cos.shape[-2]:
        raise IndexError(f"the tables end at position {cos.shape[-2]}, before {offset + length}")
    return cos[..., offset : offset + length, :], sin[..., offset : offset + length, :]


def _frequencies(out):
    for head_dim, base in [(8, 10_000.0), (6, 500_000.0), (64, 1_000_000.0)]:
        # exp(−2i/D · ln base) in float32 rounds an exponent of up to ln base. All other roundings are smaller.
        roundings = 4 + math.ceil(math.log(base))
        out.case(
            f"task_1_inverse_frequencies/{head_dim}",
            why=f"head size {head_dim}, base {base:.0f}",
            outputs=lambda: inverse_frequencies(head_dim, base),
            scalars={"head_dim": head_dim, "base": base},
            tolerance={"output": relative_rounding(roundings)},
            same={"by powers": lambda: torch.tensor([1 / base ** (2 * i / head_dim) for i in range(head_dim // 2)], dtype=torch.float64)},
        )


def _tables(out):
    for name, head_dim, base, n_positions, why in [
        ("long", 8, 10_000.0, 401, "positions 0 to 400 at head size 8: above 256 a position does not fit bf16, nor do its angles, and angles pass 360 radians"),
        ("odd", 6, 500_000.0, 5, "three pairs, five positions"),
    ]:
        frequencies = inverse_frequencies(head_dim, base).float()

        def tables(inverse_frequencies):
            cos, sin = rope_tables(inverse_frequencies, n_positions)
            return {"cos": cos, "sin": sin}

        # The angle is rounded once in float32. Sine and cosine add their own unit, at magnitude 1.
        bound = rounding(2, max(1.0, (n_positions - 1) * frequencies.max().item()), factor=1)
        out.case(
            f"task_1_tables/{name}",
            seed=0,
            why=why,
            inputs={"inverse_frequencies": frequencies},
            outputs=tables,
            scalars={"n_positions": n_positions},
            tolerance={"cos": bound, "sin": bound},
            same={"e^(iφ)": lambda inverse_frequencies: _polar(inverse_frequencies, n_positions)},
        )


def _polar(frequencies, n_positions):
    angles = torch.outer(torch.arange(n_positions, dtype=frequencies.dtype), frequencies)
    z = torch.polar(torch.ones_like(angles), angles)
    return {"cos": z.real, "sin": z.imag}


def _transformers(form):
    """Returns a function that rotates in `form` by transformers' `apply_rotary_pos_emb`: Llama's (half-split) or GLM's (interleaved)."""
    from transformers.models.glm.modeling_glm import apply_rotary_pos_emb as interleaved
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as half_split

    def rotate(x, cos, sin, offset):
        shape, x = x.shape, x.reshape(1, -1, *x.shape[-2:])
        cos, sin = (t[None, offset : offset + x.shape[-2]].repeat(1, 1, 2) for t in (cos, sin))
        return (interleaved if form == "interleaved" else half_split)(x, x, cos, sin)[0].reshape(shape)

    return rotate


def _forms(out):
    for task, form, rotate in [(2, "interleaved", rope_interleaved), (3, "half_split", rope_half_split)]:
        r = out.random(1200 + task)
        for name, shape, offset, rows, why in [
            ("near", (2, 3, 5, 8), 3, 40, "B=2, H=3, L=5, D=8 at positions 3 to 7"),
            ("offset", (2, 2, 3, 8), 301, 320, "three rows at positions 301 to 303"),
            ("odd_pairs", (4, 3, 6), 2, 5, "three axes [4, 3, 6] at offset 2: D/2 is odd, heads outnumber rows, and the tables end with the last row"),
            ("two_axes", (10, 8), 2, 14, "x [10, 8] has no leading axes and more rows than D, at positions 2 to 11"),
        ]:
            cos, sin = (t.float() for t in rope_tables(inverse_frequencies(shape[-1], 100.0), rows))
            x = r.normal(*shape)
            out.case(
                f"task_{task}_{form}/{name}",
                why=why,
                inputs={"x": x, "cos": cos, "sin": sin},
                outputs=lambda x, cos, sin: rotate(x, cos, sin, offset),
                scalars={"offset": offset},
                tolerance={"output": rounding(3, x)},
                same={"transformers": lambda x, cos, sin: _transformers(form)(x, cos, sin, offset)},
            )


def _positions(out):
    r = out.random(1204)
    cos, sin = (t.float() for t in rope_tables(inverse_frequencies(8, 100.0), 304))
    positions = torch.tensor([[0, 5, 2], [300, 1, 301]])
    x = r.normal(2, 3, 3, 8)
    for form in ("interleaved", "half_split"):

        def at(x, cos, sin, positions, form=form):
            return rope_at_positions(x, cos, sin, positions, form)

        def one_by_one(x, cos, sin, positions, form=form):
            """Rotates each row alone with transformers, at its position."""
            rows = [[_transformers(form)(x[b, :, l : l + 1], cos, sin, int(positions[b, l])) for l in range(3)] for b in range(2)]
            return torch.stack([torch.cat(row, dim=1) for row in rows])

        out.case(
            f"task_4_positions/{form}",
            why="B=2, H=3, L=3: positions [[0, 5, 2], [300, 1, 301]], neither sorted nor equal between sequences",
            inputs={"x": x, "cos": cos, "sin": sin, "positions": positions},
            outputs=at,
            tolerance={"output": rounding(3, x)},
            same={"row by row": one_by_one},
        )


def _permutation(out):
    weight = torch.arange(24 * 2, dtype=torch.float32).reshape(24, 2)

    def by_index(weight):
        rows = torch.empty_like(weight)
        for h in range(3):
            for i in range(4):
                rows[h * 8 + 2 * i] = weight[h * 8 + i]
                rows[h * 8 + 2 * i + 1] = weight[h * 8 + i + 4]
        return rows

    out.case(
        "task_4_permutation/rows",
        seed=0,
        why="a projection [3·8, 2] that holds 0, 1, 2, … so that each row says where it came from",
        inputs={"weight": weight},
        outputs=lambda weight: half_split_to_interleaved(weight, 3),
        scalars={"n_heads": 3},
        same={"row by row": by_index},
    )
