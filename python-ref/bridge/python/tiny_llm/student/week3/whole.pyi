def tokens(vocabulary: list[bytes], text: bytes) -> list[int]:
    """The tokens of `vocabulary` that may follow behind `text`, by a walk of their tree."""

def closing_text(text: bytes) -> bytes:
    """The shortest text that makes JSON of `text`."""

def fewest_tokens(vocabulary: list[bytes], text: bytes) -> int | None:
    """The fewest tokens of `vocabulary` that `text` is made of; `None` if it can't be made of them."""

def prices(vocabulary: list[bytes], text: bytes) -> list[int | None]:
    """How many tokens the text needs behind each token that follows `text`; `None` if it may not follow."""

def random_answer(vocabulary: list[bytes], budget: int, temperature: float, seed: int) -> bytes:
    """What a model of random logits answers in at most `budget` tokens of `vocabulary`, of which the
    first ends an answer.
    """
