from collections.abc import Sequence
from typing import final

from ..._types import Array, Numbers
from .layout import Layout

@final
class Graph:
    """Nodes, each a number. Nothing is computed before somebody asks."""

    def __new__(cls) -> Graph: ...
    def values(self, x: Numbers) -> int:
        """A leaf with these numbers; axes in PyTorch's order."""

    def mul_mat(self, a: int, b: int) -> int:
        """Every row of `a` times every row of `b`."""

    def add(self, a: int, b: int) -> int:
        """`a + b`, where `b` broadcasts."""

    def reshape(self, x: int, sizes: Sequence[int]) -> int:
        """Other sizes of the same elements."""

    def transposed(self, x: int) -> int:
        """A contiguous copy of `x` with its axes 0 and 1 exchanged."""

    def layout(self, x: int) -> Layout:
        """The layout of a node."""

    def order(self, result: int) -> list[int]:
        """The nodes that a result needs, each behind what it reads."""

    def compute(self, result: int) -> Array:
        """What a node comes to, in PyTorch's order of axes."""

    def lifetimes(self, result: int) -> list[list[int]]:
        """Node, bytes, first and last step of every buffer, in the order of the nodes."""

    def planned(self, result: int, in_place: bool) -> tuple[Array, int, int]:
        """What a node comes to in one planned arena, how long that is, and how many bytes no plan without
        in-place nodes can do without.
        """

    def dot(self, result: int) -> str:
        """What a result needs, as Graphviz reads it."""
