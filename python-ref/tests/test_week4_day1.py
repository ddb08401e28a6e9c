"""Week 4, day 1: layouts, views, contiguous copies and products of views, against PyTorch's own strides."""

import pytest
import torch
from live import close
from oracle.fixtures import exact, random_walk, rounding
from oracle.week4_day1 import four, layout, step


def seen(found):
    return {"ne": list(found.ne), "nb": list(found.nb), "offset": found.offset}


def sizes(r, low=1):
    return [r.size(low, 6) for _ in range(4)]


def stored(x):
    return x.contiguous().numpy().tobytes()


def views(r, x):
    """Returns one to four random steps that PyTorch can also take, and the tensor that they turn `x` into."""
    steps = []
    for _ in range(r.size(1, 4)):
        ne, nb = list(x.shape[::-1]), [4 * s for s in x.stride()[::-1]]
        op = r.choice("permute", "broadcast", "view")
        if op == "permute":
            steps.append((op, r.random.sample(range(4), 4)))
        elif op == "broadcast":
            steps.append((op, [r.size(2, 4) if n == 1 and r.choice(True, False) else n for n in ne]))
        else:
            first = [r.size(0, n - 1) for n in ne]
            part = [r.size(1, n - i) for n, i in zip(ne, first, strict=True)]
            steps.append((op, part, nb, sum(i * s for i, s in zip(first, nb, strict=True))))
        x = step(x, *steps[-1])
    return steps, x


def follow(found, steps):
    for op, *arguments in steps:
        found = getattr(found, op)(*arguments)
    return found


def test_week4_day1_task_1_packed(week4, r):
    shape = r.shape(1, 4, 9)
    expected = layout(four(torch.empty(shape)))
    assert seen(week4.layout.Layout.from_torch("F32", shape)) == expected
    assert seen(week4.layout.Layout("F32", shape[::-1])) == expected


def test_week4_day1_task_2_views(week4, r):
    x = r.normal(*sizes(r))
    steps, expected = views(r, x)
    found = follow(week4.layout.Layout.from_torch("F32", list(x.shape)), steps)
    assert seen(found) == layout(expected), steps
    last = sum((n - 1) * s for n, s in zip(expected.shape, expected.stride(), strict=True))
    assert found.end() == 4 * (expected.storage_offset() + last + 1)


def test_week4_day1_task_2_rejects_views_outside(week4, r):
    """Checks that a view is accepted if and only if PyTorch, whose storage is the whole tensor, accepts it."""
    for _ in range(20):
        x = r.normal(*sizes(r))
        whole = week4.layout.Layout.from_torch("F32", list(x.shape))
        ne, nb, offset = sizes(r), [4 * r.size(0, 40) for _ in range(4)], 4 * r.size(0, x.numel() + 3)
        try:
            expected = step(x, "view", ne, nb, offset)
        except RuntimeError:
            with pytest.raises(ValueError):
                whole.view(ne, nb, offset)
        else:
            assert seen(whole.view(ne, nb, offset)) == layout(expected)


def test_week4_day1_task_3_contiguous(week4, r):
    x = r.normal(*sizes(r))
    steps, expected = views(r, x)
    found = follow(week4.layout.Layout.from_torch("F32", list(x.shape)), steps)
    assert found.is_contiguous() == expected.is_contiguous()
    copy = torch.frombuffer(bytearray(found.contiguous(stored(x))), dtype=torch.float32)
    close(copy, expected.contiguous().reshape(-1), exact())
    flat = [expected.numel()]
    if expected.is_contiguous():
        assert found.reshape(flat).offset == found.offset
    else:
        with pytest.raises(ValueError, match="contiguous"):
            found.reshape(flat)


def test_week4_day1_task_4_products(week4, r):
    k, m, n, heads, batch = r.size(1, 40), r.size(1, 6), r.size(1, 6), r.size(1, 4), r.size(1, 3)
    a = r.normal(batch, r.choice(1, heads), m, k)
    # The rows of `b` are not adjacent, like those of one of several heads.
    b = r.normal(batch, n, heads, k)
    left = week4.layout.Layout.from_torch("F32", list(a.shape))
    right = week4.layout.Layout.from_torch("F32", list(b.shape)).permute([0, 2, 1, 3])
    expected = b.transpose(1, 2).double() @ a.double().transpose(-1, -2)
    found = week4.product.mul_mat((left, stored(a)), (right, stored(b)))
    size = (b.transpose(1, 2).abs().double() @ a.abs().double().transpose(-1, -2)).max().item()
    close(found, expected, rounding(random_walk(k) + 2, size))
