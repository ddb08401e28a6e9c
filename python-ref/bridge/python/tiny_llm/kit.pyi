from os import PathLike
from typing import NoReturn, final

from ._types import Ids, Messages

@final
class ModelConfig:
    """What a decoder needs to know about itself."""

    # It is made by `from_folder` or `from_json`.
    def __new__(cls, never: NoReturn, /) -> ModelConfig: ...
    @staticmethod
    def from_folder(folder: str | PathLike[str]) -> ModelConfig:
        """Reads `config.json` and, if it is there, `generation_config.json`."""

    @staticmethod
    def from_json(json: str, file: str = "config.json") -> ModelConfig:
        """Reads the text of a `config.json`; `file` is its name in messages."""

    @property
    def n_layers(self) -> int:
        """Number of transformer blocks."""

    @property
    def vocab_size(self) -> int:
        """`V`"""

    @property
    def max_positions(self) -> int:
        """The longest sequence, in tokens."""

    @property
    def eos_token_ids(self) -> list[int]:
        """Each of these ends a text."""

@final
class Tokenizer:
    """A model folder's tokenizer and chat template."""

    # It is made by `from_folder`.
    def __new__(cls, never: NoReturn, /) -> Tokenizer: ...
    @staticmethod
    def from_folder(folder: str | PathLike[str]) -> Tokenizer:
        """Reads a folder's `tokenizer.json`, and its chat template if there is one."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, and no others."""

    def encode_prompt(self, text: str) -> list[int]:
        """The ids of a text that a model is to continue."""

    def decode(self, ids: Ids) -> str:
        """The text of these ids."""

    def token_bytes(self, id: int) -> bytes:
        """The bytes that a token stands for within a text; none for an id that the tokenizer does not
        have.
        """

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, the added ones included."""

    def render_chat(self, messages: Messages, add_generation_prompt: bool = False) -> str:
        """The text of a chat: `messages` are pairs of role and content."""
