from typing import final

@final
class Cpu:
    """The processor with its buffers."""

    def __new__(cls) -> Cpu: ...
    def allocate(self, bytes: int) -> int:
        """The number of a new buffer."""

    def release(self, buffer: int) -> None:
        """Gives one back."""

    def upload(self, buffer: int, offset: int, bytes: bytes) -> None:
        """Writes bytes from `offset` on."""

    def download(self, buffer: int, offset: int, bytes: int) -> bytes:
        """So many bytes from `offset` on."""

@final
class Weights:
    """The weights of one file in the memory of a twin."""

    def __new__(cls, file: bytes, reads_host: bool, alignment: int) -> Weights: ...
    def place(self, start: int, bytes: int) -> tuple[int, bytes, int, int]:
        """Where the weight of these bytes of the file begins in its buffer, what is there, and how many
        bytes are in place and copied by now.
        """
