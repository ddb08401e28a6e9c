import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float32]
"""What comes out. `ArrayLike` goes in: whatever `numpy.asarray` takes and holds real numbers."""

Ids = ArrayLike
"""Whole numbers from 0 on: token ids or positions."""

Messages = list[tuple[str, str]]
"""Pairs of role and content."""
