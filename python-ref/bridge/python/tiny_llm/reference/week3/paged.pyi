from collections.abc import Sequence as List
from typing import final

from ..._types import Array, Numbers
from ..week2.cache import CacheType
from ..week2.model import Model
from .request import Request

@final
class PagedCache:
    """Keys and values in pages of `page_len` positions; attention over it goes by parts of `part_len`."""

    def __new__(
        cls,
        layers: int,
        sequences: int,
        kv_heads: int,
        capacity: int,
        head_dim: int,
        page_len: int,
        pages: int,
        cache_type: CacheType = ...,
        part_len: int = 512,
    ) -> PagedCache: ...
    def reserve(self, sequence: int, len: int) -> bool:
        """Makes room for a sequence's positions up to `len`; returns whether there is room."""

    def append(self, sequence: int, keys: Numbers, values: Numbers) -> bool:
        """Appends a position to a sequence: `keys [layers, H, D]` and `values [layers, H, D]`. Returns
        whether there was room.
        """

    def truncate(self, sequence: int, len: int) -> None:
        """Forgets the positions of a sequence from `len` on."""

    def fork(self, source: int, to: int) -> None:
        """Gives the empty sequence `to` all positions of `source`, without a copy."""

    def table(self, sequence: int) -> tuple[list[int], int]:
        """The numbers of a sequence's pages, and how many positions it has."""

    def num_free(self) -> int:
        """How many pages are free."""

    def read(self, layer: int, sequence: int, head: int, start: int) -> tuple[Array, Array]:
        """Keys `[n, D]` and values `[n, D]` of a head's positions `start` to the last, as float32."""

    def attend(
        self, layer: int, rows: List[tuple[int, int]], q: Numbers, threads: int
    ) -> Array:
        """Attention of `rows`, pairs of a sequence and a position, in one layer: `q [T, H, G, D]` →
        `[T, H, G, D]`. A row sees the positions of its sequence up to its own.
        """

@final
class PagedEngine:
    """An engine whose keys and values lie in `pages` pages of `page_len` positions."""

    def __new__(
        cls, model: Model, max_batch: int, context: int, page_len: int, pages: int
    ) -> PagedEngine: ...
    def run(self, requests: List[Request]) -> tuple[list[list[int]], int]:
        """The answers to all requests, in their order, and how often what had been computed of one was
        given up.
        """

    def num_free(self) -> int:
        """How many pages are free."""
