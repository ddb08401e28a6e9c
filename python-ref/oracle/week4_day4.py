"""Week 4, day 4: backends.

Expected values are computed the slow way. Placements with the fewest copies: by trying all of them. Splits: by checking for each
reader, in order, which of its sources are not on its backend yet. Copied numbers: PyTorch's.
"""

import itertools

import torch

from oracle.fixtures import Random, exact
from oracle.week4_day3 import GRAPHS, Builder, residual

VIEWS, LEAVES = ("reshape", "permute"), ("values", "weight", "tokens")


def choose(r, *options):
    return options[int(r.integers(1, high=len(options)))]


def root(nodes, i):
    while nodes[i]["op"] in VIEWS:
        i = nodes[i]["sources"][0]
    return i


def is_computed(nodes, i):
    return nodes[i]["op"] not in VIEWS + LEAVES


def sources(nodes, i):
    """Returns the nodes whose bytes node `i` reads, if need be through views, without leaves."""
    roots = (root(nodes, s) for s in nodes[i]["sources"])
    return [s for s in roots if is_computed(nodes, s)]


def pins(nodes, lacks, homes, cache):
    """Returns, for each node, the backend that must compute it, or -1 if none must."""
    able = {i: [b for b, lack in enumerate(lacks) if nodes[i]["op"] not in lack] for i in range(len(nodes)) if is_computed(nodes, i)}
    caching = [i for i in able if nodes[i]["op"] in ("store", "attend")]
    keepers = [b for b in range(len(lacks)) if all(b in able[i] for i in caching)]
    keeper = cache if cache in keepers else keepers[0]
    found = []
    for i in range(len(nodes)):
        weights = [w for w in (root(nodes, s) for s in nodes[i]["sources"]) if nodes[w]["op"] == "weight"]
        if i not in able:
            found.append(-1)
        elif i in caching:
            found.append(keeper)
        elif weights:
            home = homes.get(weights[0])
            found.append(home if home in able[i] else able[i][0])
        else:
            found.append(able[i][0] if len(able[i]) == 1 else -1)
    return found


def copies(nodes, placed):
    """Returns the nodes to copy, each with its destination."""
    return {(s, placed[i]) for i in range(len(nodes)) if is_computed(nodes, i) for s in sources(nodes, i) if placed[s] != placed[i]}


def fewest(nodes, pinned):
    """Returns the placement with the fewest copies, and their number. Of several, returns the one with the most nodes on backend 0."""
    free = [i for i in range(len(nodes)) if is_computed(nodes, i) and pinned[i] < 0]
    best = []
    for choice in itertools.product((0, 1), repeat=len(free)):
        placed = list(pinned)
        for i, b in zip(free, choice, strict=True):
            placed[i] = b
        best.append((len(copies(nodes, placed)), sum(choice), placed))
    least = min(n[:2] for n in best)
    (found,) = (placed for *n, placed in best if tuple(n) == least)
    return found, least[0]


def splits(nodes, placed):
    """Returns the backend, the copied nodes and the computed nodes of each split."""
    found, there = [], set()
    for i in range(len(nodes)):
        if not is_computed(nodes, i):
            continue
        if not found or found[-1][0] != placed[i]:
            found.append([placed[i], [], []])
        for s in sources(nodes, i):
            if placed[s] != placed[i] and (s, placed[i]) not in there:
                there.add((s, placed[i]))
                found[-1][1].append(s)
        found[-1][2].append(i)
    return found


class Sketch:
    """A graph without numbers. The default shape is two rows of four."""

    def __init__(self):
        self.nodes, self.pinned = [], []

    def node(self, op, *sources, at=-1, **more):
        self.nodes.append({"op": op, "sources": list(sources)} | more)
        self.pinned.append(at)
        return len(self.nodes) - 1

    def first(self, at=-1):
        """Adds a node that reads only leaves."""
        return self.node("add", self.node("values"), self.node("values"), at=at)

    def sum(self, *sources, at=-1):
        a, b = sources if len(sources) == 2 else (sources[0], self.node("values"))
        return self.node("add", a, b, at=at)


def chain(g):
    """Between a node here and one there it does not matter where the copy is: most stay with the first backend"""
    x = g.first(at=0)
    for at in (-1, -1, -1, 1):
        x = g.sum(x, at=at)


def island(g):
    """A node that could be computed by the first backend, between two that cannot"""
    x = g.first(at=1)
    for at in (-1, 1, -1, -1, 1):
        x = g.sum(x, at=at)


def surrounded(g):
    """A node that only the first backend supports, between results of the last"""
    x = g.sum(g.first(at=1), g.first(at=1), at=0)
    g.sum(x, at=1)


def beginning(g):
    """A node that reads leaves alone is computed where it is read"""
    x = g.sum(g.first(), at=1)
    g.sum(g.sum(x), at=1)


