from collections.abc import Sequence

from ..._types import Array, Numbers

def rungs() -> list[str]:
    """Names of the rungs that this machine can run, slowest first."""

def quantize(rung: str, x: Numbers, per_scale: int) -> tuple[Array, Array, Array]:
    """As `input.quantize_activations` for the rows of `x [T, C]`, one after the other, with a rung's
    instructions.
    """

def matmul(
    rung: str, tensor_type: str, bytes: Sequence[bytes], x: Numbers, threads: int = 1
) -> Array:
    """`x [T, C]` times the rows whose bytes are given → `[T, R]`"""
