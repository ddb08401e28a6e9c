from collections.abc import Sequence
from os import PathLike

from ..._types import Array
from .model import Model

def to_f32(bytes: bytes, dtype: str, shape: Sequence[int], name: str = "tensor") -> Array:
    """Stored values as float32. `dtype` is spelled as in a safetensors header: `F32`, `F16`, `BF16`."""

def load_model(folder: str | PathLike[str]) -> Model:
    """Loads a Hugging Face folder: `config.json` and one or more safetensors files."""
