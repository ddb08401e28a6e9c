"""Week 3, day 7: the bytes and tokens that may follow, and answers of random models that Python reads."""

import json

import pytest
from oracle.week3_day7 import NEVER, NUMBERS, STRINGS, TEXTS, VOCABULARY, alive, closing, fewest_pieces, is_json, mutated, price


class Picks:
    """Gives the oracle random numbers from a test's `r`."""

    def __init__(self, r):
        self.integers = lambda n, high: r.integers(n, high=high)


def test_week3_day7_task_1_strings(week3, r):
    for text in mutated(Picks(r), STRINGS, 20):
        closed = next((n for n in range(1, len(text) + 1) if is_json(b'"' + text[:n])), None)
        assert week3.json.string(text) == (alive(text[:closed], prefix=b'"'), closed is not None), text


def test_week3_day7_task_1_numbers(week3, r):
    for _ in range(20):
        text = bytes(r.choice(*b"0012569-+.eE") for _ in range(r.size(1, 9)))
        assert week3.json.number(text) == (alive(text), is_json(text)), text
    for text in NUMBERS:
        assert week3.json.number(text.encode())[1] == is_json(text.encode()), text


def test_week3_day7_task_2_texts(week3, r):
    for text in mutated(Picks(r), [text for text in TEXTS if text], 25):
        assert week3.json.follow(text) == (alive(text), is_json(text)), text


def beginning(r):
    text = r.choice(*(text for text in TEXTS if is_json(text)))
    return text[: r.size(0, len(text))]


def test_week3_day7_task_3_tokens(week3, r):
    vocabulary = [r.choice(*VOCABULARY) for _ in range(20)]
    text = beginning(r)
    expected = [token for token, piece in enumerate(vocabulary) if piece and closing(text + piece) is not None]
    assert week3.whole.tokens(vocabulary, text) == expected, text


def test_week3_day7_task_4_shortest_completion(week3, r):
    vocabulary = [r.choice(*VOCABULARY) for _ in range(30)]
    for _ in range(3):
        text = beginning(r)
        assert week3.whole.closing_text(text) == closing(text), text
        assert week3.whole.fewest_tokens(vocabulary, closing(text)) == fewest_pieces(vocabulary, closing(text))
        expected = [price(vocabulary, text + piece, is_json) if piece else NEVER for piece in vocabulary]
        assert week3.whole.prices(vocabulary, text) == [None if n == NEVER else n for n in expected], text


def test_week3_day7_task_4_always_json(week3, r):
    """Checks that the answers of random models, with all bytes and some longer tokens, are JSON."""
    some = [r.choice(*VOCABULARY[1:]) for _ in range(60)]
    vocabulary = [b"", *(bytes([byte]) for byte in range(256)), *(piece for piece in some if piece)]
    for budget in (1, 2, 3, 5, 9, 40, 90):
        answer = week3.whole.random_answer(vocabulary, budget, r.choice(0.0, 0.7, 5.0), r.size(0, 10**6))
        json.loads(answer.decode("utf-8"))
        assert is_json(answer), answer


def test_week3_day7_rejects_a_budget_of_0(week3):
    with pytest.raises(ValueError, match="expected at least 1"):
        week3.whole.random_answer([b"", b"0", b"1"], 0, 1.0, 1)
