from ..._types import Array, Ids, Numbers
from ..week1.sampling import SamplerOptions

def distribution(options: SamplerOptions, logits: Numbers, seen: Ids) -> Array:
    """The distribution `[V]` that a sampler draws from, with `logits [V]`, after the tokens `seen`."""

def accepts(p: float, q: float, uniform: float) -> bool:
    """Whether a draft is kept, to which the target gives probability `p` and the proposer gave `q`."""

def residual(p: Numbers, q: Numbers) -> list[float]:
    """What a token is drawn from where a draft was refused. `p [V]`, `q [V]` → `[V]`"""

def verify(tokens: Ids, q: Numbers, p: Numbers, seed: int) -> tuple[int, int]:
    """How many of the drafts `tokens [k]`, drawn from `q [k, V]`, are kept by `p [k + 1, V]`, and the
    token behind them.
    """
