from ..._types import Ids

def hash_page(before: int, tokens: Ids) -> int:
    """The name of a page that holds `tokens [n]` behind what has the name `before`."""

def chain(fingerprint: int, tokens: Ids, page_len: int) -> list[int]:
    """The names of the full pages of `tokens [L]`."""
