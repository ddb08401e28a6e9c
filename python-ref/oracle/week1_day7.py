"""Week 1, day 7: temperature, top-k, top-p, min-p, repetition penalty, SplitMix64, drawing, the order of all that.

Each step is written from its definition and compared with the class of the same purpose in `transformers`.
"""

import itertools
import math

import torch
from transformers import MinPLogitsWarper, RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from oracle.fixtures import Random, rounding

OFF = -math.inf

DRAWS = 20_000
"""Number of tokens that a statistical test draws."""

FALSE_ALARM = 1e-6
"""Probability, over all seeds, that a correct sampler fails a statistical test."""


def apply_temperature(logits, temperature):
    if temperature == 0:
        return torch.where(torch.arange(len(logits)) == logits.argmax(), logits, OFF)
    return logits / temperature


def top_k(logits, k):
    if k == 0:
        return logits
    return keep(logits, descending(logits)[:k])


def top_p(logits, p):
    """Keeps the most probable tokens: each for which the mass of those before it is below `p`. `transformers` starts at the least probable."""
    if p >= 1:
        return logits
    order = descending(logits)
    probabilities = logits.softmax(-1)[order]
    before = probabilities.cumsum(-1) - probabilities
    assert (before[1:] - p).abs().min() > 1e-4, f"a cut-off within rounding of p = {p}"
    return keep(logits, order[(before < p) | (torch.arange(len(order)) == 0)])


def min_p(logits, p):
    if p == 0:
        return logits
    ratio = logits.softmax(-1) / logits.softmax(-1).max()
    assert (ratio[ratio < 1] - p).abs().min() > 1e-4, f"a probability within rounding of p = {p} times the largest"
    return torch.where(ratio >= p, logits, OFF)


def repetition_penalty(logits, seen, penalty):
    out = logits.clone()
    for token in set(seen.tolist()):
        out[token] = out[token] / penalty if out[token] > 0 else out[token] * penalty
    return out


def splitmix64(seed, n):
    """Returns the first `n` outputs, from the definition in Steele, Lea and Flood 2014, with unbounded integers."""
    numbers, state = [], seed
    for _ in range(n):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        numbers.append(z ^ z >> 31)
    return numbers


def draw(logits, uniform):
    """Returns, for each number of `uniform`, the first token in id order whose running sum of probabilities exceeds it."""
    sums = logits.softmax(-1).cumsum(-1)
    assert (sums[None] - uniform[:, None]).abs().min() > 1e-5, "a draw within rounding of the border of two tokens"
    return torch.searchsorted(sums, uniform, right=True)


STEPS = ("penalty", "temperature", "top_k", "top_p", "min_p")


def shape(logits, seen, options, order=STEPS):
    """Returns the logits after all steps in the given order."""
    for step in order:
        value = options[step]
        if step == "penalty":
            logits = repetition_penalty(logits, seen, value)
        else:
            logits = {"temperature": apply_temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}[step](logits, value)
    return logits


def descending(logits):
    """Returns ids from the largest logit to the smallest. Of equal logits, the lower id comes first."""
    return torch.sort(logits, descending=True, stable=True).indices


def keep(logits, ids):
    out = torch.full_like(logits, OFF)
    out[ids] = logits[ids]
    return out


def table(step, values):
    """Returns a function that applies `step` with each of `values` and returns a row for each. Several rows tell mistakes apart."""
    return lambda logits, **more: torch.stack([step(logits, value, **more) for value in values])


def hugging_face(warper):
    return lambda logits, value: warper(value)(None, logits[None].clone())[0]


def log_of(probabilities):
    """Returns logarithms rounded to multiples of 2⁻¹², the same on every machine."""
    return (torch.tensor(probabilities, dtype=torch.float64).log() * 4096).round().div(4096).float()


def temperature_cases(out):
    r = out.random(7001)
    logits = r.normal(12, std=3.0)
    logits[4] = OFF
    temperatures = [0.25, 0.75, 1.0, 1.5, 3.0]
    out.case(
        "task_1_temperature/signed",
        why="signed logits, one of them already ruled out",
        inputs={"logits": logits},
        outputs=table(apply_temperature, temperatures),
        tolerance={"output": rounding(2, logits / 0.25)},
        scalars={"temperature": temperatures},
        same={"transformers": table(hugging_face(TemperatureLogitsWarper), temperatures)},
    )
    temperatures = [0.0, 0.5]  # 0.5 distinguishes a function that ignores 0 from one that does nothing
    largest = torch.tensor([0.5, -2.0, 3.5, 0.0, 3.25, -0.75, 1.0, 3.5, OFF, 2.0, -4.0, 3.5])
    out.case(
        "task_1_temperature/zero",
        seed=0,
        why="of twelve logits three are the largest, of which the first stays; one is 0, and one already ruled out",
        inputs={"logits": largest},
        outputs=table(apply_temperature, temperatures),
        scalars={"temperature": temperatures},
    )


