from numpy.typing import ArrayLike

from ..._types import Array, Ids

# What Rust changes in place is returned here.
def apply_temperature(logits: ArrayLike, temperature: float) -> Array: ...
def top_k(logits: ArrayLike, k: int) -> Array: ...
def top_p(logits: ArrayLike, p: float) -> Array: ...
def min_p(logits: ArrayLike, p: float) -> Array: ...
def repetition_penalty(logits: ArrayLike, seen: Ids, penalty: float) -> Array: ...

class Rng:
    def __init__(self, seed: int) -> None: ...
    def next_u64(self) -> int: ...
    def uniform(self) -> float: ...

def draw(logits: ArrayLike, uniform: float) -> int: ...

class SamplerOptions:
    temperature: float
    top_k: int
    top_p: float
    min_p: float
    repetition_penalty: float
    def __init__(
        self,
        *,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repetition_penalty: float = 1.0,
    ) -> None: ...

class Sampler:
    def __init__(self, options: SamplerOptions, rng: Rng) -> None:
        """The generator is copied: the sampler's draws leave `rng` as it is."""
    def choose(self, logits: ArrayLike, seen: Ids) -> int: ...
