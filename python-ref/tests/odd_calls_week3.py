"""Odd calls of week 3's bindings, like those of weeks 1 and 2 in odd_calls.py, whose functions it uses.

    python python-ref/tests/odd_calls_week3.py --seed 1 --calls 1000
"""

import math
import re
import sys
import threading

import numpy as np
import odd_calls
import tiny_llm
from odd_calls import CT, MODEL2, W1, array, cache_round, decoder, finite, nearly_equal, need, real, softmax, whole
from oracle.week3_day5 import chain, hash_page
from oracle.week3_day7 import fewest_pieces, is_json
from test_week3_day2 import decoding_rows, prompts, turns

W3 = tiny_llm.reference.week3
MOST = 1 << 64


def exact(found, expected, *arguments):
    assert found == expected, f"found {found!r}, expected {expected!r}"


def ids(x):
    return array(x, 1, int).tolist()


def octets(x):
    need(isinstance(x, bytes))
    return x


def texts(x):
    need(isinstance(x, (list, tuple)))
    return [octets(text) for text in x]


def listed(x):
    need(isinstance(x, (list, tuple)))
    return list(x)


def sequence(x):
    """Returns a list or tuple, and raises TypeError for anything else. For arguments that this file iterates over itself."""
    if not isinstance(x, (list, tuple)):
        raise TypeError(f"found {type(x)}")
    return x


def yes(x):
    need(isinstance(x, (bool, np.bool_)))
    return bool(x)


# Days 1 and 2 ------------------------------------------------------------------------------------------------------------------------


def life(id, prompt, new, stop, context, slot, rows, token):
    """Runs a request up to its first token, and returns the result of each call."""
    sequence = W3.request.Sequence(id, W3.request.Request(prompt, new, stop_tokens=stop), context)
    sequence.admit(slot)
    out = [sequence.computed(rows), sequence.phase()]
    return [*out, sequence.accept(token, False), sequence.tokens(), sequence.phase()]


def o_life(id, prompt, new, stop, context, slot, rows, token):
    prompt, stop = ids(prompt), [whole(n, 0, 1 << 32) for n in listed(stop)]
    id, new, context, slot = (whole(n, 0, MOST) for n in (id, new, context, slot))
    rows, token = whole(rows, 0, MOST), whole(token, 0, 1 << 32)
    need(prompt and new and len(prompt) < context and rows == len(prompt) and min(new, context) < 1 << 33)
    ends = token in stop or new == 1 or len(prompt) + 1 == context
    return [True, "decoding", token not in stop, prompt + [token] * (token not in stop), "finished" if ends else "decoding"]


def out_of_turn(prompt, acts):
    """Calls a request's methods in any order. An impossible call must raise a ValueError and change nothing."""
    request = W3.request.Sequence(1, W3.request.Request(prompt, 3), 30)
    for act, n in sequence(acts):
        if act not in ("admit", "computed", "accept", "cancel", "rows"):
            raise TypeError(f"found {act!r}")
        before = request.phase(), request.tokens(), request.num_computed()
        try:
            getattr(request, act)(*([n, False] if act == "accept" else [] if act == "cancel" else [n]))
        except ValueError as error:
            assert re.match(r"(self|rows|n|token|slot): |expected a whole number", str(error)), error
            assert before == (request.phase(), request.tokens(), request.num_computed()), (act, n)
    return len(request.tokens()) >= request.num_computed()


def o_out_of_turn(prompt, acts):
    need(ids(prompt))
    for act in listed(acts):
        need(isinstance(act, (tuple, list)) and len(act) == 2 and act[0] in ("admit", "computed", "accept", "cancel", "rows"))
        # Numbers out of range are rejected by the call itself.
        need(isinstance(act[1], (int, np.integer)))
    return True


def stopping(words, pieces):
    stop = W3.stop.StopTexts(words)
    return [stop.push(piece) for piece in pieces]


def o_stopping(words, pieces):
    words, so_far, out = [word for word in texts(words) if word], b"", []
    need(isinstance(pieces, (list, tuple)) or hasattr(pieces, "__iter__"))
    for piece in pieces:
        before, so_far = so_far, so_far + octets(piece)
        # Only the results up to the first match are compared.
        out.append(any(so_far.find(word, max(0, len(before) - len(word) + 1)) >= 0 for word in words))
    return out


