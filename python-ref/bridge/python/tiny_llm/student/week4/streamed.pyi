from ..._types import Array, Ids, Numbers

def quantize_int8(x: Numbers) -> tuple[list[int], float]:
    """`x [n]` as whole numbers up to 127, and what one step is worth."""

def quantize_int16(x: Numbers) -> tuple[list[int], float]:
    """`x [n]` as whole numbers up to 32767, and what one step is worth."""

def dot(weights: list[int], x: list[int]) -> int:
    """The sum of `weights [n]` times `x [n]`."""

def attend(keys: Numbers, values: Numbers, q: Numbers) -> Array:
    """What `q [H_q, D]` reads from a cache to which `keys` and `values [n, H, D]` were pushed."""

def best(logits: Numbers, k: int) -> list[tuple[int, float]]:
    """The `k` best of `logits [V]`, offered one after the other."""

def run(
    file: bytes, tokens: Ids, chunk_rows: int, k: int, budget: int
) -> tuple[list[list[tuple[int, float]]], tuple[int, int, int], int]:
    """The `k` best tokens, with their logits, behind each of `tokens [L]`, of the model in `file`; reads,
    seeks and bytes; and the most memory that was in use of `budget` bytes.
    """
