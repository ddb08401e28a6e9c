from os import PathLike

from .._llm import Llm
from . import week1 as week1
from . import week2 as week2
from . import week3 as week3
from . import week4 as week4
from .week1.model import Model

def load(folder: str | PathLike[str]) -> Llm[Model]:
    """Loads a Hugging Face folder. A tokenizer is not needed for what works on tokens."""
