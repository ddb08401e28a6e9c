"""Week 3, day 4: attention over pages.

Expected values are PyTorch's attention over keys and values that are first gathered from the pool with a block table, which the
engine must never do.
"""

import math

import torch

from oracle.fixtures import Random, relative_rounding, rounding
from oracle.week2_day7 import attention, roundings


def task_1(out):
    for seed, name, why, heads, visible, runs, half in (
        (3401, "one_row", "one row of two heads, over three pages of 32", 2, [(0, 80)], [32, 32, 16], False),
        (3402, "one_position", "a single position has all the weight", 3, [(0, 1)], [1], False),
        (3403, "three_rows", "three rows that see 1, 40 and 70 positions of the same pages: of a page all, some or none", 2, [(0, 1), (0, 40), (0, 70)], [32, 32, 6], False),
        (3404, "many_rows", "ten rows of four heads, each of which sees one position more", 4, [(0, 61 + i) for i in range(10)], [64, 6], False),
        (3405, "windows", "two rows that see the last 40 positions alone, and one that sees all", 2, [(20, 60), (57, 97), (0, 97)], [32, 64, 1], False),
        (3406, "half", "pages of 64 positions in f16, summed in f32", 2, [(0, 200)], [64, 64, 64, 8], True),
        (3407, "rising", "the largest score is in the last page: what came before must be scaled down", 2, [(0, 90), (0, 30)], [32, 32, 26], False),
    ):  # fmt: skip
        r = out.random(seed)
        d, size = 8, sum(runs)
        q, keys, values = r.normal(len(visible) * heads, d), r.normal(size, d), r.normal(size, d)
        if name == "rising":
            ramp = (torch.arange(size, dtype=torch.float32) / size * 4).round(decimals=2)
            keys = ((keys * 0.25 + ramp[:, None] * q.sum(0).sign()) * 256).round() / 256
        if half:
            keys, values = keys.half().float(), values.half().float()
        scale = 1 / math.sqrt(d)
        each = [seen for seen in visible for _ in range(heads)]
        out.case(
            f"task_1_read_run/{name}",
            why=why,
            inputs={"q": q, "keys": keys, "values": values},
            outputs=lambda q, keys, values, each=each, scale=scale: attention(q, keys, values, each, scale),
            scalars={"heads": heads, "visible": visible, "runs": runs, "half": half, "scale": scale},
            tolerance={"output": rounding(roundings(q, keys, scale), values)},
            nan="−∞ − (−∞) is NaN: a reader that sees nothing of a tile takes nothing in." if name == "three_rows" else None,
        )


