from collections.abc import Sequence as List
from typing import final

from ..._types import Array, Numbers
from ..week2.cache import CacheType
from ..week2.model import Model
from .request import Request

@final
class PagedCache:
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
    def reserve(self, sequence: int, len: int) -> bool: ...
    def append(self, sequence: int, keys: Numbers, values: Numbers) -> bool: ...
    def truncate(self, sequence: int, len: int) -> None: ...
    def fork(self, source: int, to: int) -> None: ...
    def table(self, sequence: int) -> tuple[list[int], int]: ...
    def num_free(self) -> int: ...
    def read(self, layer: int, sequence: int, head: int, start: int) -> tuple[Array, Array]: ...
    def attend(
        self, layer: int, rows: List[tuple[int, int]], q: Numbers, threads: int
    ) -> Array: ...

@final
class PagedEngine:
    def __new__(
        cls, model: Model, max_batch: int, context: int, page_len: int, pages: int
    ) -> PagedEngine: ...
    def run(self, requests: List[Request]) -> tuple[list[list[int]], int]: ...
    def num_free(self) -> int: ...
