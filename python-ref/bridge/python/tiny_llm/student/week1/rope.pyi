import enum
from typing import final

from ..._types import Array, Ids, Numbers

def inverse_frequencies(head_dim: int, base: float) -> Array:
    """`base^(−2i/D)` for each pair of a head, `[D/2]`."""

@final
class RopeTables:
    """Cosine and sine of every angle: `cos`, `sin [P, D/2]`."""

    def __new__(cls, inverse_frequencies: Numbers, n_positions: int) -> RopeTables: ...
    @staticmethod
    def from_arrays(cos: Numbers, sin: Numbers) -> RopeTables:
        """Tables from their two fields, without the solution's constructor."""

    @property
    def cos(self) -> Array:
        """`[P, D/2]`"""

    @property
    def sin(self) -> Array:
        """`[P, D/2]`"""

def rope_interleaved(x: Numbers, tables: RopeTables, offset: int = 0) -> Array:
    """Rotates the pairs `(x[2i], x[2i+1])`: `x [..., L, D]` → the same shape; row `l` stands at
    position `offset + l`.
    """

def rope_half_split(x: Numbers, tables: RopeTables, offset: int = 0) -> Array:
    """Rotates the pairs `(x[i], x[i + D/2])`: `x [..., L, D]` → the same shape; row `l` stands at
    position `offset + l`.
    """

class RopeForm(enum.Enum):
    """Which two numbers of a head are a pair."""

    Interleaved = "interleaved"
    HalfSplit = "half-split"
def rope_at_positions(x: Numbers, tables: RopeTables, positions: Ids, form: RopeForm) -> Array:
    """RoPE where every row has a position of its own: `x [B, H, L, D]`, `positions [B, L]` → the same
    shape as `x`.
    """

def half_split_to_interleaved(weight: Numbers, n_heads: int) -> Array:
    """Reorders the rows of a projection made for the half-split form: `[n_heads·D, E]` → the same
    shape
    """
