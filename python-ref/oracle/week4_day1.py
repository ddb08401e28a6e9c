"""Week 4, day 1: strided tensors.

PyTorch's tensors have strides too, counted in elements instead of bytes, and with the axes in reverse order. An expected layout is
PyTorch's layout of the same tensor, reversed and times the bytes of an element. For block formats, which PyTorch does not have,
sizes come from the `gguf` package and strides from counting blocks.
"""

import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize, quantize

from oracle.fixtures import Random, random_walk, rounding

AXES = 4


def padded(sizes, fill):
    return list(sizes) + [fill] * (AXES - len(sizes))


def layout(x, size=4):
    """Returns `ne`, `nb` and offset of a PyTorch tensor of four axes, in ggml's order."""
    assert x.dim() == AXES
    return {"ne": list(x.shape[::-1]), "nb": [s * size for s in x.stride()[::-1]], "offset": x.storage_offset() * size}


def four(x):
    """Returns `x` with four axes, the first of which have one element."""
    return x[(None,) * (AXES - x.dim())]


def step(x, op, *arguments):
    """Applies step `op`, with ggml's arguments, to a PyTorch tensor."""
    if op == "permute":
        # ggml: axis i becomes axis axes[i]. PyTorch: the new axis j is the old axis dims[j].
        source = [arguments[0].index(j) for j in range(AXES)]
        return x.permute([AXES - 1 - source[AXES - 1 - j] for j in range(AXES)])
    if op == "broadcast":
        return x.expand(arguments[0][::-1])
    if op == "reshape":
        return four(x.view(padded(arguments[0], 1)[::-1]))
    ne, nb, offset = arguments
    return x.as_strided(ne[::-1], [s // 4 for s in nb[::-1]], x.storage_offset() + offset // 4)


PACKED = (
    ("four_by_two", (4, 2), "the example of the chapter"),
    ("a_vector", (5,), "one axis"),
    ("three_axes", (2, 3, 4), "three axes of different sizes"),
    ("an_axis_of_one", (3, 1, 2, 5), "an axis of one element between others"),
    ("a_batch", (2, 3, 5, 7), "four axes, no two alike"),
)

VIEWS = (
    ("rows", (6, 5), [("view", [5, 2, 1, 1], [4, 20, 40, 40], 40)], "rows 2 and 3 of six"),
    ("columns", (6, 5), [("view", [2, 6, 1, 1], [4, 20, 120, 120], 8)], "columns 2 and 3: a row of the view is shorter than its stride"),
    ("every_other_row", (6, 5), [("view", [5, 3, 1, 1], [4, 40, 120, 120], 0)], "rows 0, 2 and 4"),
    ("to_the_last_byte", (6, 5), [("view", [1, 5, 1, 1], [4, 20, 100, 100], 36)], "one column, whose last element is the last of all"),
    ("a_view_of_a_view", (4, 6, 5), [("view", [5, 6, 2, 1], [4, 20, 120, 240], 240), ("view", [3, 4, 2, 1], [4, 20, 120, 240], 28)],
     "the second offset counts from the first view's first element"),
    ("transpose", (4, 2), [("permute", [1, 0, 2, 3])], "rows become columns"),
    ("heads_first", (2, 7, 3, 5), [("permute", [0, 2, 1, 3])], "positions and heads change places: [D, H, T] to [D, T, H]"),
    ("three_axes_turn", (2, 3, 4, 5), [("permute", [1, 2, 0, 3])], "a permutation that is not its own inverse"),
    ("four_axes_turn", (2, 3, 4, 5), [("permute", [3, 0, 1, 2])], "another one"),
    ("twice", (2, 3, 4, 5), [("permute", [1, 2, 0, 3]), ("permute", [2, 0, 3, 1])], "one after the other"),
    ("a_bias", (1, 5), [("broadcast", [5, 4, 1, 1])], "one row for four"),
    ("shared_heads", (2, 1, 7, 3), [("broadcast", [3, 7, 4, 2])], "one key head for four query heads, in two sequences"),
    ("a_number", (1,), [("broadcast", [3, 2, 2, 2])], "one number everywhere"),
    ("a_column", (3, 1), [("broadcast", [4, 3, 1, 1])], "along the row"),
    ("of_a_view", (6, 5), [("view", [5, 1, 1, 1], [4, 20, 20, 20], 60), ("broadcast", [5, 3, 2, 1])], "one row of six, for three"),
    ("a_transposed_view", (6, 5), [("permute", [1, 0, 2, 3]), ("view", [3, 2, 1, 1], [20, 4, 20, 20], 24)], "a corner of a transposed tensor"),
)  # fmt: skip

RESHAPES = (
    ("heads", (6, 12), [("reshape", [4, 3, 6])], "a row of 12 as three heads of 4"),
    ("flat", (2, 3, 4), [("reshape", [24])], "everything in one row"),
    ("of_rows", (6, 12), [("view", [12, 2, 1, 1], [4, 48, 96, 96], 96), ("reshape", [4, 3, 2])], "the offset stays"),
    ("an_odd_stride_of_one", (6, 12), [("view", [12, 1, 1, 1], [4, 7 * 4, 4, 4], 48), ("reshape", [6, 2])], "a single row, whose stride says nothing"),
)  # fmt: skip

PRODUCTS = (
    ("plain", (3, 8), [], (5, 8), [], "a matrix and five rows"),
    ("one_row", (7, 6), [], (1, 6), [], "a matrix and a vector"),
    ("columns", (4, 16), [("view", [9, 4, 1, 1], [4, 64, 256, 256], 12)], (3, 9), [], "rows of 9 that are 16 apart"),
    ("shared", (1, 2, 5, 8), [("permute", [0, 1, 3, 2])], (2, 3, 4, 8), [], "each key head for three query heads"),
    ("batched", (2, 2, 3, 6), [], (2, 2, 4, 6), [("permute", [0, 1, 3, 2])], "four products at once, those on the right in another order"),
)  # fmt: skip


def seen(x, steps):
    layouts = []
    for op, *arguments in steps:
        x = step(x, op, *arguments)
        layouts.append(layout(x))
    return x, layouts


def steps_as_json(steps):
    return [{"op": op, "arguments": arguments} for op, *arguments in steps]


def product(left, right, K):
    """Multiplies in PyTorch's order: `left [.., M, K]`, `right [.., N, K]` → `[.., N, M]`."""
    del K
    return right @ left.transpose(-1, -2)


def cases(out):
    for name, shape, why in PACKED:
        x = four(torch.empty(shape))
        found = layout(x)
        last = [n - 1 for n in found["ne"]]
        middle = [n // 2 for n in found["ne"]]
        at = {str(i): sum(a * b for a, b in zip(i, found["nb"], strict=True)) for i in (last, middle)}
        out.case(
            f"task_1_packed/{name}", why=why, tolerance={},
            scalars={"shape": list(shape), "type": "F32", "bytes": x.numel() * 4, "at": [[last, at[str(last)]], [middle, at[str(middle)]]], **found},
        )  # fmt: skip
    for kind, shape in (("Q4_0", (3, 64)), ("Q8_0", (2, 5, 96)), ("Q4_K", (4, 512)), ("Q6_K", (2, 2, 3, 256)), ("F16", (4, 2)), ("BF16", (3, 5))):
        block, size = GGML_QUANT_SIZES[GGMLQuantizationType[kind]]
        blocks = four(torch.empty([*shape[:-1], shape[-1] // block]))
        found = layout(blocks, size)
        found["ne"][0] *= block
        last = [n - 1 for n in found["ne"]]
        inside = [found["ne"][0] // 2 + block // 3, *[n // 2 for n in found["ne"][1:]]]
        at = [[i, sum(a * b for a, b in zip([i[0] // block, *i[1:]], found["nb"], strict=True))] for i in (last, inside)]
        out.case(
            f"task_1_packed/{kind.lower()}", why=f"{kind}, whose blocks of {block} elements have {size} bytes", tolerance={},
            scalars={"shape": list(shape), "type": kind, "bytes": blocks.numel() * size, "at": at, **found},
        )  # fmt: skip
    for task, scripts in (("task_2_views", VIEWS), ("task_3_reshape", RESHAPES)):
        for i, (name, shape, steps, why) in enumerate(scripts):
            x = Random(4100 + i).normal(*shape)
            view, layouts = seen(four(x), steps)
            out.case(
                f"{task}/{name}", seed=4100 + i, why=why, inputs={"x": x}, outputs={"elements": view.contiguous().reshape(-1)},
                scalars={"steps": steps_as_json(steps), "layouts": layouts, "contiguous": view.is_contiguous()},
            )  # fmt: skip
    for i, (name, left, left_steps, right, right_steps, why) in enumerate(PRODUCTS):
        r = out.random(4150 + i)
        a, b = r.normal(*left), r.normal(*right)
        k = right[-1]

        def of(a, b, steps=(left_steps, right_steps)):
            a, b = (seen(four(x), s)[0] for x, s in zip((a, b), steps, strict=True))
            return {"output": product(a, b, None).reshape(-1)}

        expected = of(a.double(), b.double())["output"]
        sizes = list(product(*(seen(four(x), s)[0] for x, s in ((a, left_steps), (b, right_steps))), None).shape[::-1])
        out.case(
            f"task_4_product/{name}", why=why, inputs={"a": a, "b": b}, outputs=of,
            tolerance={"output": rounding(random_walk(k) + 2, expected.abs().max().item() + 3)},
            scalars={"a_steps": steps_as_json(left_steps), "b_steps": steps_as_json(right_steps), "ne": sizes},
        )  # fmt: skip
    r = out.random(4190)
    weights, rows = r.normal(3, 64), r.normal(2, 64)
    kind = GGMLQuantizationType.Q8_0
    stored = quantize(weights.numpy(), kind)
    decoded = torch.from_numpy(dequantize(stored, kind).astype("float64"))
    out.case(
        "task_4_product/q8_0", why="a matrix in blocks", inputs={"rows": rows, "bytes": torch.from_numpy(stored.astype("int64")).reshape(-1)},
        outputs={"output": (rows.double() @ decoded.T).reshape(-1)}, tolerance={"output": rounding(random_walk(64) + 2, 20.0)}, scalars={"ne": [3, 2, 1, 1]},
    )  # fmt: skip
