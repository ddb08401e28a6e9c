"""Week 3, day 6: speculative decoding.

Distributions, residuals and verdicts are computed from their definitions in float64, with the SplitMix64 of week 1, day 7. The
distribution of whole texts is the product of the target's probabilities, without drafts. Costs are computed in fractions.
"""

import itertools
from fractions import Fraction

import torch

from oracle.fixtures import rounding
from oracle.week1_day7 import critical_chi_square, draw, shape, splitmix64

OFF = {"penalty": 1.0, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}

TEXTS = 20_000
"""Number of texts that the statistical test draws. With this many, the nearest mistake has 18 times the critical χ²."""

SAMPLING = [
    ("plain", "as the model gave it", {}),
    ("greedy", "temperature 0: one text is possible", {"temperature": 0.0}),
    ("sharp", "temperature below 1", {"temperature": 0.5}),
    ("flat", "temperature above 1", {"temperature": 2.5}),
    ("top_k", "two tokens are left", {"top_k": 2}),
    ("top_p", "the most probable tokens up to .7", {"top_p": 0.7}),
    ("min_p", "at least a third as probable as the most probable one", {"min_p": 0.3}),
    ("penalty", "what was seen is less likely, drafts included", {"penalty": 2.0}),
    ("all", "everything at once", {"penalty": 1.5, "temperature": 1.75, "top_k": 3, "top_p": 0.9, "min_p": 0.1}),
]


def distribution(logits, seen, options):
    return shape(logits, torch.tensor(seen), options).softmax(-1)


def residual(p, q):
    left = (p - q).clamp(min=0)
    return left / left.sum()


def uniforms(seed, n):
    """Returns the generator's first `n` numbers in [0, 1)."""
    return [(number >> 11) / 2**53 for number in splitmix64(seed, n)]


def draw_weighted(weights, uniform):
    return int(draw(weights.log(), torch.tensor([uniform], dtype=torch.float64))[0])


def verify(p, q, drafts, seed):
    """Returns the number of kept drafts and the token after them, or `None` if rounding could change them."""
    numbers = iter(uniforms(seed, len(drafts) + 1))
    for i, token in enumerate(drafts):
        uniform = next(numbers)
        if abs(uniform * q[i, token] - p[i, token]) < 1e-5:
            return None
        if uniform * q[i, token] >= p[i, token]:
            return i, draw_weighted(residual(p[i], q[i]), next(numbers))
    return len(drafts), draw_weighted(p[-1], next(numbers))


def distribution_cases(out):
    r = out.random(3601)
    logits = r.normal(12, std=1.5)
    seen = [int(logits.argmax()), 3, 8, 3]
    table = [OFF | changed for _, _, changed in SAMPLING]

    def rows(function):
        return lambda logits: torch.stack([function(logits, options) for options in table])

    out.case(
        "task_2_distribution/options",
        why="twelve logits under nine sets of options, one row each; three of the tokens were seen, the most probable among them",
        inputs={"logits": logits},
        outputs=rows(lambda x, options: distribution(x, seen, options)),
        tolerance={"output": rounding(30, 1.0)},
        scalars={"seen": seen, "options": table},
    )


def residual_cases(out):
    r = out.random(3602)
    p, q = r.normal(10, std=1.5).softmax(-1), r.normal(10, std=1.5).softmax(-1)
    p, q = ((x * 4096).round() / 4096 for x in (p, q))
    certain = torch.zeros(10)
    certain[int(p.argmax())] = 1
    greedy = torch.zeros(10)
    greedy[3] = 1
    for name, why, p, q in [
        ("two", "two distributions over ten tokens, each larger at some", p, q),
        ("certain", "the draft was certain, and of the target's most probable token", p, certain),
        ("greedy", "the target is certain: temperature 0", greedy, q),
    ]:
        out.case(
            f"task_2_residual/{name}",
            why=why,
            inputs={"p": p, "q": q},
            outputs=residual,
            tolerance={"output": rounding(20, 1.0)},
        )


def verify_cases(out):
    r = out.random(3603)
    vocabulary, k = 6, 3
    soft = (r.normal(k + 1, vocabulary, std=1.2).softmax(-1) * 4096).round() / 4096
    proposed = (r.normal(k, vocabulary, std=1.2).softmax(-1) * 4096).round() / 4096
    drafts = [2, 0, 5]
    eye = torch.eye(vocabulary)
    for name, why, p, q, drafts in [
        ("drawn", "three drafts that were drawn", soft, proposed, drafts),
        ("certain", "three drafts of a proposer that is always certain", soft, eye[drafts], drafts),
        ("greedy", "the target is certain, and agrees with the first two of three drafts", eye[[2, 0, 4, 1]], eye[drafts], drafts),
        ("greedy_all", "the target is certain, and agrees with all three", eye[[2, 0, 5, 1]], proposed, drafts),
        ("none", "no drafts at all", soft[:1], proposed[:0], []),
    ]:
        seeds, accepted, tokens, seed = [], [], [], 0
        while len(seeds) < 120:
            verdict = verify(p.double(), q.double(), drafts, seed)
            if verdict is not None:
                seeds.append(seed)
                accepted.append(verdict[0])
                tokens.append(verdict[1])
            seed += 1
        out.case(
            f"task_2_verify/{name}",
            why=why,
            inputs={"p": p, "q": q} if len(drafts) else {"p": p},
            scalars={"drafts": drafts, "seeds": seeds, "accepted": accepted, "next": tokens},
        )