def fan(g):
    """What is read three times over there is copied once"""
    x = g.sum(g.first(at=0))
    for _ in range(3):
        g.sum(x, at=1)


def join(g):
    """Two results of the first backend come together before the other reads"""
    a, b = g.first(at=0), g.first(at=0)
    g.sum(g.sum(a, b), at=1)


def join_there(g):
    """Two results of the last backend come together before the first reads"""
    a, b = g.first(at=1), g.first(at=1)
    g.sum(g.sum(a, b), at=0)


def both_sources(g):
    """A copy of a second source costs as much as one of a first, beside nodes with a reader here, and on either side"""
    g.sum(g.first(at=1), g.first(at=0))
    g.sum(g.sum(g.first(at=1)), at=0)
    x = g.sum(g.first(at=1))
    g.sum(x, at=0)
    g.sum(x, at=1)


def views(g):
    """Who reads a view reads what it is a view of, and a copy serves both"""
    x = g.sum(g.first(at=0))
    flat = g.node("reshape", x, shape=[8])
    y = g.sum(g.node("reshape", flat, shape=[4, 2]), at=1)
    g.sum(x, y, at=1)
    g.sum(x, at=1)


def seen_through_a_view(g):
    """All that ties a node to the other backend is a view"""
    x = g.first(at=1)
    y = g.sum(g.node("reshape", x, shape=[4, 2]))
    g.sum(g.node("reshape", y, shape=[4, 2]), at=1)


def leaves(g):
    """Numbers that both read are not copied"""
    v, w = g.node("values"), g.node("values")
    x = g.node("add", v, w, at=0)
    y = g.node("add", v, w, at=1)
    z = g.node("add", w, v)
    g.node("add", g.node("add", x, z), y, at=1)


def leaves_over_there(g):
    """Numbers that the last backend reads, too, draw nobody to it"""
    v, w = g.node("values"), g.node("values")
    x = g.node("add", v, w, at=1)
    y = g.node("add", v, w)
    g.sum(y, at=0)
    g.sum(x, at=1)


def alone(g):
    """Nobody is pinned"""
    x = g.first()
    for _ in range(4):
        x = g.sum(x, x)


def settled(g):
    """Everybody is pinned"""
    x = g.first(at=0)
    for at in (1, 0, 0, 1):
        x = g.sum(x, at=at)


def unread(g):
    """A node that nobody reads, and whose source is over there"""
    x = g.first(at=1)
    g.sum(x)
    g.sum(x, at=0)


def both_ways(g):
    """A result that is read on both sides"""
    x = g.first(at=0)
    y = g.sum(x)
    g.sum(y, at=0)
    z = g.sum(y, at=1)
    g.sum(g.sum(z), y, at=1)


def layers(g):
    """Two layers whose cache is with the last backend: a norm, three products, attention, a sum"""
    x = g.first(at=0)
    for _ in range(2):
        h = g.node("rms_norm", x, g.node("values", shape=[4]))
        weights = [g.node("weight") for _ in range(4)]
        q, k, v = (g.node("mul_mat", w, h, at=0) for w in weights[:3])
        q, k = g.sum(q), g.sum(k)
        y = g.sum(q, g.sum(k, v, at=1), at=1)
        y = g.sum(y)
        o = g.node("mul_mat", weights[3], y, at=0)
        x = g.sum(x, o)


def drawn(seed):
    """A graph that nobody has thought of"""
    r, g = Random(seed), Sketch()
    ids = [g.first(at=choose(r, 0, 1)), g.first(at=choose(r, 0, 1))]
    for _ in range(13):
        a, b = (choose(r, *ids[-5:]) for _ in range(2))
        at = choose(r, -1, -1, -1, 0, 1)
        match choose(r, "sum", "sum", "view", "one"):
            case "view":
                ids.append(g.node("reshape", a, shape=[4, 2]))
            case "one":
                ids.append(g.sum(a, at=at))
            case _:
                ids.append(g.sum(a, b, at=at))
    return g


SKETCHES = (chain, island, surrounded, beginning, fan, both_sources, join, join_there, views, seen_through_a_view, leaves, leaves_over_there, alone, settled, unread, both_ways, layers)


