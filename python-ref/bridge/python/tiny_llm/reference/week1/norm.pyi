from numpy.typing import ArrayLike

from ..._types import Array

class RmsNorm:
    weight: Array
    eps: float
    def __init__(self, weight: ArrayLike, eps: float) -> None: ...
    def forward(self, x: ArrayLike) -> Array:
        """`x [..., E]` → the same shape"""