def text_cases(out):
    """Writes the probability of each text of three tokens after token 0, computed without drafts."""
    r = out.random(3604)
    vocabulary, n = 4, 3
    target, draft = r.normal(vocabulary, vocabulary, std=1.2), r.normal(vocabulary, vocabulary, std=1.2)
    for name, why, changed in SAMPLING:
        options = OFF | changed
        probabilities = torch.zeros([vocabulary] * n, dtype=torch.float64)
        for text in itertools.product(range(vocabulary), repeat=n):
            seen, p = [0], 1.0
            for token in text:
                p *= float(distribution(target[seen[-1]].double(), seen, options)[token])
                seen.append(token)
            probabilities[text] = p
        assert abs(float(probabilities.sum()) - 1) < 1e-9
        # Counts all rare texts as one, as the test does.
        flat = probabilities.flatten()
        common = flat[flat * TEXTS >= 10]
        critical = critical_chi_square(max(1, len(common)))
        # Common mistakes already show in the first token.
        p, q = (distribution(logits[0].double(), [0], options) for logits in (target, draft))
        kept = torch.minimum(p, q)
        mistakes = {"q instead of p": q, "p behind a refused draft": kept + (1 - kept.sum()) * p}
        for mistake, other in mistakes.items():
            if name != "greedy":
                statistic = (TEXTS * (p - other) ** 2 / other).nan_to_num(0.0, posinf=1e9).sum()
                assert statistic > 5 * critical, f"{name}: {mistake} is too near: {statistic:.0f} against {critical}"
        out.case(
            f"task_2_text/{name}",
            why=f"texts of three tokens of a model that looks at the last one: {why}",
            inputs={"target": target, "draft": draft},
            outputs={"probabilities": flat},
            tolerance={"probabilities": rounding(90, 1.0)},
            scalars={**options, "texts": TEXTS, "critical": critical},
        )


def length_cases(out):
    """Writes the number of drafts with the most tokens per cost, computed in fractions. Omits inputs where two are equal or within rounding."""
    rates = [Fraction(i, 16) for i in range(17)]
    rows = [Fraction(1, 64), Fraction(1, 8), Fraction(1, 2), Fraction(1)]
    drafts = [Fraction(0), Fraction(1, 16), Fraction(1, 4)]
    table = []
    for rate, row, draft, most in itertools.product(rates, rows, drafts, [0, 1, 4, 8]):
        speeds = [sum(rate**i for i in range(k + 1)) / (1 + k * (row + draft)) for k in range(most + 1)]
        best = speeds.index(max(speeds))
        near = [k for k, speed in enumerate(speeds) if k != best and 0 < abs(speed - speeds[best]) < Fraction(1, 10**9)]
        ties = [k for k, speed in enumerate(speeds) if k != best and speed == speeds[best]]
        if not near and not ties:
            table.append([float(rate), float(row), float(draft), most, best])
    expected = [[float(rate), k, float(sum(rate**i for i in range(k + 1)))] for rate in rates for k in [0, 1, 2, 5, 8]]
    out.case(
        "task_3_length/table",
        why="rates from 0 to 1, costs from almost nothing to a whole pass",
        scalars={"best": table, "expected": expected},
    )
    lives = []
    for rate_row, rate_draft, most, passes in [
        ("1/4", "1/16", 6, [0] * 12 + [None] * 50 + [99] * 60),
        ("1/2", "0", 4, [99, 0, 1, 99, 2, 0, 0, 0, 1, 99, 0, 0, 0] + [0] * 40),
        ("1/64", "1/64", 8, [1] * 20 + [99] * 6),
        ("2", "0", 8, [99] * 40),
        ("1/8", "0", 0, [99] * 20),
    ]:
        lives.append(life(Fraction(rate_row), Fraction(rate_draft), most, passes))
    out.case(
        "task_3_length/lives",
        why="what is drafted pass by pass, where drafts are kept and where they are not",
        scalars={"lives": lives},
    )


def life(row, draft, most, passes):
    """Returns what each pass drafts. For each pass, `passes` has the maximum number of drafts kept, or `None` if the drafter proposes none."""
    tested, accepted, idle, steps = Fraction(4), Fraction(3), 0, []
    for keeps in passes:
        rate = accepted / tested
        speeds = [sum(rate**i for i in range(k + 1)) / (1 + k * (row + draft)) for k in range(most + 1)]
        k = speeds.index(max(speeds))
        assert all(abs(speed - speeds[k]) > Fraction(1, 10**9) for i, speed in enumerate(speeds) if i != k), "two are nearly as good"
        if k == 0:
            idle += 1
            if idle == 16:
                idle, k = 0, min(1, most)
        else:
            idle = 0
        drafted = 0 if keeps is None else k
        kept = min(keeps or 0, drafted)
        if drafted:
            tested = tested * Fraction(7, 8) + min(drafted, kept + 1)
            accepted = accepted * Fraction(7, 8) + kept
        steps.append([k, drafted, kept, float(accepted / tested)])
    return {"row": float(row), "draft": float(draft), "max": most, "steps": steps}
