"""Week 3, day 1: a request's phases, stop texts, slots, and requests that join and leave a batch with the answers they get alone."""

from oracle.week1_day5 import clear_tokens
from oracle.week3_day1 import MARGIN
from test_week2_day1 import model


def test_week3_day1_task_1_phases(week1, week3, r):
    """Compares every event with its definition."""
    reasons = week1.generate.FinishReason
    prompt = r.integers(r.size(1, 6), high=50).tolist()
    new, context, stop = r.size(1, 6), len(prompt) + r.size(1, 6), r.size(0, 9)
    sequence = week3.request.Sequence(5, week3.request.Request(prompt, new, stop_tokens=[stop]), context)
    assert sequence.phase() == "waiting" and sequence.finished() is None
    sequence.admit(r.size(0, 7))
    tokens, computed = list(prompt), 0
    while sequence.finished() is None:
        assert sequence.phase() == ("decoding" if len(tokens) > len(prompt) else "prefilling")
        rows = r.size(1, len(tokens) - computed)
        computed += rows
        whole = computed == len(tokens)
        assert sequence.computed(rows) == whole and sequence.num_computed() == computed
        if not whole:
            continue
        assert sequence.phase() == "decoding"
        token, completes = r.size(0, 9), r.choice(False, False, True)
        assert sequence.accept(token, completes) == (token != stop)
        expected = None
        if token == stop:
            expected = reasons.Stop
        else:
            tokens.append(token)
            if completes:
                expected = reasons.Stop
            elif len(tokens) - len(prompt) == new:
                expected = reasons.Length
            elif len(tokens) == context:
                expected = reasons.ContextFull
        assert sequence.finished() == expected and sequence.tokens() == tokens
    sequence.cancel()
    assert sequence.finished() == expected, "what is done stays done"


def test_week3_day1_task_2_stop_texts(week3, r):
    """Compares with Python's own search in the whole text so far."""
    letters = lambda low, high: bytes(r.choice(*b"ab") for _ in range(r.size(low, high)))
    texts = [letters(2, 6) for _ in range(r.size(1, 3))]
    stop, so_far = week3.stop.StopTexts(texts), b""
    for _ in range(12):
        piece = letters(0, 4)
        before, so_far = so_far, so_far + piece
        # Expects a match that ends in this piece.
        expected = any(so_far.find(text, max(0, len(before) - len(text) + 1)) >= 0 for text in texts)
        assert stop.push(piece) == expected, (texts, before, piece)
        if expected:
            break  # the answer ends here


def test_week3_day1_task_3_slots(week3, r):
    n = r.size(1, 6)
    slots, owners = week3.slots.Slots(n), [None] * n
    for number in range(30):
        taken = [slot for slot in range(n) if owners[slot] is not None]
        if taken and r.choice(True, False):
            slot = r.choice(*taken)
            slots.release(slot, owners[slot])
            owners[slot] = None
        else:
            free = owners.index(None) if None in owners else None
            assert slots.claim(number) == free
            if free is not None:
                owners[free] = number
        assert [slots.owner(slot) for slot in range(n)] == owners


def test_week3_day1_task_4_rows(week3, r):
    prompt, slot = r.integers(r.size(1, 9), high=50).tolist(), r.size(0, 7)
    sequence = week3.request.Sequence(1, week3.request.Request(prompt, 3), 32)
    sequence.admit(slot)
    at = 0
    while at < len(prompt):
        n = r.size(1, len(prompt) - at)
        expected = [(prompt[i], i, slot, i == len(prompt) - 1) for i in range(at, at + n)]
        assert sequence.rows(n) == expected
        sequence.computed(n)
        at += n


def check_batch(week2, week3, r, longest, budget=None):
    """Submits requests at random steps, and checks that each gets PyTorch's answer. Returns the engine and the number of positions to compute."""
    ours, config, weights = model(week2, r, r.choice("llama", "qwen2", "qwen3"))
    exact = {name: weight.double() for name, weight in weights.items()}
    engine = week3.engine.Engine(ours, r.size(1, 4), 32, budget=budget)
    wanted, answers, rows = {}, {}, 0
    for _ in range(r.size(2, 6)):
        prompt = r.integers(r.size(1, longest), high=config["vocab_size"]).tolist()
        if answer := clear_tokens(config, exact, prompt, r.size(1, 5), MARGIN):
            wanted[engine.submit(week3.request.Request(prompt, len(answer)))] = answer
            rows += len(prompt) + len(answer) - 1
        for _ in range(r.size(0, 3)):
            collect(engine, answers)
    while not engine.is_idle():
        collect(engine, answers)
    assert answers == wanted
    return engine, rows


def collect(engine, answers):
    for id, token, _ in engine.step():
        if token is not None:
            answers.setdefault(id, []).append(token)


def test_week3_day1_task_4_answers_are_independent_of_the_batch(week2, week3, r):
    engine, rows = check_batch(week2, week3, r, 8)
    assert engine.counts()[1] == rows, "each position is computed once"