def c_stopping(found, expected, *_):
    first = expected.index(True) + 1 if True in expected else len(expected)
    assert found[:first] == expected[:first], f"{found}, not {expected}"


def places(n, claims, slot, id):
    slots = W3.slots.Slots(n)
    out = [slots.claim(i) for i in claims]
    slots.release(slot, id)
    return [*out, slots.owner(slot)]


def o_places(n, claims, slot, id):
    n, claims = whole(n, 1), [whole(i, 0, MOST) for i in claims]
    out = [i if i < n else None for i in range(len(claims))]
    slot, id = whole(slot, 0, n), whole(id, 0, MOST)
    need(slot < len(claims) and claims[slot] == id)
    return [*out, None]


def loads_of(loads):
    out = [(whole(left, 0, MOST), yes(decoding), whole(waited, 0, MOST)) for left, decoding, waited in checked(loads)]
    need(sum(load[0] for load in out) < MOST)
    return out


def checked(loads):
    for load in listed(loads):
        need(isinstance(load, tuple) and len(load) == 3)
    return loads


def o_decoding(budget, reserved, loads):
    budget = whole(budget, 2, MOST)
    return decoding_rows(loads_of(loads), budget, whole(reserved, 1, budget))


def o_prompts(loads, rows):
    return prompts(loads_of(loads), whole(rows, 0, MOST))


def o_turns(loads, rows):
    return turns(loads_of(loads), whole(rows, 0, MOST))


def o_shares(budget, reserved, loads):
    rows = o_decoding(budget, reserved, loads)
    return [a + b for a, b in zip(o_turns(loads, rows), o_prompts(loads, budget - rows))]


def record(came, moments):
    if not isinstance(moments, (list, tuple)):
        raise TypeError("what this function takes is its own affair")
    record = W3.timeline.Record(*came)
    for moment in moments:
        record.token(*moment)
    return record.time_to_first_token(), record.longest_gap()


def o_record(came, moments):
    def moment(x):
        need(isinstance(x, (tuple, list)) and len(x) == 2)
        return tuple(whole(n, 0, MOST) for n in x)

    need(isinstance(moments, (list, tuple)))
    came, moments = moment(came), [moment(x) for x in moments]
    for before, now in zip([came, *moments], moments):
        need(all(a <= b for a, b in zip(before, now)))
    gaps = [tuple(b - a for a, b in zip(*pair)) for pair in zip(moments, moments[1:])]
    first = tuple(b - a for a, b in zip(came, moments[0])) if moments else None
    return first, tuple(max((gap[i] for gap in gaps), default=0) for i in (0, 1))


def o_quantile(values, q):
    values, q = sorted(whole(n, 0, MOST) for n in listed(values)), finite(q)
    need(0 <= q <= 1)
    return values[max(math.ceil(q * len(values)), 1) - 1] if values else None


# Days 3 to 5 -------------------------------------------------------------------------------------------------------------------------


def lent(pages, releases, handle):
    """Allocates up to nine pages, releases some, and retains one."""
    pool = W3.pool.BlockPool(pages)
    for _ in range(min(pages, 9)):
        pool.allocate()
    for i in sequence(releases):
        pool.release(i)
    other = pool.retain(handle)
    return pool.num_free(), pool.page(other), pool.can_allocate(pages)


def o_lent(pages, releases, handle):
    pages = whole(pages, 1)
    first = min(pages, 9)
    releases = [whole(i, 0, first) for i in listed(releases)]
    need(len(set(releases)) == len(releases))
    handle = whole(handle, 0, first)
    need(handle not in releases)
    return pages - first + len(releases), (handle, 2), False


TILE = 64


def paged(layers, sequences, heads, capacity, dim, page_len, pages, cache_type, part_len, keys, values, q, threads):
    cache = W3.paged.PagedCache(layers, sequences, heads, capacity, dim, page_len, pages, cache_type, part_len)
    for i in range(len(keys)):
        assert cache.append(sequences - 1, keys[i], values[i]), "there is room"
    found = cache.read(layers - 1, sequences - 1, heads - 1, 0)
    rows = [(sequences - 1, len(keys) - 1)] * len(q)
    return *found, cache.attend(layers - 1, rows, q, threads)


