"""Week 3, day 6: drafts from the text, the acceptance rule, the best draft length, and texts that drafts do not change."""

from fractions import Fraction

from live import close
from oracle.fixtures import rounding
from oracle.week1_day5 import clear_tokens
from oracle.week3_day1 import MARGIN
from oracle.week3_day6 import distribution, residual, verify
from test_week1_day5 import kit_config
from test_week2_day1 import model


def options_of(week1, options):
    names = {"penalty": "repetition_penalty"}
    return week1.sampling.SamplerOptions(**{names.get(name, name): value for name, value in options.items()})


def draw_options(r):
    return {
        "penalty": r.choice(1.0, 1.5, 2.0),
        "temperature": r.choice(0.0, 0.5, 1.0, 1.75),
        "top_k": r.choice(0, 3, 7),
        "top_p": r.choice(1.0, 0.8),
        "min_p": r.choice(0.0, 0.1),
    }


def test_week3_day6_task_1_drafts_from_the_text(week3, r):
    text = r.integers(r.size(0, 40), high=r.size(2, 5)).tolist()
    longest, k = r.size(0, 5), r.size(0, 6)
    expected = []
    for n in range(min(longest, len(text) - 1), 0, -1):
        starts = [s for s in range(len(text) - n) if text[s : s + n] == text[-n:]]
        if starts:
            expected = text[starts[-1] + n :][:k]
            break
    assert week3.lookup.draft_from_text(text, longest, k) == expected, (text, longest, k)


def test_week3_day6_task_2_distributions(week1, week3, r):
    size = r.size(2, 30)
    logits, seen = r.normal(size, std=2.0), r.integers(r.size(1, 8), high=size).tolist()
    options = draw_options(r)
    try:
        expected = distribution(logits.double(), seen, options)
    except AssertionError:
        return  # a cut-off within rounding
    close(week3.accept.distribution(options_of(week1, options), logits, seen), expected, rounding(60, 1.0))


def test_week3_day6_task_2_acceptance_rule(week3, r):
    size, k = r.size(2, 12), r.size(0, 4)
    p, q = r.normal(k + 1, size, std=1.5).softmax(-1), r.normal(k, size, std=1.5).softmax(-1)
    tokens = r.integers(k, high=size).tolist()
    for row, other in zip(p, q):
        close(week3.accept.residual(row, other), residual(row.double(), other.double()), rounding(40, 1.0))
    for seed in range(40):
        try:
            expected = verify(p.double(), q.double(), tokens, seed)
        except AssertionError:
            continue  # a draw within rounding of a border
        if expected is not None:
            assert week3.accept.verify(tokens, q, p, seed) == expected, (tokens, seed)


def test_week3_day6_task_3_best_length(week3, r):
    lengths = week3.draft_length
    rate, row, draft = (Fraction(r.size(0, 64), 64) for _ in range(3))
    most = r.size(0, 10)
    tokens = [sum(rate**i for i in range(k + 1)) for k in range(most + 1)]
    assert abs(lengths.expected_tokens(float(rate), most) - float(tokens[-1])) < 1e-9
    speeds = [count / (1 + k * (row + draft)) for k, count in enumerate(tokens)]
    best = lengths.best_length(float(rate), float(row), float(draft), most)
    assert max(speeds) - speeds[best] < Fraction(1, 10**9)
    length, tested, accepted = lengths.DraftLength(most, float(row), float(draft)), 4.0, 3.0
    for _ in range(30):
        k = length.choose()
        assert k <= most
        kept = r.size(0, k)
        length.observe(k, kept)
        if k:
            tested, accepted = tested * 7 / 8 + min(k, kept + 1), accepted * 7 / 8 + kept
        assert abs(length.rate() - accepted / tested) < 1e-9


def test_week3_day6_task_5_drafts_do_not_change_greedy_texts(week1, week2, week3, r):
    """Tests tasks 4 and 5: with any drafter, the text is the decoder's."""
    ours, config, weights = model(week2, r, r.choice("llama", "qwen3"))
    prompt = r.integers(r.size(1, 6), high=config["vocab_size"]).tolist()
    expected = clear_tokens(config, {name: value.double() for name, value in weights.items()}, prompt, 6, MARGIN)
    if len(expected) < 6:
        return  # the two best tokens are nearly equal
    similar = {name: value * r.choice(1.0, 1.0, 1.1) for name, value in weights.items()}
    drafters = [None, ours, week2.model.Model.build(kit_config(config), similar)]
    for drafter in drafters:
        found, (passes, drafted, accepted, refused) = week3.speculate.speculate(
            ours, prompt, len(expected), r.size(0, 5), options_of(week1, {"temperature": 0.0}), 1, drafter
        )
        assert found == expected
        assert accepted <= drafted and refused <= passes and passes + accepted == len(found)
        if drafter is ours:
            assert accepted == drafted and refused == 0

