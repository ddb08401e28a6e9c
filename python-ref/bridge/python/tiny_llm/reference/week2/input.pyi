from numpy.typing import ArrayLike

from ..._types import Array

def quantize_row(x: ArrayLike) -> tuple[Array, Array, Array]:
    """`x [cols]` → values `[groups, 256]`, sums `[groups, 16]`, scales `[groups]`"""
