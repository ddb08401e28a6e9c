from . import kit as kit
from . import reference as reference
from . import student as student
from ._llm import Generation as Generation
from ._llm import Llm as Llm

__all__ = ["Generation", "Llm", "NotImplementedYet", "SolutionPanic", "kit", "reference", "student"]

class SolutionPanic(RuntimeError):
    """A solution panicked. The text is its message and where it panicked."""

class NotImplementedYet(SolutionPanic):
    """A stub was reached. The text names the day, the task and the function."""
