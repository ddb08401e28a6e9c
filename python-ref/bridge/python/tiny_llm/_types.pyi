from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float32]
"""What comes out."""

class _Tensor(Protocol):
    """What NumPy can read and is no array of its own, as a tensor of PyTorch."""

    def __array__(self) -> Any: ...
    def numpy(self) -> Any: ...

_Real: TypeAlias = NDArray[np.floating[Any]] | NDArray[np.integer[Any]] | _Tensor
_Row: TypeAlias = Sequence[float] | Sequence[_Real]
_Rows: TypeAlias = Sequence[Sequence[float]] | Sequence[Sequence[_Real]]
# Not one alias that refers to itself: a text is a sequence of texts, without end.
_Nested: TypeAlias = Sequence[Sequence[Sequence[float]]] | Sequence[Sequence[Sequence[Sequence[float]]]]

Numbers: TypeAlias = _Real | _Row | _Rows | _Nested
"""What goes in: an array, a tensor or nested lists of real numbers. Booleans do not count as such."""

Ids: TypeAlias = NDArray[np.integer[Any]] | _Tensor | Sequence[int] | Sequence[Sequence[int]]
"""Whole numbers from 0 on: token ids or positions."""
