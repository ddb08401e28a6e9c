from typing import final

from ..._types import Array, Numbers

def silu(x: Numbers) -> Array:
    """`x · σ(x)`, element by element."""

@final
class SwiGlu:
    """`gate_proj`, `up_proj [I, E]`, `down_proj [E, I]`"""

    def __new__(cls, gate_proj: Numbers, up_proj: Numbers, down_proj: Numbers) -> SwiGlu: ...
    @property
    def gate_proj(self) -> Array:
        """`[I, E]`"""

    @property
    def up_proj(self) -> Array:
        """`[I, E]`"""

    @property
    def down_proj(self) -> Array:
        """`[E, I]`"""

    def forward(self, x: Numbers) -> Array:
        """`x [..., L, E]` → `[..., L, E]`"""
