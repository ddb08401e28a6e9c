from ..._types import Array, Numbers

def route(logits: Numbers, k: int, order: str) -> tuple[list[list[int]], Array]:
    """The `k` experts and their weights for each row of `logits [T, n]`; `order` is "softmax",
    "renormalized" or "top_k".
    """

def group(chosen: list[int], experts: int) -> tuple[list[int], list[int]]:
    """Where each expert's assignments begin, and their numbers by expert."""

def indexed_matmul(stack: Numbers, chosen: list[int], x: Numbers) -> tuple[Array, int]:
    """Each assignment's row of `x [T or A, K]` times its expert's matrix of `stack [n, M, K]`, for the
    `A` experts in `chosen`, and how many bytes were read.
    """

def attend(q: Numbers, keys: Numbers, values: Numbers, sinks: Numbers) -> Array:
    """Attention of `q [G, D]` over `keys` and `values [n, D]`, with `sinks [G]`."""

def visible(position: int, window: int) -> tuple[int, int]:
    """The first position that a row sees, and the one behind the last; a window of 0 is none."""

def pages_out(next: int, window: int, page_len: int) -> int:
    """How many pages nobody sees from row `next` on; a window of 0 is none."""
