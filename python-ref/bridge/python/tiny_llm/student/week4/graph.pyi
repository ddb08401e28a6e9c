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

    def pinned(self, result: int, lacks: Sequence[Sequence[str]]) -> list[int | None]:
        """Which backend has to compute each node, where they lack these operations."""

    def fewest_copies(self, result: int, pinned: Sequence[int | None]) -> list[int | None]:
        """Which of two backends computes each node, if some are pinned and as little as possible is to
        be copied.
        """

    def on_twins(
        self, result: int, placed: Sequence[int | None]
    ) -> tuple[Array, list[tuple[int, int, int]]]:
        """What a node comes to if backends compute what is placed with them, and backend, copies and
        nodes of each split.
        """

    def dot(self, result: int) -> str:
        """What a result needs, as Graphviz reads it."""