def model(g):
    """Adds two layers and an output, as in a language model's graph."""
    table = g.node("weight", shape=[4, 7])
    x = g.node("embed", table, g.node("tokens", shape=[2]))
    for layer in range(2):
        h = g.node("rms_norm", x, g.node("values", shape=[4]))
        w = [g.node("weight") for _ in range(4)]
        q, k, v = (g.node("reshape", g.node("mul_mat", w[i], h), shape=[2, 2, 2]) for i in range(3))
        q, k = g.node("rope", q), g.node("rope", k)
        stored = g.node("store", k, v, layer=layer)
        y = g.node("attend", q, stored, layer=layer)
        x = g.node("add", x, g.node("mul_mat", w[3], y))
        h = g.node("rms_norm", x, g.node("values", shape=[4]))
        gate, up, down = (g.node("weight") for _ in range(3))
        h = g.node("silu_gate", g.node("mul_mat", gate, h), g.node("mul_mat", up, h))
        x = g.node("add", x, g.node("mul_mat", down, h))
    h = g.node("rms_norm", g.node("wanted", x, rows=1), g.node("values", shape=[4]))
    g.node("mul_mat", table, h)


def weights_of(g):
    return [i for i, node in enumerate(g.nodes) if node["op"] == "weight"]


# Name, reason, operations that each backend lacks, homes of weights by their index among the weights, and the cache's backend.
PLACEMENTS = (
    ("all_supported", "the first backend supports everything", [[], []], {}, -1),
    ("one_backend", "nobody has a choice", [[]], {}, -1),
    ("no_rows_by_number", "the first backend cannot look rows up", [["embed"], []], {}, -1),
    ("no_attention", "it stores and cannot attend: keys and values stay with whoever does both", [["attend"], []], {}, -1),
    ("no_store", "it attends and cannot store", [["store", "embed"], []], {}, -1),
    ("cache_wished", "it could do both, but the cache is said to be elsewhere", [[], []], {}, 1),
    ("cache_wished_in_vain", "the cache is wished where nobody can attend", [["attend"], []], {}, 0),
    ("homes", "some weights are at home with the last backend", [[], []], {2: 1, 4: 1, 7: 0, 14: 1}, -1),
    ("homes_in_vain", "a weight is at home with one that cannot multiply", [["mul_mat"], []], {2: 0, 3: 1}, -1),
    ("shared_weight", "the table is read by two operations, of which its home supports one", [["embed"], []], {0: 0}, -1),
    ("three", "three backends, each with gaps", [["attend", "rope", "embed", "add"], ["store", "silu_gate", "embed", "add"], ["rms_norm"]], {3: 1, 5: 2}, -1),
    ("three_homes", "three backends and a home in the middle", [[], [], []], {1: 1, 2: 2, 9: 1}, 1),
)  # fmt: skip


def cases(out):
    for name, why, lacks, homes, cache in PLACEMENTS:
        g = Sketch()
        model(g)
        weights = weights_of(g)
        homes = {weights[i]: home for i, home in homes.items()}
        # A view of a weight counts as the weight.
        g.node("mul_mat", g.node("reshape", weights[2], shape=[4, 4]), len(g.nodes) - 3)
        out.case(
            f"task_2_model/{name}", seed=4400, why=why,
            scalars={
                "nodes": g.nodes, "lacks": lacks, "homes": [[i, home] for i, home in homes.items()], "cache": cache,
                "pinned": pins(g.nodes, lacks, homes, cache),
            },
        )  # fmt: skip
    sketches = []
    for build in SKETCHES:
        g = Sketch()
        build(g)
        sketches.append((build.__name__, build.__doc__, g))
    sketches += [(f"drawn_{seed}", drawn.__doc__, drawn(4420 + seed)) for seed in range(6)]
    for name, why, g in sketches:
        placed, least = fewest(g.nodes, g.pinned)
        found = splits(g.nodes, placed)
        assert sum(len(split[1]) for split in found) == least
        scalars = {"nodes": g.nodes, "pinned": g.pinned, "placed": placed, "copies": least}
        if not name.startswith("drawn"):
            out.case(f"task_3_graph/{name}", seed=4410, why=why, scalars=scalars)
        out.case(f"task_4_graph/{name}", seed=4410, why=why, scalars=scalars | {"splits": found})
    # Random placements need many copies in both directions.
    for i, build in enumerate((residual, *(build for build in GRAPHS if build is not residual))):
        g = Builder(4450 + i)
        # Fewer repetitions than on day 3, so that every sum is exact.
        ends = build(g, times=2) if build is residual else build(g)
        r = Random(4470 + i)
        placed = [choose(r, 0, 1, 2) if is_computed(g.nodes, k) else -1 for k in range(len(g.nodes))]
        expected = torch.cat([g.known[end].reshape(-1) for end in ends])
        out.case(
            f"task_4_numbers/{build.__name__}", seed=4450 + i, why="any placement comes to the same numbers",
            inputs={f"x{k}": x.float() for k, x in enumerate(g.numbers)}, outputs={"results": expected}, tolerance={"results": exact()},
            scalars={
                "nodes": [{k: v for k, v in node.items() if k != "elements"} for node in g.nodes], "results": ends,
                "placed": placed, "splits": splits(g.nodes, placed),
            },
        )  # fmt: skip
