"""Week 3, day 3: pages.

A script acts on a few sequences: it appends positions, forks a sequence, truncates another. A plain model of a pool, with a list of
free pages and a set of owners for each other page, computes the pages of each sequence after every line. The final contents come
from one tensor of pages, indexed with the block table. The concatenated history of what each sequence received must agree.
"""

import torch


PAGE = 32


class Pages:
    """A cache of one layer and one head, with keys and values in `pages [P, PAGE, 2, D]`."""

    def __init__(self, count, sequences, d):
        self.pages = torch.zeros(count, PAGE, 2, d)
        self.free = list(range(count))
        self.owners = [set() for _ in range(count)]
        self.tables = [[] for _ in range(sequences)]
        self.lengths = [0] * sequences

    def take(self, sequence):
        page = self.free.pop(0)
        self.owners[page] = {sequence}
        return page

    def drop(self, page, sequence):
        self.owners[page].remove(sequence)
        if not self.owners[page]:
            self.free.append(page)

    def append(self, sequence, cells):
        for cell in cells:
            at, table = self.lengths[sequence], self.tables[sequence]
            if at // PAGE == len(table):
                table.append(self.take(sequence))
            page = table[-1]
            if len(self.owners[page]) > 1:
                table[-1] = self.take(sequence)
                self.pages[table[-1]] = self.pages[page]
                self.drop(page, sequence)
            self.pages[table[-1], at % PAGE] = cell
            self.lengths[sequence] += 1

    def fork(self, source, to):
        self.tables[to], self.lengths[to] = list(self.tables[source]), self.lengths[source]
        for page in self.tables[to]:
            self.owners[page].add(to)

    def truncate(self, sequence, length):
        self.lengths[sequence] = min(length, self.lengths[sequence])
        kept = -(-self.lengths[sequence] // PAGE)
        for page in self.tables[sequence][kept:]:
            self.drop(page, sequence)
        del self.tables[sequence][kept:]


SCRIPTS = (
    (3301, "task_2_script/one_text", "one text over two whole pages and a part of a third", 4, [("append", 0, 70)]),
    (3302, "task_2_script/in_turns", "two texts that grow in turns: neighbours in a text are none in memory", 6,
     [("append", 2, 3), ("append", 0, 20), ("append", 1, 40), ("append", 0, 20), ("append", 1, 24), ("append", 0, 24)]),
    (3303, "task_2_script/given_back", "pages that a text gives back are taken by another, after those that were free before", 5,
     [("append", 2, 3), ("append", 0, 70), ("truncate", 0, 33), ("append", 1, 50), ("truncate", 0, 10), ("append", 1, 40)]),
    (3304, "task_2_script/to_the_edge", "a text that is cut at the edge of a page, and one position further", 5,
     [("append", 1, 5), ("append", 0, 65), ("truncate", 0, 64), ("truncate", 0, 32), ("append", 0, 1), ("append", 1, 32)]),
    (3311, "task_3_script/half_a_page", "two texts that share 40 positions, then go on in different ways: the second page is copied once", 6,
     [("append", 0, 40), ("fork", 0, 1), ("append", 0, 3), ("append", 1, 5)]),
    (3312, "task_3_script/whole_pages", "the shared pages are full: nothing is copied", 6,
     [("append", 0, 64), ("fork", 0, 1), ("append", 0, 3), ("append", 1, 5)]),
    (3313, "task_3_script/three_answers", "three answers to a prompt of 50: the last writer keeps the page that the others have left", 8,
     [("append", 0, 50), ("fork", 0, 1), ("fork", 0, 2), ("append", 2, 20), ("append", 0, 1), ("append", 1, 1)]),
    (3314, "task_3_script/cut_into_what_is_shared", "a text is cut inside a page that another still has, and goes on otherwise", 6,
     [("append", 0, 60), ("fork", 0, 1), ("truncate", 1, 20), ("append", 1, 25), ("append", 0, 10)]),
    (3315, "task_3_script/the_first_one_leaves", "whose prompt it was is gone: its pages stay with whom it was shared", 4,
     [("append", 0, 45), ("fork", 0, 1), ("truncate", 0, 0), ("append", 1, 30), ("append", 0, 20)]),
)  # fmt: skip

D = 2


def cases(out):
    for seed, name, why, count, script in SCRIPTS:
        r = out.random(seed)
        # Draws the cells of all appends at once. The history of each sequence is a list of their indices.
        cells = r.normal(sum(n for act, _, n in script if act == "append"), 2, D)
        model, history, used, steps = Pages(count, 3, D), [[] for _ in range(3)], 0, []
        for act, a, b in script:
            if act == "append":
                model.append(a, cells[used : used + b])
                history[a] += range(used, used + b)
                used += b
            elif act == "fork":
                model.fork(a, b)
                history[b] = list(history[a])
            else:
                model.truncate(a, b)
                history[a] = history[a][:b]
            steps.append({"act": act, "a": a, "b": b, "tables": [list(t) for t in model.tables], "free": len(model.free)})
        gathered = {}
        for s, table in enumerate(model.tables):
            if not table:
                continue
            found = model.pages[table].reshape(-1, 2, D)[: model.lengths[s]]
            assert torch.equal(found, cells[history[s]]), f"{name}: sequence {s} is not what it was given"
            gathered[f"sequence_{s}"] = found.reshape(-1, 2 * D)
        out.case(
            name,
            why=why,
            inputs={"cells": cells},
            outputs=gathered,
            scalars={"pages": count, "page_len": PAGE, "steps": steps},
        )
