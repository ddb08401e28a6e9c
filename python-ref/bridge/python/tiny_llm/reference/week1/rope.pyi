import enum

from numpy.typing import ArrayLike

from ..._types import Array, Ids

def inverse_frequencies(head_dim: int, base: float) -> Array: ...

class RopeTables:
    """`cos`, `sin [P, D/2]`"""

    cos: Array
    sin: Array
    def __init__(self, inverse_frequencies: ArrayLike, n_positions: int) -> None: ...
    @staticmethod
    def from_arrays(cos: ArrayLike, sin: ArrayLike) -> RopeTables:
        """Tables from their two fields, without the solution's constructor."""

def rope_interleaved(x: ArrayLike, tables: RopeTables, offset: int = 0) -> Array:
    """`x [..., L, D]` → the same shape; row `l` stands at position `offset + l`."""

def rope_half_split(x: ArrayLike, tables: RopeTables, offset: int = 0) -> Array:
    """`x [..., L, D]` → the same shape; row `l` stands at position `offset + l`."""

class RopeForm(enum.Enum):
    Interleaved = ...
    HalfSplit = ...

def rope_at_positions(x: ArrayLike, tables: RopeTables, positions: Ids, form: RopeForm) -> Array:
    """`x [B, H, L, D]`, `positions [B, L]` → the same shape as `x`"""

def half_split_to_interleaved(weight: ArrayLike, n_heads: int) -> Array:
    """`[n_heads·D, E]` → the same shape"""
