"""Week 4, day 3: the memory planner.

Expected values are computed in the simplest way. Lifetimes: by searching all steps for the readers of each buffer, with views
followed to their sources. The arena: a list of units, each free or not, whose gaps are measured anew for every request.
Peaks of a plan: by executing it step by step on that list. The results of a graph are PyTorch's.
"""

import torch

from oracle.fixtures import Random, exact

UNIT = 64


def aligned(n):
    return -(-4 * n // UNIT) * UNIT


def root(nodes, i):
    while nodes[i]["op"] in ("reshape", "permute"):
        i = nodes[i]["sources"][0]
    return i


def lifetimes(nodes, order, results):
    """Returns node, bytes, first and last step of each buffer, in the order of the steps."""
    found = []
    for first, i in enumerate(order):
        if nodes[i]["op"] in ("values", "reshape", "permute"):
            continue
        readers = [step for step, j in enumerate(order) if any(root(nodes, s) == i for s in nodes[j]["sources"])]
        if any(root(nodes, r) == i for r in results):
            readers.append(len(order))
        found.append([i, aligned(nodes[i]["elements"]), first, max(readers, default=first)])
    return found


def bound(lives):
    return max((sum(b for _, b, first, last in lives if first <= step <= last) for step in range(max(x[3] for x in lives) + 1)), default=0)


class Bytes:
    """An arena in units of 64 bytes."""

    def __init__(self):
        self.used, self.peak = [], 0

    def gaps(self):
        gaps, start = [], None
        for i, used in enumerate([*self.used, True]):
            if not used and start is None:
                start = i
            if used and start is not None:
                gaps.append((start, i - start))
                start = None
        return gaps

    def allocate(self, n):
        n //= UNIT
        fits = [gap for gap in self.gaps() if gap[1] >= n]
        if fits:
            start = min(fits, key=lambda gap: gap[1])[0]
        else:
            last = self.gaps()[-1:] or [(len(self.used), 0)]
            start = last[0][0] if sum(last[0]) == len(self.used) else len(self.used)
        self.used += [False] * (start + n - len(self.used))
        self.used[start : start + n] = [True] * n
        self.peak = max(self.peak, len(self.used))
        return start * UNIT

    def release(self, start, n):
        assert all(self.used[start // UNIT : (start + n) // UNIT])
        self.used[start // UNIT : (start + n) // UNIT] = [False] * (n // UNIT)


def plan(nodes, order, results, in_place):
    """Returns node, offset and size of each buffer, and the peak. With `in_place`, a sum or a norm may reuse its first source's buffer."""
    lives, arena, parts, taken = lifetimes(nodes, order, results), Bytes(), {}, set()
    for step in range(len(order)):
        for i, size, first, _ in lives:
            if first != step:
                continue
            roots = [root(nodes, s) for s in nodes[i]["sources"]]
            source = next((x for x in lives if roots and x[0] == roots[0]), None)
            if in_place and nodes[i]["op"] in ("add", "rms_norm") and source and source[3] == first and source[1] == size and roots[0] not in roots[1:]:
                taken.add(source[0])
                parts[i] = parts[source[0]]
            else:
                parts[i] = arena.allocate(size)
        for i, size, _, last in lives:
            if last == step and i not in taken:
                arena.release(parts[i], size)
    return [[i, parts[i], size] for i, size, *_ in lives], arena.peak * UNIT


class Builder:
    """A graph of rows of numbers, and PyTorch's value of each node."""

    def __init__(self, seed):
        self.r, self.nodes, self.known, self.numbers = Random(seed), [], [], []

    def node(self, op, sources, value, **more):
        self.nodes.append({"op": op, "sources": list(sources), "elements": value.numel(), "shape": list(value.shape[::-1])} | more)
        self.known.append(value)
        return len(self.nodes) - 1

    def values(self, rows, n):
        x = self.r.integers(rows, n, high=7).double() - 3
        self.numbers.append(x)
        return self.node("values", [], x, numbers=len(self.numbers) - 1)

    def add(self, a, b):
        return self.node("add", [a, b], self.known[a] + self.known[b])

    def reshape(self, a, rows, n):
        return self.node("reshape", [a], self.known[a].reshape(rows, n))

    def contiguous(self, a):
        turned = self.node("permute", [a], self.known[a].T)
        return self.node("contiguous", [turned], self.known[a].T.contiguous())

    def mul_mat(self, a, b):
        return self.node("mul_mat", [a, b], self.known[b] @ self.known[a].T)


def chain(g):
    x = g.values(1, 32)
    for _ in range(6):
        x = g.add(x, g.values(1, 32))
    return [x]


def residual(g, times=3):
    """What is added last is read first: it lives all the time."""
    x = g.add(g.values(4, 16), g.values(4, 16))
    for _ in range(times):
        h = g.mul_mat(g.values(48, 16), x)
        x = g.add(x, g.mul_mat(g.values(16, 48), h))
    return [x]


def view(g):
    """A view is read long after its source has been read for the last time."""
    x = g.add(g.values(2, 24), g.values(2, 24))
    flat = g.reshape(x, 1, 48)
    again = g.reshape(flat, 4, 12)
    y = g.contiguous(x)
    z = g.add(y, y)
    w = g.add(z, g.values(24, 2))
    return [g.mul_mat(g.values(5, 12), again), w]


def results(g):
    """A result in the middle, of which the last node is the last reader: it must not be written over."""
    x = g.add(g.values(1, 64), g.values(1, 64))
    y = g.add(x, g.values(1, 64))
    z = g.add(y, g.values(1, 64))
    return [y, z]


def twice(g):
    """A sum of a node and itself, and of a node and a view of it."""
    x = g.add(g.values(2, 32), g.values(2, 32))
    y = g.add(x, x)
    z = g.add(y, g.reshape(y, 2, 32))
    return [g.add(z, z)]


def sizes(g):
    """Gaps of several sizes, of which the shortest that is long enough is not the first."""
    big = g.add(g.values(8, 64), g.values(8, 64))
    keep = g.add(g.values(1, 16), g.values(1, 16))
    small = g.add(g.values(1, 48), g.values(1, 48))
    keep2 = g.add(g.values(1, 16), g.values(1, 16))
    a = g.mul_mat(g.values(3, 64), big)
    b = g.mul_mat(g.values(3, 48), small)
    c = g.add(g.values(1, 32), g.values(1, 32))
    d = g.add(g.values(6, 64), g.values(6, 64))
    e = g.add(keep, keep2)
    last = g.mul_mat(g.values(2, 32), c)
    return [a, b, d, e, last]


def nobody(g):
    """A node that nobody reads is written all the same, if the order has it."""
    x = g.add(g.values(1, 16), g.values(1, 16))
    g.add(x, g.values(1, 16))
    return [x]


GRAPHS = (chain, residual, view, results, twice, sizes, nobody)

SCRIPTS = (
    ("first_come", "parts one after the other", [("take", 64), ("take", 128), ("take", 64)]),
    ("same_again", "what comes back is used again", [("take", 64), ("take", 128), ("give", 0), ("take", 64), ("take", 64)]),
    ("best_fit", "the shortest gap that is long enough, not the first", [("take", 256), ("take", 64), ("take", 128), ("take", 64), ("give", 0), ("give", 2), ("take", 128), ("take", 192)]),
    ("ties", "of two gaps that are as long, the first", [("take", 128), ("take", 64), ("take", 128), ("take", 64), ("give", 2), ("give", 0), ("take", 64)]),
    ("joins_before", "a part joins the free one before it", [("take", 64), ("take", 64), ("take", 64), ("give", 0), ("give", 1), ("take", 128)]),
    ("joins_behind", "a part joins the free one behind it", [("take", 64), ("take", 64), ("take", 64), ("give", 1), ("give", 0), ("take", 128)]),
    ("joins_both", "a part between two free ones joins both", [("take", 64), ("take", 64), ("take", 64), ("take", 64), ("give", 0), ("give", 2), ("give", 1), ("take", 192)]),
    ("grows_from_the_gap", "no gap is long enough, but one lies at the end", [("take", 64), ("take", 64), ("give", 1), ("take", 256)]),
    ("rest_of_a_gap", "what is left of a gap is free", [("take", 256), ("take", 64), ("give", 0), ("take", 64), ("take", 128), ("take", 64)]),
    ("all_back", "everything comes back, then more is wanted than ever", [("take", 64), ("take", 128), ("give", 0), ("give", 1), ("take", 256)]),
)  # fmt: skip


def cases(out):
    for i, (name, why, script) in enumerate(SCRIPTS):
        arena, lent, steps = Bytes(), [], []
        for act, n in script:
            if act == "take":
                lent.append((arena.allocate(n), n))
            else:
                arena.release(*lent[n])
            free = [[a * UNIT, b * UNIT] for a, b in arena.gaps()]
            steps.append({"act": act, "n": n, "at": lent[-1][0] if act == "take" else 0, "free": free, "peak": arena.peak * UNIT})
        out.case(f"task_2_arena/{name}", seed=4300 + i, why=why, scalars={"steps": steps})
    for i, build in enumerate(GRAPHS):
        g = Builder(4350 + i)
        ends = build(g)
        order = list(range(len(g.nodes)))
        lives = lifetimes(g.nodes, order, ends)
        plain, plain_peak = plan(g.nodes, order, ends, False)
        over, over_peak = plan(g.nodes, order, ends, True)
        # The values of each result.
        expected = torch.cat([g.known[end].reshape(-1) for end in ends])
        out.case(
            f"task_3_graph/{build.__name__}", seed=4350 + i, why=(build.__doc__ or "a chain of sums").strip().rstrip("."),
            inputs={f"x{k}": x.float() for k, x in enumerate(g.numbers)}, outputs={"results": expected}, tolerance={"results": exact()},
            scalars={
                "nodes": [{k: v for k, v in node.items() if k != "elements"} for node in g.nodes], "results": ends, "lives": lives, "bound": bound(lives),
                "plain": plain, "plain_peak": plain_peak, "over": over, "over_peak": over_peak,
            },
        )  # fmt: skip
