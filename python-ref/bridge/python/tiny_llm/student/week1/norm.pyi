from typing import final

from ..._types import Array, Numbers

@final
class RmsNorm:
    """`x / √(mean(x²) + eps) · weight` over the last axis; `weight [E]`."""

    def __new__(cls, weight: Numbers, eps: float) -> RmsNorm: ...
    @property
    def weight(self) -> Array:
        """`[E]`"""

    @property
    def eps(self) -> float:
        """Keeps the root away from 0."""

    def forward(self, x: Numbers) -> Array:
        """`x [..., E]` → the same shape"""
