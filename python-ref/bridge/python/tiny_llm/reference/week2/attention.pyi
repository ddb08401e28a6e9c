from collections.abc import Sequence

from numpy.typing import ArrayLike

from ..._types import Array

def attend_two_pass(q: ArrayLike, keys: ArrayLike, values: ArrayLike, lengths: Sequence[int], scale: float) -> Array:
    """`q [G, D]`, `keys [S, D]`, `values [S, D]`, cut into runs of `lengths` positions, which add up to S → `[G, D]`"""
