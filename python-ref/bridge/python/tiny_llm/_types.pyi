from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float32]
"""The type of returned arrays."""

class _Tensor(Protocol):
    """An object that NumPy can convert to an array, such as a PyTorch tensor."""

    def __array__(self) -> Any: ...
    def numpy(self) -> Any: ...

_Real: TypeAlias = NDArray[np.floating[Any]] | NDArray[np.integer[Any]] | _Tensor
_Row: TypeAlias = Sequence[float] | Sequence[_Real]
_Rows: TypeAlias = Sequence[Sequence[float]] | Sequence[Sequence[_Real]]
# Not a recursive alias, which would accept a str, because a str is a sequence of strs.
_Nested: TypeAlias = Sequence[Sequence[Sequence[float]]] | Sequence[Sequence[Sequence[Sequence[float]]]]

Numbers: TypeAlias = _Real | _Row | _Rows | _Nested
"""The type of array arguments: an array, a tensor or nested lists of real numbers. Booleans are rejected."""

Ids: TypeAlias = NDArray[np.integer[Any]] | _Tensor | Sequence[int] | Sequence[Sequence[int]]
"""Non-negative integers: token ids or positions."""
