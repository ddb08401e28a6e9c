from collections.abc import Sequence

from ..._types import Array, Numbers

def attend_two_pass(
    q: Numbers, keys: Numbers, values: Numbers, lengths: Sequence[int], scale: float
) -> Array:
    """`q [G, D]`, `keys [S, D]`, `values [S, D]`, cut into runs of `lengths` positions, which add up
    to S → `[G, D]`
    """
