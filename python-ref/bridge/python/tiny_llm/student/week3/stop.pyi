from collections.abc import Sequence
from typing import final

@final
class StopTexts:
    """Looks for several texts in bytes that come piece by piece."""

    def __new__(cls, texts: Sequence[bytes]) -> StopTexts: ...
    def push(self, piece: bytes) -> bool:
        """Takes the next bytes, and says whether one of the texts has now appeared."""
