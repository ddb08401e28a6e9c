from collections.abc import Sequence

from ..._types import Array, Numbers

def attend_two_pass(
    q: Numbers, keys: Numbers, values: Numbers, lengths: Sequence[int], scale: float
) -> Array: ...
