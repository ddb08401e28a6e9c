# Where the bridge was built with `--features gpu`.
from collections.abc import Sequence

from ..._types import Array, Numbers

def adapter() -> str:
    """What was opened, in words; a `ValueError` if there is no graphics processor, nor Mesa's software."""

def dispatch_size(n: int, per_group: int) -> list[int]:
    """The workgroups `[x, y, 1]` that have a thread for each of `n` items."""

def add(a: Numbers, b: Numbers, lines: int = 1) -> Array:
    """`a + b`, both `[n]`; the workgroups stand in `lines` lines."""

def silu_gate(gate: Numbers, up: Numbers, lines: int = 1) -> Array:
    """`silu(gate) · up`, both `[n]`; the workgroups stand in `lines` lines."""

def rms_norm(x: Numbers, weight: Numbers, eps: float, lines: int = 1) -> Array:
    """Each row of `x [rows, width]` over its root mean square, times `weight [width]`; `eps` is added
    to the mean square, and the workgroups stand in `lines` lines.
    """

def mat_vec(tensor_type: str, bytes: Sequence[bytes], x: Numbers, lines: int = 1) -> Array:
    """`x [columns, k]` times the rows whose bytes are given → `[columns, rows]`, a workgroup for each;
    those of a column stand in `lines` lines.
    """

def mat_mat(tensor_type: str, bytes: Sequence[bytes], x: Numbers) -> Array:
    """As `mat_vec`, with a workgroup for each tile."""

def attention(q: Numbers, keys: Numbers, values: Numbers, first: int, scale: float) -> Array:
    """What the rows of `q [rows, heads, d]` read from `keys` and `values [positions, kv_heads, d]`; row
    `t` sees the positions 0 to `first + t`, and scores are multiplied by `scale`.
    """

def product(tensor_type: str, bytes: Sequence[bytes], x: Numbers) -> Array:
    """As `mat_vec` and `mat_mat`, of which the number of columns chooses one."""

def mlp(
    x: Numbers,
    norm: Numbers,
    eps: float,
    gate: tuple[str, Sequence[bytes]],
    up: tuple[str, Sequence[bytes]],
    down: tuple[str, Sequence[bytes]],
) -> tuple[Array, int, int]:
    """`x + down(silu(gate(n)) · up(n))` for `n = rms_norm(x)`, where `x [rows, E]`, `norm [E]`, `gate`
    and `up [I, E]`, `down [E, I]`, each a type and the bytes of its rows; how many kernels were
    recorded, and how often `mlp` submitted by itself.
    """