def o_paged(layers, sequences, heads, capacity, dim, page_len, pages, cache_type, part_len, keys, values, q, threads):
    layers, sequences, heads, capacity, dim = (whole(n, 1, MOST) for n in (layers, sequences, heads, capacity, dim))
    page_len, pages, part_len = (whole(n, 1, MOST) for n in (page_len, pages, part_len))
    need(page_len % TILE == 0 and part_len % TILE == 0 and isinstance(cache_type, CT))
    # No sequence is longer than all pages together.
    capacity = min(capacity, page_len * pages)
    need(layers * sequences * heads * capacity * dim < 1 << 33)
    keys, values, q, threads = array(keys, 4), array(values, 4), array(q, 4), whole(threads, 1, 17)
    need(keys.shape == values.shape == (len(keys), layers, heads, dim) and 0 < len(keys) <= min(capacity, page_len * pages))
    need(len(q) and q.shape[1] == heads and q.shape[3] == dim and 1 <= q.shape[2] <= 16 and dim <= 256)
    need(np.isfinite(keys).all() and np.isfinite(values).all() and np.isfinite(q).all())
    with np.errstate(over="ignore"):
        stored = [cache_round(x, cache_type) for x in (keys, values)]
    k, v = (np.moveaxis(x[:, layers - 1], 0, 1) for x in stored)
    scores = np.einsum("thgd,hsd->thgs", q, k) / math.sqrt(dim)
    return k[-1], v[-1], np.einsum("thgs,hsd->thgd", softmax(scores), v)


def c_paged(found, expected, *arguments):
    for found, expected in zip(found, expected):
        if np.abs(expected).max(initial=0) < 1e15 and np.isfinite(expected).all():
            assert nearly_equal(found, expected), f"{found}\n{expected}"


def o_chain(before, tokens, page_len):
    return chain(whole(before, 0, MOST), ids(tokens), whole(page_len, 1, MOST))


def index(pages, page_len, collide, tokens, wanted):
    index = W3.prefix_index.PrefixIndex(pages, page_len, collide)
    return index.compute(tokens), index.find(wanted), index.counts()


