"""Day 7: temperature, top-k, top-p, min-p, repetition penalty, the seeded generator, drawing, all of it in order."""

import math

import oracle.week1_day7 as oracle
import torch
from live import close
from oracle.fixtures import exact, relative_rounding


def random_logits(r):
    """Returns signed logits, sometimes with tokens already ruled out."""
    logits = r.normal(r.size(3, 40), std=r.choice(0.5, 2.0, 6.0))
    if r.choice(True, False):
        logits[r.integers(r.size(1, 2), high=len(logits))] = -math.inf
    return logits


def clear(make):
    """Repeats `make()` until the oracle accepts its numbers. It rejects numbers within rounding of a border."""
    while True:
        try:
            return make()
        except AssertionError:
            continue


def test_week1_day7_task_1_apply_temperature(week1, r):
    logits, temperature = random_logits(r), r.choice(0.0, 0.3, 1.0, 1.7)
    found = week1.sampling.apply_temperature(logits, temperature)
    close(found, oracle.apply_temperature(logits.double(), torch.tensor(temperature).double()), relative_rounding(2))


def test_week1_day7_task_2_top_k(week1, r):
    logits = random_logits(r).round(decimals=r.choice(0, 3))  # whole numbers: many are equal
    k = r.size(0, len(logits) + 2)
    close(week1.sampling.top_k(logits, k), oracle.top_k(logits, k), exact())


def test_week1_day7_task_3_top_p(week1, r):
    def make():
        logits, p = random_logits(r), r.choice(0.001, r.random.uniform(0.05, 0.95), 0.999, 1.0)
        return logits, p, oracle.top_p(logits.double(), p)

    logits, p, expected = clear(make)
    close(week1.sampling.top_p(logits, p), expected, exact())


def test_week1_day7_task_4_min_p(week1, r):
    def make():
        logits, p = random_logits(r), r.choice(0.0, r.random.uniform(0.01, 0.9))
        return logits, p, oracle.min_p(logits.double(), p)

    logits, p, expected = clear(make)
    close(week1.sampling.min_p(logits, p), expected, exact())


def test_week1_day7_task_5_repetition_penalty(week1, r):
    logits, penalty = random_logits(r), r.choice(1.0, 1.3, 2.0, 0.7)
    seen = r.integers(r.size(0, 12), high=len(logits))
    found = week1.sampling.repetition_penalty(logits, seen, penalty)
    close(found, oracle.repetition_penalty(logits.double(), seen, torch.tensor(penalty).double()), relative_rounding(2))


def test_week1_day7_task_6_rng(week1, r):
    seed = r.choice(0, 2**64 - 1, r.random.getrandbits(64))
    expected = oracle.splitmix64(seed, 20)
    rng, again = week1.sampling.Rng(seed), week1.sampling.Rng(seed)
    assert [rng.next_u64() for _ in expected] == expected
    assert [again.uniform() for _ in expected] == [(number >> 11) / 2**53 for number in expected]


def test_week1_day7_task_6_draw(week1, r):
    def make():
        logits, uniform = random_logits(r), r.uniform(1, low=0.0).double()
        return logits, uniform, oracle.draw(logits.double(), uniform).item()

    logits, uniform, expected = clear(make)
    assert week1.sampling.draw(logits, uniform.item()) == expected


def random_options(r):
    return {
        "penalty": r.choice(1.0, 1.5),
        "temperature": r.choice(0.0, 0.5, 1.0, 2.0),
        "top_k": r.choice(0, 2, 5),
        "top_p": r.choice(1.0, 0.9, 0.5),
        "min_p": r.choice(0.0, 0.05, 0.3),
    }


def sampler(week1, options, seed):
    options = {"repetition_penalty" if name == "penalty" else name: value for name, value in options.items()}
    return week1.sampling.Sampler(week1.sampling.SamplerOptions(**options), week1.sampling.Rng(seed))


def test_week1_day7_task_6_sampler(week1, r):
    """Compares each token with a draw from the distribution after all steps, by the generator's next number."""
    options, seed = random_options(r), r.random.getrandbits(64)
    numbers = torch.tensor([(n >> 11) / 2**53 for n in oracle.splitmix64(seed, 10)], dtype=torch.float64)
    ours = sampler(week1, options, seed)
    for number in numbers:

        def make():
            logits = random_logits(r)
            seen = r.integers(r.size(1, 6), high=len(logits))
            return logits, seen, oracle.draw(oracle.shape(logits.double(), seen, options), number[None]).item()

        logits, seen, expected = clear(make)
        assert ours.choose(logits, seen) == expected, f"{options}, generator at {number}"


def test_week1_day7_task_6_distribution(week1, r, request):
    """Tests many draws from one distribution by χ², with a limit that a correct sampler exceeds once in a million runs."""
    if r.number > 1:
        return  # one distribution is enough

    def make():
        logits, options = r.normal(8), random_options(r) | {"temperature": r.choice(0.7, 1.0, 2.0)}
        probabilities = oracle.shape(logits.double(), torch.tensor([1, 3]), options).softmax(-1)
        assert 1 < (probabilities > 0).sum() and probabilities[probabilities > 0].min() > 0.005
        return logits, options, probabilities

    logits, options, probabilities = clear(make)
    ours = sampler(week1, options, r.random.getrandbits(64))
    # The rarest token is expected at least 30 times.
    n = 20_000 if request.config.option.thorough else 6_000
    counts = torch.bincount(torch.tensor([ours.choose(logits, [1, 3]) for _ in range(n)]), minlength=len(logits))
    kept = probabilities > 0
    assert counts[~kept].sum() == 0, f"{options}: a token was drawn that is ruled out"
    chi_square = ((counts - n * probabilities)[kept] ** 2 / (n * probabilities[kept])).sum().item()
    limit = oracle.critical_chi_square(int(kept.sum()) - 1)
    assert chi_square < limit, f"{options}: χ² {chi_square:.1f}, limit {limit}; counts {counts.tolist()}, expected {(n * probabilities).round().tolist()}"