def top_k_cases(out):
    r = out.random(7002)
    logits = r.normal(12, std=2.0)
    ks = [0, 1, 2, 5, 11, 12]
    out.case(
        "task_2_top_k/unsorted",
        why="twelve signed logits in no order; k is 0, 1, in between, V − 1 and V",
        inputs={"logits": logits},
        outputs=table(top_k, ks),
        scalars={"k": ks},
        same={"transformers": table(lambda x, k: hugging_face(TopKLogitsWarper)(x, k) if k else x, ks)},
    )
    tied = torch.tensor([0.5, 2.0, -1.25, -3.0, 2.0, 3.5, -0.75, 2.0, 1.0, -1.25, 3.0, 2.0])
    ks = [1, 2, 3, 4, 5, 6, 9]
    out.case(
        "task_2_top_k/ties",
        seed=0,
        why="two logits are larger than four equal ones, of which the first stay; further down two more are equal",
        inputs={"logits": tied},
        outputs=table(top_k, ks),
        scalars={"k": ks},
    )


def top_p_cases(out):
    twelve = Random(7003).normal(12, std=2.0)
    masked = twelve.clone()
    masked[twelve.argmax()] = OFF
    for name, seed, why, logits, ps in [
        ("crossing", 0, "probabilities .15, .5, .05, .3: at p = .6 the token with .3 crosses and stays", log_of([0.15, 0.5, 0.05, 0.3]) + 3, [1e-6, 0.3, 0.6, 0.75, 0.81, 0.96, 1.0]),
        ("unsorted", 7003, "twelve signed logits in no order", twelve, [1e-6, 0.2, 0.5, 0.7, 0.9, 0.98, 1.0]),
        ("shifted", 7003, "the same plus 100: probabilities do not change", twelve + 100, [1e-6, 0.2, 0.5, 0.7, 0.9, 0.98, 1.0]),
        ("masked", 7003, "the same after another step ruled out the most probable token: the rest is a whole again", masked, [0.2, 0.61, 0.95]),
    ]:
        out.case(
            f"task_3_top_p/{name}",
            seed=seed,
            why=why,
            inputs={"logits": logits},
            outputs=table(top_p, ps),
            scalars={"p": ps},
            same={"transformers": table(hugging_face(TopPLogitsWarper), ps)},
        )


def min_p_cases(out):
    twelve = Random(7004).normal(12, std=2.0)
    twelve[9] = twelve.max()
    ps = [0.0, 0.05, 0.2, 0.4, 0.7, 1.0]
    for name, why, logits in [
        ("unsorted", "twelve signed logits in no order; two tokens are the most probable", twelve),
        ("shifted", "the same plus 100: ratios do not change", twelve + 100),
        ("negative", "the same minus 100: all logits negative", twelve - 100),
    ]:
        out.case(
            f"task_4_min_p/{name}",
            seed=7004,
            why=why,
            inputs={"logits": logits},
            outputs=table(min_p, ps),
            scalars={"p": ps},
            same={"transformers": table(hugging_face(MinPLogitsWarper), ps)},
        )


def penalty_cases(out):
    def hf(logits, penalty, seen):
        return RepetitionPenaltyLogitsProcessor(penalty)(seen[None], logits[None].clone())[0]

    r = out.random(7005)
    logits = r.normal(12, std=3.0)
    seen = torch.tensor([2, 2, 7, 10, 5, 2, 9, 7, 5])
    logits[2], logits[5], logits[7], logits[9], logits[10] = 2.5, -1.75, 0.0, OFF, 0.625
    penalties = [0.5, 1.0, 1.25, 2.0]
    out.case(
        "task_5_penalty/signed",
        why="seen: a positive logit three times, twice in succession, a negative one twice, a zero twice, one between 0 and 1, one that is ruled out; and a penalty below 1, which encourages",
        inputs={"logits": logits, "seen": seen},
        outputs=table(lambda x, p, seen: repetition_penalty(x, seen, p), penalties),
        tolerance={"output": rounding(2, logits / 0.5)},
        scalars={"penalty": penalties},
        same={"transformers": table(hf, penalties)},
    )


def generator_cases(out):
    assert splitmix64(1234567, 3) == [6457827717110365317, 3203168211198807973, 9817491932198370423], "the values that are widely published"
    seeds = [0, 1, 42, 2**64 - 1]
    out.case(
        "task_6_splitmix64",
        why="the smallest seed, the largest (whose first addition overflows) and two others",
        scalars={"seeds": seeds, "numbers": [splitmix64(seed, 6) for seed in seeds]},
    )


