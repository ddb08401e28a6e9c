"""Week 3, day 5: hashes of pages, an index that survives collisions, a prompt's file byte by byte."""

import numpy as np
import pytest
from oracle.week3_day5 import chain, hash_page, prompt_file


def test_week3_day5_task_1_page_hashes(week3, r):
    names = week3.prefix_hash
    tokens = r.integers(r.size(0, 40), high=200_000).tolist()
    before, page_len = r.random.getrandbits(64), r.size(1, 9)
    assert names.hash_page(before, tokens) == hash_page(before, tokens)
    assert names.chain(before, tokens, page_len) == chain(before, tokens, page_len)


@pytest.mark.parametrize("collide", [False, True])
def test_week3_day5_task_2_prefix_index(week3, r, collide):
    """Checks that each page found holds the wanted text, even if hashes collide. Without collisions, all stored pages are found."""
    page_len = r.size(1, 3)
    index, held = week3.prefix_index.PrefixIndex(24, page_len, collide), {}
    for _ in range(150):
        text = r.integers(r.size(0, 4 * page_len), high=2).tolist()
        wanted = [tuple(text[: (i + 1) * page_len]) for i in range(max(0, len(text) - 1) // page_len)]
        match r.size(0, 3):
            case 0:
                before = index.counts()
                assert index.evict() == (before[0] > 0)
            case 1 | 2:
                for i, page in enumerate(index.compute(text) or []):
                    held.setdefault(tuple(text[: (i + 1) * page_len]), set()).add(page)
            case _:
                found = index.find(text)
                assert len(found) <= len(wanted)
                assert all(page in held[beginning] for page, beginning in zip(found, wanted))
        pages, free = index.counts()
        assert pages + free == 24, "no sequence has a page: each is free or in the index"
    while index.evict():
        pass
    assert index.counts() == (0, 24)
    if not collide:
        text = r.integers(4 * page_len + 1, high=50).tolist()
        assert index.find(text) == []
        pages = index.compute(text)
        assert index.find(text) == pages[: (len(text) - 1) // page_len]


@pytest.mark.parametrize("kind", ["F32", "F16"])
def test_week3_day5_task_4_prompt_file(week2, week3, r, kind):
    files = week3.prompt_file
    cache_type = getattr(week2.cache.CacheType, kind)
    stored = np.dtype("<f4" if kind == "F32" else "<f2")
    layers, heads, n, dim = r.size(1, 3), r.size(1, 3), r.size(1, 6), r.size(1, 5)
    cells = r.normal(layers, 2, heads, n, dim).numpy()
    tokens, fingerprint = r.integers(n, high=1000).tolist(), r.random.getrandbits(64)
    file = bytes(files.encode(tokens, cells[:, 0], cells[:, 1], fingerprint, cache_type))
    assert file == prompt_file(cells.astype(stored), tokens, fingerprint)
    found, keys, values = files.decode(file, fingerprint, cache_type, layers, heads, dim)
    rounded = cells.astype(stored).astype(np.float32)
    assert found == tokens and (keys == rounded[:, 0]).all() and (values == rounded[:, 1]).all()
    at = r.size(0, len(file) - 1)
    damaged = file[:at] + bytes([file[at] ^ 1 << r.size(0, 7)]) + file[at + 1 :]
    for bad in (damaged, file[:at], file + b"\0" * 8):
        with pytest.raises(ValueError):
            files.decode(bad, fingerprint, cache_type, layers, heads, dim)
