from ..._types import Array, Numbers

def dequantize_row(tensor_type: str, bytes: bytes) -> Array:
    """The weights of a row of blocks; `tensor_type` as llama.cpp writes it: `Q4_0`."""

def quantize_row(tensor_type: str, x: Numbers) -> bytes:
    """The blocks of a row of weights, `x [cols]`."""

def rms_error(x: Numbers, y: Numbers) -> float:
    """The root of the mean squared difference of `x [n]` and `y [n]`."""

def relative_error(x: Numbers, y: Numbers) -> float:
    """The error of `y [n]` as a share of the original, `x [n]`."""

def round_trip_error(tensor_type: str, x: Numbers) -> float:
    """The relative error of a row `x [cols]` that was stored in a type and read again."""