def draw_cases(out):
    r = out.random(7006)
    logits = r.normal(12, std=1.5)
    logits[0] = logits[4] = logits[11] = OFF
    uniform = (torch.arange(64) + 0.5) / 64
    for name, why, shift in [("signed", "twelve signed logits, the first, one in the middle and the last ruled out", 0.0), ("shifted", "the same plus 100", 100.0)]:
        out.case(
            f"task_6_draw/{name}",
            why=why,
            inputs={"logits": logits + shift, "uniform": uniform},
            outputs=lambda logits, uniform: {"token": draw(logits.double(), uniform.double())},
        )
    ordered = torch.searchsorted(logits.double().softmax(-1)[descending(logits)].cumsum(-1), uniform.double(), right=True)
    tokens = draw(logits.double(), uniform.double())
    assert (descending(logits)[ordered] != tokens).any(), "hides a draw in order of probability"


def step_cases(out):
    """Writes a case per step. Only the kept tokens are compared, so temperature and penalty are tested at temperature 0."""
    off = {"penalty": 1.0, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
    logits, seen = torch.tensor([0.5, 2.0, 1.75, -0.25, 1.25, 0.75]), torch.tensor([0, 1])
    for step, why, changed in [
        ("top_k", "the three largest logits stay", {"top_k": 3}),
        ("top_p", "the most probable tokens up to .6 stay", {"top_p": 0.6}),
        ("min_p", "tokens half as probable as the best one stay", {"min_p": 0.5}),
        ("temperature", "only the largest logit stays", {"temperature": 0.0}),
        ("penalty", "the largest logit was seen, so another one is the largest before temperature 0 chooses it", {"penalty": 2.0, "temperature": 0.0}),
    ]:
        options = off | changed
        shaped = shape(logits.double(), seen, options)
        support = torch.isfinite(shaped).nonzero().flatten()
        without = torch.isfinite(shape(logits.double(), seen, options | {step: off[step]})).nonzero().flatten()
        assert not torch.equal(support, without), f"{step}: the case does not show that it is missing"
        assert shaped.softmax(-1)[support].min() > 0.05, "a token of the support might not come up in the test's draws"
        out.case(f"task_6_step/{step}", seed=0, why=why, inputs={"logits": logits, "seen": seen}, outputs={"support": support}, scalars=options)


COMMON_ORDERS = [
    "temperature penalty top_k top_p min_p",
    "top_k penalty temperature top_p min_p",
    "penalty top_k top_p min_p temperature",
    "penalty top_k top_p temperature min_p",
    "penalty temperature top_p top_k min_p",
    "penalty temperature min_p top_k top_p",
]
"""Common wrong orders. The penalty at the end is not among them, because it keeps the same tokens as no penalty."""


def order_cases(out):
    """Writes cases for the order of the five steps. Each wrong order keeps other tokens in at least one case."""
    every = {order for order in itertools.permutations(STEPS) if order != STEPS}
    # Dividing all logits by a number does not change their ranks, so top-k may come before the temperature.
    every.remove(("penalty", "top_k", "temperature", "top_p", "min_p"))
    supports = []
    for name, why, logits, seen, options in [
        (
            "flat",
            "a high temperature moves the borders of top-p and min-p",
            [-1.875, -1.75, 2.25, -2.25, -0.375, -0.25, -1.625, 2.0],
            [2, 6],
            {"penalty": 2.0, "temperature": 3.0, "top_k": 6, "top_p": 0.9, "min_p": 0.2},
        ),
        (
            "greedy",
            "temperature 0 looks at logits that the penalty has changed",
            [0.75, 2.5, -1.0, 1.0, 3.0, -0.875, 1.625, -1.875],
            [4, 0],
            {"penalty": 2.0, "temperature": 0.0, "top_k": 5, "top_p": 0.6, "min_p": 0.3},
        ),
        (
            "narrow",
            "what top-k leaves is a whole again before top-p counts",
            [1.875, -1.375, 0.125, -2.125, -2.75, 1.0, -2.25, -3.25],
            [0, 5],
            {"penalty": 2.0, "temperature": 3.0, "top_k": 5, "top_p": 0.6, "min_p": 0.4},
        ),
        (
            "sharp",
            "top-k takes a token in place of one that the penalty has lowered",
            [1.75, 1.375, -0.375, 0.125, 0.625, -0.125, 1.0, 1.875],
            [7, 1],
            {"penalty": 2.0, "temperature": 0.5, "top_k": 3, "top_p": 0.9, "min_p": 0.2},
        ),
    ]:
        logits, seen = torch.tensor(logits), torch.tensor(seen)

        def support(logits, seen, order=STEPS, options=options):
            return torch.isfinite(shape(logits.double(), seen, options, order)).nonzero().flatten()

        golden = support(logits, seen)
        supports.append(lambda order, logits=logits, seen=seen, support=support: support(logits, seen, order).tolist())
        for order in list(every):
            try:
                if not torch.equal(support(logits, seen, order), golden):
                    every.remove(order)
            except AssertionError:
                pass  # too close to a border to say
        probabilities = shape(logits.double(), seen, options).softmax(-1)
        assert probabilities[golden].min() > 0.05, "a token of the support might not come up in the test's draws"
        out.case(f"task_6_order/{name}", seed=0, why=why, inputs={"logits": logits, "seen": seen}, outputs={"support": golden}, scalars=options)
    assert not every, f"no case tells these orders from ours: {every}"
    # Common mistakes omit a step or move one. The cases together tell all of these apart.
    common = [tuple(step for step in STEPS if step != missing) for missing in STEPS]
    common += [(*order.split(),) for order in COMMON_ORDERS]
    answers = {tuple(tuple(support(order)) for support in supports) for order in common}
    assert len(answers) == len(common), "two common mistakes leave the same tokens in all cases"


def critical_chi_square(freedom):
    """Returns the value that χ² with `freedom` degrees of freedom exceeds with probability FALSE_ALARM."""
    low, high = 0.0, 1000.0
    for _ in range(80):
        middle = (low + high) / 2
        tail = torch.special.gammaincc(torch.tensor(freedom / 2, dtype=torch.float64), torch.tensor(middle / 2, dtype=torch.float64))
        low, high = (middle, high) if tail > FALSE_ALARM else (low, middle)
    return math.ceil(high * 10) / 10


def distribution_cases(out):
    """Writes distributions of samplers, each with its neighbours: distributions with one step missing or wrong."""
    off = {"penalty": 1.0, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
    logits = Random(7026).normal(12)
    seen = torch.tensor([int(logits.argmax()), 3, 8, 3])
    for sampler_seed, (name, why, changed) in enumerate(
        [
            ("plain", "as the model gave it", {}),
            ("sharp", "temperature below 1", {"temperature": 0.5}),
            ("flat", "temperature above 1", {"temperature": 2.5}),
            ("top_k", "five tokens are left", {"top_k": 5}),
            ("top_p", "the most probable tokens up to .8", {"top_p": 0.8}),
            ("min_p", "at least a fifth as probable as the most probable one", {"min_p": 0.2}),
            ("penalty", "three of the twelve were seen", {"penalty": 2.0}),
            ("all", "everything at once", {"penalty": 2.0, "temperature": 1.75, "top_k": 9, "top_p": 0.9, "min_p": 0.1}),
        ],
        start=2026,
    ):
        options = off | changed
        probabilities = shape(logits.double(), seen, options).softmax(-1)
        neighbours = {f"without {step}": shape(logits.double(), seen, options | {step: off[step]}).softmax(-1) for step in changed}
        # Top-k, top-p and min-p all keep the first tokens by rank, so together, some have no effect.
        neighbours = {neighbour: other for neighbour, other in neighbours.items() if not torch.equal(other, probabilities)}
        neighbours["that takes all tokens that are left as equally probable"] = (probabilities > 0) / (probabilities > 0).sum()
        neighbours["that squares the probabilities"] = probabilities**2 / (probabilities**2).sum()
        if not changed:
            neighbours["that always takes the best token"] = apply_temperature(logits, 0).double().softmax(-1)
        left = probabilities[probabilities > 0]
        assert DRAWS * left.min() > 20, f"{name}: χ² needs some expected draws of every token, not {DRAWS * left.min():.1f}"
        critical = critical_chi_square(len(left) - 1)
        for neighbour, other in neighbours.items():
            # A token with probability 0 in `other` makes χ² infinite.
            statistic = (DRAWS * (probabilities - other) ** 2 / other).nan_to_num(posinf=math.inf).sum()
            assert statistic > 20 * critical, f"{name}: {neighbour} is too near: {statistic:.0f} against {critical}"
        out.case(
            f"task_6_distribution/{name}",
            seed=7026,
            why=why,
            inputs={"logits": logits, "seen": seen, "neighbours": torch.stack(list(neighbours.values())).float()},
            outputs={"probabilities": probabilities},
            tolerance={"probabilities": rounding(20, 1.0)},
            scalars={**options, "sampler_seed": sampler_seed, "draws": DRAWS, "false_alarm": FALSE_ALARM, "critical": critical, "names": list(neighbours)},
        )
