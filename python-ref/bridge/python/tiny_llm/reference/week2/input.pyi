from numpy.typing import ArrayLike

from ..._types import Array

def quantize_row(x: ArrayLike, width: int) -> tuple[Array, Array, Array]:
    """`x [cols]`, a scale for each `width`, 32 or 256 → values `[groups, 256]`, sums `[groups, 16]`, scales `[groups, 8]`"""