def o_index(pages, page_len, collide, tokens, wanted):
    pages, page_len, collide, tokens, wanted = whole(pages, 0), whole(page_len, 1, MOST), yes(collide), ids(tokens), ids(wanted)
    n = len(tokens) // page_len
    if n > pages:
        return None, [], (0, pages)
    names, kept, name = [], 0, 1
    for i in range(n):
        name = hash_page(name, tokens[i * page_len : (i + 1) * page_len])
        name = name & 3 if collide else name
        if name in names:
            break
        names.append(name)
        kept += 1
    same = next((i for i, (a, b) in enumerate(zip(tokens, wanted)) if a != b), min(len(tokens), len(wanted)))
    found = min(same // page_len, kept, max(len(wanted) - 1, 0) // page_len)
    return list(range(n)), list(range(found)), (kept, pages - kept)


def o_in_part(start, end, i, part_len):
    start, end, i, part_len = (whole(n, 0, MOST) for n in (start, end, i, part_len))
    need(part_len and start <= end and (i + 1) * part_len < MOST)
    clamp = lambda n: min(max(n, i * part_len), (i + 1) * part_len)
    return clamp(start), clamp(end)


def o_join(first, second):
    def seen(x):
        need(isinstance(x, tuple) and len(x) == 3 and isinstance(x[0], (int, float, np.floating, np.integer)))
        top = -math.inf if x[0] == -math.inf else real(x[0])
        sums = array(x[2], 1)
        need(np.isfinite(sums).all())
        return top, real(x[1]), sums

    (a, m, x), (b, n, y) = seen(first), seen(second)
    need(x.shape == y.shape)
    if b == -math.inf:
        return a, m, x
    top = max(a, b)
    before, after = np.exp(np.float64(a) - top), np.exp(np.float64(b) - top)
    return top, m * before + n * after, x * before + y * after


def c_join(found, expected, *_):
    with np.errstate(all="ignore"):
        assert nearly_equal(np.float32(found[:2]), np.float64(expected[:2])) and nearly_equal(found[2], expected[2]), f"{found}, not {expected}"


def filed(tokens, keys, values, fingerprint, cache_type, wanted, layers, heads, dim):
    file = W3.prompt_file.encode(tokens, keys, values, fingerprint, cache_type)
    return W3.prompt_file.decode(bytes(file), wanted, cache_type, layers, heads, dim)


def o_filed(tokens, keys, values, fingerprint, cache_type, wanted, layers, heads, dim):
    tokens, keys, values = ids(tokens), array(keys, 4), array(values, 4)
    need(tokens and keys.shape == values.shape and keys.shape[2] == len(tokens) and 0 not in keys.shape and isinstance(cache_type, CT))
    need((np.abs(keys) <= 65504).all() and (np.abs(values) <= 65504).all())
    need(whole(fingerprint, 0, MOST) == whole(wanted, 0, MOST))
    need(tuple(whole(n, 1, MOST) for n in (layers, heads, dim)) == (keys.shape[0], keys.shape[1], keys.shape[3]))
    return tokens, cache_round(keys, cache_type), cache_round(values, cache_type)


# Days 6 and 7 ------------------------------------------------------------------------------------------------------------------------


def o_lookup(tokens, longest, k):
    tokens, longest, k = ids(tokens), whole(longest, 0, MOST), whole(k, 0, MOST)
    for n in range(min(longest, len(tokens) - 1), 0, -1):
        for start in range(len(tokens) - n - 1, -1, -1):
            if tokens[start : start + n] == tokens[-n:]:
                return tokens[start + n : start + n + k]
    return []


def o_distribution(temperature, logits, seen):
    temperature, logits, seen = real(temperature), array(logits, 1), array(seen, 1, int)
    need(temperature >= 0 and len(logits) and (np.abs(logits) <= 1e30).all() and (seen < len(logits)).all())
    if temperature == 0:
        return (np.arange(len(logits)) == logits.argmax()).astype(float)
    with np.errstate(over="ignore"):
        need(np.isfinite((logits / temperature).astype(np.float32)).all())
    return softmax(logits / temperature)


def o_accepts(p, q, uniform):
    p, q, uniform = float(real(p)), float(real(q)), finite(uniform)
    need(0 <= p <= 1 and 0 < q <= 1 and 0 <= uniform < 1)
    return uniform * q < p


def share_of(x):
    x = array(x, 1)
    need(len(x) and ((x >= 0) & (x <= 1)).all())
    return x.astype(np.float32).astype(float)


def o_residual(p, q):
    p, q = share_of(p), share_of(q)
    need(p.shape == q.shape)
    left = np.maximum(p - q, 0)
    return left / left.sum() if left.sum() else p


def o_expected(rate, k):
    rate, k = finite(rate), whole(k, 0, 4097)
    need(0 <= rate <= 1)
    return sum(rate**i for i in range(k + 1))


def o_best(rate, row, draft, most):
    rate, row, draft, most = finite(rate), finite(row), finite(draft), whole(most, 0, 4097)
    need(0 <= rate <= 1 and 0 <= row <= 1e9 and 0 <= draft <= 1e9)
    tokens = np.cumsum(rate ** np.arange(most + 1.0))
    return tokens / (1 + np.arange(most + 1) * (row + draft))


def c_best(found, speeds, *_):
    assert 0 <= found < len(speeds) and speeds[found] >= speeds.max() * (1 - 1e-9), f"{found} of {speeds}"


def lengths(most, row, draft, passes):
    length = W3.draft_length.DraftLength(most, row, draft)
    for drafted, accepted in passes:
        length.observe(drafted, accepted)
    return length.rate(), length.choose() <= most


def o_lengths(most, row, draft, passes):
    whole(most, 0, 4097), need(0 <= finite(row) <= 1e9 and 0 <= finite(draft) <= 1e9)
    tested, kept = 4.0, 3.0
    for one in passes:
        need(isinstance(one, (tuple, list)) and len(one) == 2)
        drafted = whole(one[0], 0, 4097)
        accepted = whole(one[1], 0, drafted + 1)
        if drafted:
            tested, kept = tested * 0.875 + min(drafted, accepted + 1), kept * 0.875 + accepted
    return kept / tested, True


def greedy(prompt, new, context=20):
    prompt = list(prompt)
    out = []
    while len(out) < new and len(prompt) + len(out) < context:
        logits = decoder(np.array(prompt + out))[-1]
        top = np.sort(logits)
        # If the two best logits are nearly equal, either token is right: the list ends with `None`.
        out.append(int(logits.argmax()) if top[-1] - top[-2] > 1e-3 else None)
        if out[-1] is None:
            return out
    return out


def spoken(prompt, new):
    prompt = array(prompt, 1, int)
    need(1 <= len(prompt) <= 20 and (prompt < 11).all())
    return greedy(prompt.tolist(), whole(new, 0, MOST))


def c_spoken(found, expected, *_):
    for found, expected in zip(found, expected, strict=True):
        n = expected.index(None) if None in expected else None
        assert found[:n] == expected[:n], f"{found}, not {expected}"


def engine(sizes, prompt, new, budget):
    engine = W3.engine.Engine(MODEL2, *sizes, budget=budget)
    ids = [engine.submit(W3.request.Request(prompt, n)) for n in (new, new)]
    out = {id: [] for id in ids}
    while not engine.is_idle():
        for id, token, _ in engine.step():
            out[id] += [token] if token is not None else []
    return list(out.values())


def o_engine(sizes, prompt, new, budget):
    need(isinstance(sizes, (tuple, list)) and len(sizes) == 2)
    places, context = whole(sizes[0], 1), min(whole(sizes[1], 1, MOST), 20)
    need(places * context < 1 << 24 and (budget is None or whole(budget, 2, MOST)))
    prompt = array(prompt, 1, int)
    need(1 <= len(prompt) <= context and (prompt < 11).all())
    return [greedy(prompt.tolist(), whole(new, 0, MOST), context)] * 2


def paged_engine(sizes, prompts, new):
    engine = W3.paged.PagedEngine(MODEL2, *sizes)
    answers, _ = engine.run([W3.request.Request(prompt, new) for prompt in sequence(prompts)])
    return answers


def o_paged_engine(sizes, prompts, new):
    need(isinstance(sizes, (tuple, list)) and len(sizes) == 4)
    places, context, page_len, pages = (whole(n, 1, MOST) for n in sizes)
    need(page_len % TILE == 0 and places < 1 << 20 and page_len * pages < 1 << 24)
    context = min(context, 20)
    out = []
    for prompt in listed(prompts):
        prompt = array(prompt, 1, int)
        need(1 <= len(prompt) <= context and (prompt < 11).all())
        out.append(greedy(prompt.tolist(), whole(new, 0, MOST), context))
    return out


def speculate(prompt, new, drafts, seed):
    options = W1.sampling.SamplerOptions(temperature=0)
    return W3.speculate.speculate(MODEL2, prompt, new, drafts, options, seed)[0]


def o_speculate(prompt, new, drafts, seed):
    whole(drafts, 0, 4097), whole(seed, 0, MOST)
    return [spoken(prompt, new)]


def o_follow(text):
    return octets(text)


def c_follow(found, text, *_):
    alive, whole = found
    assert 0 <= alive <= len(text) and (not whole or alive == len(text)), found
    # What ours accepts must be JSON, with few digits and without half surrogate pairs.
    if whole:
        assert is_json(text), f"{found}, but this is no JSON"


def c_string(found, text, *_):
    alive, closed = found
    assert 0 <= alive <= len(text) and (not closed or is_json(b'"' + text[:alive])), found


def c_number(found, text, *_):
    alive, whole = found
    assert whole == bool(re.fullmatch(rb"-?(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][+-]?\d{1,2})?", text)), found
    assert 0 <= alive <= len(text), found


def o_closing(text):
    text = octets(text)
    need(W3.json.follow(text)[0] == len(text))
    return text


def c_closing(found, text, *_):
    assert is_json(text + bytes(found)), f"{text + bytes(found)} is no JSON"


def o_fewest(vocabulary, text):
    return fewest_pieces(texts(vocabulary), octets(text))


def o_tokens(vocabulary, text):
    vocabulary, text = texts(vocabulary), o_closing(text)
    return [i for i, token in enumerate(vocabulary) if token and W3.json.follow(text + token)[0] == len(text + token)]


def o_prices(vocabulary, text):
    allowed, vocabulary = o_tokens(vocabulary, text), texts(vocabulary)
    fewest = lambda token: o_fewest(vocabulary, bytes(W3.whole.closing_text(text + token)))
    return [fewest(token) if i in allowed else None for i, token in enumerate(vocabulary)]


def o_answer(vocabulary, budget, temperature, seed):
    texts(vocabulary), whole(budget, 0, MOST), whole(seed, 0, MOST)
    need(real(temperature) >= 0 and vocabulary)


def c_answer(found, *_):
    assert is_json(bytes(found)), f"{bytes(found)} is no JSON"


# All of them -------------------------------------------------------------------------------------------------------------------------


def bindings(r):
    """Like `bindings` in odd_calls.py."""
    f, n = r.floats, r.size
    a, b, c = (n() for _ in range(3))
    tokens, more = r.ids(11, n(1, 8)), r.ids(3, n(1, 30))
    loads = [(n(1, 9), r.choice(True, False), n(0, 4)) for _ in range(n(1, 6))]
    moments = [(1, 4), (n(2, 4), n(5, 9)), (n(5, 9), n(10, 30))]
    p, q = softmax(f(a + 1)), softmax(f(a + 1))
    passes = [(i, n(0, i)) for i in (n(1, 6), n(1, 6))]
    cells = f(a, b, len(tokens), c)
    pages = [1, a, b, 20, 2 * c, TILE, 3, r.choice(*CT), r.choice(64, 512), f(n(1, 9), 1, b, 2 * c), None, f(n(1, 3), b, n(1, 3), 2 * c), n(1, 3)]
    pages[10] = f(*pages[9].shape)
    words = [b"", b"{", b"}", b'"', b":", b"0", b"12", b"[", b"]", b",", b"a", b" ", b'"a":']
    text = r.choice(b"", b"{", b'{"a": [1, ', b"[[", b'"a\\u00', b"-1", b"tru", b'{"a":1')
    acts = [("admit", n(0, 3)), ("computed", n(0, 9)), ("rows", n(0, 9)), ("accept", n(0, 12)), ("computed", 1), ("accept", 3), ("cancel", 0), ("rows", 1)]
    r.random.shuffle(acts) if r.choice(True, False) else None
    room = [b'{"a":', b"1}", b'x"', b"\\u", b"00e", b"9 ", b"\xc3", b"\xa9", b"."]
    yield "Sequence", life, o_life, [n(), tokens, n(), [n(12, 20)], 30, n(0, 4), len(tokens), n(0, 40)], exact
    yield "Sequence, out of turn", out_of_turn, o_out_of_turn, [tokens, acts], exact
    yield "StopTexts", stopping, o_stopping, [[b"ab", b"bba"], [r.choice(b"a", b"b", b"ab", b"") for _ in range(6)]], c_stopping
    yield "Slots", places, o_places, [4, [7, 8, 9], 1, 8], exact
    yield "decoding_rows", lambda x, y, z: W3.scheduler.Scheduler(x, y).decoding_rows(z), o_decoding, [n(3, 9), 1, loads], exact
    yield "shares", lambda x, y, z: W3.scheduler.Scheduler(x, y).shares(z), o_shares, [n(3, 9), 2, loads], exact
    yield "share_prompts", W3.scheduler.share_prompts, o_prompts, [loads, n(0, 20)], exact
    yield "take_turns", W3.scheduler.take_turns, o_turns, [loads, n(0, 6)], exact
    yield "Record", record, o_record, [(0, 0), moments], exact
    yield "quantile", W3.timeline.quantile, o_quantile, [[n(0, 99) for _ in range(n(1, 9))], 0.5], exact
    yield "BlockPool", lent, o_lent, [n(3, 12), [0, 2], 1], exact
    yield "PagedCache", paged, o_paged, pages, c_paged
    yield "hash_page", W3.prefix_hash.hash_page, lambda x, t: hash_page(whole(x, 0, MOST), ids(t)), [n(0, 99), tokens], exact
    yield "chain", W3.prefix_hash.chain, o_chain, [n(0, 99), more, n()], exact
    yield "PrefixIndex", index, o_index, [9, n(2, 4), r.choice(True, False), more, more], exact
    yield "in_part", W3.parts.in_part, o_in_part, [n(0, 90), n(91, 200), n(0, 3), 64], exact
    yield "join", W3.parts.join, o_join, [(0.5, 1.5, f(a)), (-math.inf if n() == 1 else 0.25, 1.25, f(a))], c_join
    yield "prompt file", filed, o_filed, [tokens, cells, -cells, 5, r.choice(*CT), 5, a, b, c], None
    yield "draft_from_text", W3.lookup.draft_from_text, o_lookup, [more, n(), n()], exact
    spread = lambda t, *x: W3.accept.distribution(W1.sampling.SamplerOptions(temperature=t), *x)
    yield "distribution", spread, o_distribution, [0.75, f(11), tokens], None
    yield "accepts", W3.accept.accepts, o_accepts, [0.5, 0.75, r.random.random()], exact
    yield "residual", W3.accept.residual, o_residual, [p, q], None
    yield "expected_tokens", W3.draft_length.expected_tokens, o_expected, [0.75, n(0, 9)], None
    yield "best_length", W3.draft_length.best_length, o_best, [0.75, 0.125, 0.0625, n(0, 9)], c_best
    yield "DraftLength", lengths, o_lengths, [n(), 0.25, 0.0, passes], None
    yield "Engine", engine, o_engine, [(2, 20), tokens, n(), r.choice(None, 3)], c_spoken
    yield "PagedEngine", paged_engine, o_paged_engine, [(2, 20, TILE, 2), [tokens, tokens[:1]], n()], c_spoken
    yield "speculate", lambda *x: [speculate(*x)], o_speculate, [tokens, n(), n(0, 4), n()], c_spoken
    yield "string", W3.json.string, o_follow, [b"".join(r.choice(*room) for _ in range(4)) + b'"'], c_string
    yield "number", W3.json.number, o_follow, [r.choice(b"-0.5e+1", b"12", b"1e", b"00", b"-")], c_number
    yield "follow", W3.json.follow, o_follow, [r.choice(b'{"a": [1, null]}', b"[[], {}]", b"[1,]", b'{"a"}')], c_follow
    yield "closing_text", W3.whole.closing_text, o_closing, [text], c_closing
    yield "fewest_tokens", W3.whole.fewest_tokens, o_fewest, [words, r.choice(b'{"a":12}', b"[0,0]", b"x", b"")], exact
    yield "tokens", W3.whole.tokens, o_tokens, [words, text], exact
    yield "prices", W3.whole.prices, o_prices, [words, text], exact
    yield "random_answer", W3.whole.random_answer, o_answer, [words, n(5, 40), 0.75, n()], c_answer


def side_by_side():
    """Calls shared objects from several threads, and returns the problems."""
    pool, record, engine = W3.pool.BlockPool(64), W3.timeline.Record(0, 0), W3.engine.Engine(MODEL2, 3, 20)
    sequence = W3.request.Sequence(0, W3.request.Request([1, 2, 3], 9), 30)
    problems, handles = [], []

    def work(number):
        try:
            for i in range(16):
                handles.append(pool.allocate())
                record.token(1 << 40, 1 << 40)
                sequence.tokens(), sequence.phase()
                engine.submit(W3.request.Request([number, i % 11], 2))
                engine.step()
        except Exception as error:
            problems.append(f"{type(error).__name__}: {error}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    while not engine.is_idle():
        engine.step()
    if sorted(handles) != list(range(64)) or pool.num_free():
        problems.append(f"64 pages lent to four threads: the handles {sorted(handles)}")
    return problems


if __name__ == "__main__":
    problems = side_by_side()
    if problems:
        print("\n".join(problems))
    sys.exit(odd_calls.main(bindings, iterators=False) or bool(problems))
