from ..._types import Array, Numbers

def in_part(start: int, end: int, i: int, part_len: int) -> tuple[int, int]:
    """Those of the positions `start` to `end` − 1 that lie in part `i` of parts of so many positions."""

def join(
    first: tuple[float, float, Numbers], second: tuple[float, float, Numbers]
) -> tuple[float, float, Array]:
    """What two readers have seen, as that of one: maximum, total, and sums `[D]` of the first, then of
    the second.
    """
