from numpy.typing import ArrayLike

from ..._types import Array

def silu(x: ArrayLike) -> Array: ...

class SwiGlu:
    """`gate_proj`, `up_proj [I, E]`, `down_proj [E, I]`"""

    gate_proj: Array
    up_proj: Array
    down_proj: Array
    def __init__(self, gate_proj: ArrayLike, up_proj: ArrayLike, down_proj: ArrayLike) -> None: ...
    def forward(self, x: ArrayLike) -> Array:
        """`x [..., E]` → `[..., E]`"""
