from collections.abc import Sequence
from os import PathLike

from ..._types import Array
from .model import Model

def to_f32(bytes: bytes, dtype: str, shape: Sequence[int], name: str = "tensor") -> Array: ...
def load_model(folder: str | PathLike[str]) -> Model: ...
