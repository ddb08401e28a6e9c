from typing import final

from ..._types import Array, Ids, Numbers

# What Rust changes in place is returned here.

def apply_temperature(logits: Numbers, temperature: float) -> Array:
    """Divides `logits [V]` by `temperature`; at 0 only the largest stays."""

def top_k(logits: Numbers, k: int) -> Array:
    """Keeps the `k` largest of `logits [V]`; 0 keeps all."""

def top_p(logits: Numbers, p: float) -> Array:
    """Keeps the most probable of `logits [V]` until their probabilities sum to at least `p`."""

def min_p(logits: Numbers, p: float) -> Array:
    """Keeps those of `logits [V]` that are at least `p` times as probable as the most probable one."""

def repetition_penalty(logits: Numbers, seen: Ids, penalty: float) -> Array:
    """Makes every token of `seen` less likely: a positive one of `logits [V]` is divided by `penalty`,
    a negative one multiplied.
    """

@final
class Rng:
    """A seeded generator, SplitMix64."""

    def __new__(cls, seed: int) -> Rng: ...
    def next_u64(self) -> int:
        """The next 64 bits."""

    def uniform(self) -> float:
        """The next number in `[0, 1)`."""

def draw(logits: Numbers, uniform: float) -> int:
    """The token at which the running sum of `softmax(logits)`, in id order, first exceeds `uniform`."""

@final
class SamplerOptions:
    """What shapes the distribution; without arguments it stays as the model gave it."""

    def __new__(
        cls,
        *,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repetition_penalty: float = 1.0,
    ) -> SamplerOptions: ...
    @property
    def temperature(self) -> float:
        """0 is greedy, 1 changes nothing."""

    @property
    def top_k(self) -> int:
        """0 is off."""

    @property
    def top_p(self) -> float:
        """1 is off."""

    @property
    def min_p(self) -> float:
        """0 is off."""

    @property
    def repetition_penalty(self) -> float:
        """1 is off."""

@final
class Sampler:
    """All steps in order, then a draw. The generator is copied: the sampler's draws leave `rng` as it
    is.
    """

    def __new__(cls, options: SamplerOptions, rng: Rng) -> Sampler: ...
    def choose(self, logits: Numbers, seen: Ids) -> int:
        """The next token, chosen from `logits [V]` after the tokens `seen` so far."""