def task_2(out):
    """Writes cases of whole passes. `rows` are pairs of a sequence and a position."""
    for name, seed, why, page, part, tables, rows in (
        ("task_2_read_pages/one_text", 3411, "one text whose pages lie in another order in memory", 32, 1024, [[2, 0, 3]], [(0, 75)]),
        ("task_2_read_pages/a_prompt", 3412, "six rows of one text, the last of which see a page that the others do not", 32, 1024, [[1, 3]], [(0, p) for p in range(29, 35)]),
        ("task_2_read_pages/shared", 3413, "three answers to one prompt of two pages, and a text of its own between them", 32, 1024, [[4, 1, 0], [5, 2], [4, 1, 3], [4, 1]], [(0, 80), (1, 40), (2, 66), (3, 63)]),
        ("task_2_read_pages/shared_then_not", 3414, "two pairs, which share one page with each other, and two among themselves; pages of 64", 64, 1024, [[0, 1, 2], [0, 4, 5], [0, 1, 3], [0, 4, 6]], [(0, 150), (1, 170), (2, 130), (3, 129)]),
        ("task_3_attend/two_parts", 3421, "a text of more than one part, of 64 positions", 32, 64, [[3, 1, 0, 2]], [(0, 100)]),
        ("task_3_attend/edges", 3422, "rows that end with a part, one before and one after", 32, 64, [[3, 1, 0, 2, 4]], [(0, 62), (0, 63), (0, 64), (0, 127), (0, 128)]),
        ("task_3_attend/shared", 3423, "three answers to a prompt of two parts, and a short text", 32, 64, [[0, 1, 2, 3, 4], [0, 1, 2, 3, 5], [6], [0, 1, 2, 3]], [(0, 140), (2, 20), (1, 130), (3, 127)]),
        ("task_3_attend/rising", 3424, "each part has larger scores than the one before", 32, 64, [[5, 4, 3, 2, 1, 0]], [(0, 190), (0, 191)]),
    ):  # fmt: skip
        r = out.random(seed)
        heads, group, d = 2, 2, 8
        count = 1 + max(max(t) for t in tables)
        # [page, head, position, D]
        keys, values, q = r.normal(count, heads, page, d), r.normal(count, heads, page, d), r.normal(len(rows), heads * group * d)
        if name.endswith("rising"):
            where = {index: i for i, index in enumerate(tables[0])}
            ramp = torch.tensor([[where[index] * page + p for p in range(page)] for index in range(count)]) / 48
            towards = q.reshape(-1, heads, group, d).sum((0, 2)).sign()
            keys = ((keys * 0.25 + ramp[:, None, :, None] * towards[None, :, None, :]) * 256).round() / 256
        scale = 1 / math.sqrt(d)

        def gathered(q, keys, values, tables=tables, rows=rows, scale=scale):
            answer = []
            for row, (s, position) in zip(q.reshape(-1, heads, group, d), rows, strict=True):
                for h in range(heads):
                    k, v = (x[tables[s], h].reshape(-1, d) for x in (keys, values))
                    answer.append(attention(row[h], k, v, [(0, position + 1)] * group, scale))
            return torch.stack(answer).reshape(len(rows), -1)

        # Each head reads a page once for all rows, up to the last position that any row sees.
        seen = {}
        for s, position in rows:
            for i in range(position // page + 1):
                index = tables[s][i]
                seen[index] = max(seen.get(index, 0), min(position + 1 - i * page, page))
        out.case(
            name,
            why=why,
            inputs={"q": q, "keys": keys, "values": values},
            outputs=gathered,
            scalars={"tables": tables, "rows": rows, "part_len": part, "pages_read": len(seen), "positions_read": sum(seen.values()), "scale": scale},
            tolerance={"output": rounding(roundings(q.reshape(-1, d), keys.reshape(-1, d), scale), values.reshape(-1, d))},
        )


def task_3(out):
    """Writes cases that join two or three parts. `parts` are the values times `e^(score - max)`, summed and not divided."""
    for seed, name, why, pieces in (
        (3431, "falling", "the first part holds the maximum", [(6, 5.0), (4, 0.0)]),
        (3432, "rising", "the second part holds the maximum, and the third a larger one", [(5, -3.0), (7, 3.0), (2, 9.0)]),
        (3433, "nothing_first", "a part in which nothing was visible, before one in which something was", [(0, 0.0), (5, 0.0)]),
        (3434, "nothing_last", "a part in which nothing was visible, after one in which something was", [(5, 0.0), (0, 0.0)]),
        (3435, "nothing_at_all", "two parts in which nothing was visible: −∞ less −∞ is no number", [(0, 0.0), (0, 0.0)]),
        (3436, "very_negative", "every score is far below 0: weights are relative to the maximum, not to 0", [(5, -200.0), (4, -195.0)]),
    ):
        r, d = Random(seed), 4
        states, sums, all_scores, all_values = [], [], [], []
        for n, mean in pieces:
            scores, values = r.normal(n, mean=mean).double(), r.normal(n, d).double()
            maximum = scores.max().item() if n else -math.inf
            weights = torch.exp(scores - maximum) if n else scores
            states.append([maximum, weights.sum().item()])
            sums.append(weights @ values if n else torch.zeros(d, dtype=torch.float64))
            all_scores.append(scores)
            all_values.append(values)
        # The expected result is computed from the inputs, which are rounded to f32, not from the scores.
        states, sums = torch.tensor(states).float(), torch.stack(sums).float()
        top = states[:, 0].max().item()
        factors = torch.exp(states[:, 0].double() - top) if top > -math.inf else torch.zeros(len(pieces), dtype=torch.float64)
        total = (factors * states[:, 1].double()).sum()
        joined = (factors[:, None] * sums.double()).sum(0)
        if top > -math.inf:
            scores, values = torch.cat(all_scores), torch.cat(all_values)
            whole = torch.softmax(scores, 0) @ values
            assert torch.allclose(joined / total, whole, atol=1e-5), f"{name}: joined parts are not the whole"
        answer = {"state": torch.tensor([top, total], dtype=torch.float64), "sums": joined}
        out.case(
            f"task_3_join/{name}",
            seed=seed,
            why=why,
            inputs={"states": states, "parts": sums},
            outputs=answer,
            scalars={"pieces": len(pieces)},
            tolerance={"state": relative_rounding(40), "sums": rounding(40, sums)},
            nan="−∞ − (−∞) is NaN: a part in which nothing was visible changes nothing." if name.startswith("nothing") else None,
        )
