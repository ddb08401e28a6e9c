from collections.abc import Sequence
from typing import final

@final
class StopTexts:
    def __new__(cls, texts: Sequence[bytes]) -> StopTexts: ...
    def push(self, piece: bytes) -> bool: ...
