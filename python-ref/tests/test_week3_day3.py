"""Week 3, day 3: a block pool, a paged cache, shared pages, and an engine with too few pages."""

import torch
from live import close, q8_0
from oracle.fixtures import exact
from test_week2_day1 import model


def test_week3_day3_task_1_pool(week3, r):
    """Compares the pool with a list of free pages and the page of each handle."""
    count = r.size(1, 8)
    pool, free, owners = week3.pool.BlockPool(count), list(range(count)), {}
    for _ in range(60):
        act = r.choice("allocate", "allocate", "retain", "release")
        if act == "allocate":
            handle = pool.allocate()
            assert (handle is None) == (not free)
            if free:
                owners[handle] = free.pop(0)
        elif owners:
            handle = r.choice(*owners)
            if act == "retain":
                owners[pool.retain(handle)] = owners[handle]
            else:
                page = owners.pop(handle)
                pool.release(handle)
                if page not in owners.values():
                    free.append(page)
        assert pool.num_free() == len(free)
        for handle, page in owners.items():
            assert pool.page(handle) == (page, list(owners.values()).count(page))
        assert [pool.can_allocate(n) for n in range(count + 2)] == [n <= len(free) for n in range(count + 2)]


class Texts:
    """A paged cache, and the cells that each of its sequences received."""

    def __init__(self, week3, week2, r):
        self.r, self.kind = r, r.choice("F32", "F16", "Q8_0")
        self.layers, self.heads, self.d = r.size(1, 3), r.size(1, 3), r.size(1, 6)
        self.page, self.count = r.choice(32, 64), r.size(5, 9)
        kind = getattr(week2.cache.CacheType, self.kind)
        self.cache = week3.paged.PagedCache(self.layers, 3, self.heads, 300, self.d, self.page, self.count, kind)
        self.texts = [[], [], []]

    def stored(self, x):
        if self.kind == "Q8_0":
            return torch.from_numpy(q8_0(x.numpy()))
        return x.half().float() if self.kind == "F16" else x

    def append(self, sequence, n):
        for _ in range(n):
            keys, values = (self.r.normal(self.layers, self.heads, self.d) for _ in range(2))
            if not self.cache.append(sequence, keys, values):
                assert self.cache.num_free() == 0 or len(self.texts[sequence]) == min(300, self.count * self.page)
                return
            self.texts[sequence].append((keys, values))

    def truncate(self, sequence, length):
        self.cache.truncate(sequence, length)
        del self.texts[sequence][length:]

    def check(self):
        tables = [self.cache.table(s) for s in range(3)]
        for (pages, length), text in zip(tables, self.texts, strict=True):
            assert length == len(text) and len(pages) == -(-length // self.page)
        assert self.cache.num_free() == self.count - len({page for pages, _ in tables for page in pages})
        for sequence, text in enumerate(self.texts):
            layer, head, start = self.r.size(0, self.layers - 1), self.r.size(0, self.heads - 1), self.r.size(0, len(text))
            found = self.cache.read(layer, sequence, head, start)
            for got, which in zip(found, (0, 1), strict=True):
                given = [cell[which][layer, head] for cell in text[start:]]
                expected = torch.stack(given) if given else torch.zeros(0, self.d)
                close(got, self.stored(expected), exact())


def test_week3_day3_task_2_paged_cache(week2, week3, r):
    texts = Texts(week3, week2, r)
    for _ in range(12):
        sequence = r.size(0, 2)
        if r.choice(True, False, False):
            texts.truncate(sequence, r.size(0, len(texts.texts[sequence])))
        else:
            texts.append(sequence, r.size(1, 50))
        texts.check()


def test_week3_day3_task_3_shared_pages(week2, week3, r):
    texts = Texts(week3, week2, r)
    for _ in range(15):
        a, b = r.different(2, 0, 2)
        act = r.choice("append", "append", "fork", "truncate")
        if act == "append":
            texts.append(a, r.size(1, 40))
        elif act == "truncate":
            texts.truncate(a, r.size(0, len(texts.texts[a])))
        else:
            texts.truncate(b, 0)
            texts.cache.fork(a, b)
            texts.texts[b] = list(texts.texts[a])
        texts.check()


def test_week3_day3_task_4_too_few_pages(week2, week3, r):
    """Checks that answers with few pages equal those with many."""
    decoder, config, _ = model(week2, r, r.choice("llama", "qwen2", "qwen3"))
    requests = []
    for seed in range(4):
        prompt = r.integers(r.size(1, 30), high=config["vocab_size"]).tolist()
        requests.append(week3.request.Request(prompt, r.size(20, 60), temperature=r.choice(0.0, 1.0), seed=seed))
    expected, _ = week3.paged.PagedEngine(decoder, 4, 96, 32, 12).run(requests)
    for pages in (3, r.size(4, 6)):
        engine = week3.paged.PagedEngine(decoder, 4, 96, 32, pages)
        found, _ = engine.run(requests)
        assert found == expected and engine.num_free() == pages
