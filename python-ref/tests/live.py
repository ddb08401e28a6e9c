"""Fresh inputs for the tests, and the comparison with the oracle."""

import math
import random
import re

import numpy as np
import pytest
import torch

DRAWS = 8
"""The number of draws per test."""


class Draw:
    """Random sizes and float32 tensors, all from one seed. `number` counts a test's draws from 1."""

    def __init__(self, seed, number):
        self.number = number
        self.random = random.Random(seed)
        self._generator = torch.Generator().manual_seed(self.random.getrandbits(60))

    def size(self, low, high):
        return self.random.randint(low, high)

    def different(self, count, low, high):
        """Returns `count` different sizes from `low` to `high`, so that no two axes can be confused."""
        return self.random.sample(range(low, high + 1), count)

    def shape(self, low, high, size=5):
        """Returns a random shape of `low` to `high` axes, each of 1 to `size`."""
        return [self.size(1, size) for _ in range(self.size(low, high))]

    def choice(self, *options):
        return self.random.choice(options)

    def normal(self, *shape, std=1.0, mean=0.0):
        return torch.randn(*shape, generator=self._generator) * std + mean

    def uniform(self, *shape, low=-1.0, high=1.0):
        return torch.rand(*shape, generator=self._generator) * (high - low) + low

    def weight(self, out, width):
        """Returns a matrix `[out, width]` that roughly keeps the size of its input."""
        return self.normal(out, width, std=1 / math.sqrt(width))

    def norm_weight(self, size):
        """Returns signed, uneven weights."""
        return self.normal(size, std=0.7, mean=self.choice(1.0, -1.0))

    def integers(self, *shape, high):
        return torch.randint(high, shape, generator=self._generator)


def refuses(call, argument, found, expected):
    """Checks that the call raises a `ValueError` that names the argument, what was found and what was expected."""
    with pytest.raises(ValueError) as caught:
        call()
    text = str(caught.value)
    assert re.match(rf"{re.escape(argument)}: (.*: )?found ", text), text
    problem, _, wanted = text.partition(", expected ")
    assert found in problem and expected in wanted, text


def close(found, expected, tolerance):
    """Checks that the solution's `found` equals the oracle's `expected` to within a `tolerance` of `oracle.fixtures`."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    assert found.shape == expected.shape, f"found shape {found.shape}, expected {expected.shape}"
    with np.errstate(invalid="ignore"):
        difference = np.where(found == expected, 0.0, np.abs(found - expected))
    scale = np.where(np.isfinite(expected), np.abs(expected), 0.0) if tolerance.relative else 1.0
    allowed = tolerance.value * scale
    excess = np.where(difference <= allowed, 0.0, np.nan_to_num(difference - allowed, nan=np.inf, posinf=np.inf))  # NaN is never close
    if excess.any():
        worst = np.unravel_index(excess.argmax(), excess.shape)
        raise AssertionError(
            f"{(excess > 0).sum()} of {excess.size} values differ, most at {list(map(int, worst))} of {list(found.shape)}: "
            f"found {found[worst]:.7g}, expected {expected[worst]:.7g}; tolerance: {tolerance.derivation}"
        )


def q8_0(x):
    """Rounds rows `[…, D]` like a q8_0 cache: to 8-bit codes times a scale per 32 numbers."""
    out = np.array(x, dtype=np.float32)
    with np.errstate(all="ignore"):
        for start in range(0, out.shape[-1], 32):
            block = out[..., start : start + 32]
            exact = np.abs(block).max(axis=-1, keepdims=True) / np.float32(127)
            scale = exact.astype(np.float16)
            scale = np.where(scale > exact, np.nextafter(scale, np.float16(0)), scale).astype(np.float32)
            codes = np.clip(np.rint(block * (1 / scale)), -127, 127)
            block[...] = np.where(np.isfinite(scale), np.where(scale > 0, codes * scale, 0), np.nan)
    return out.astype(x.dtype)
