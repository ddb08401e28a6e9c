from typing import final

@final
class TextStream:
    """Turns the bytes of one token after another into text."""

    def __new__(cls) -> TextStream: ...
    def push(self, bytes: bytes) -> str:
        """Takes the bytes of the next token and returns all text that is now certain."""

    def finish(self) -> str:
        """The end of the text: what is still held back will not be completed."""
