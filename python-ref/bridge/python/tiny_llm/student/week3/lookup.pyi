from ..._types import Ids

def draft_from_text(tokens: Ids, longest: int, k: int) -> list[int]:
    """What followed the end of `tokens [L]` where it occurred before: at most `k` tokens."""
