"""The course's two Rust solutions as Python modules, with the same paths as in Rust.

`tiny_llm.student` is the learner's `src/`, and `tiny_llm.reference` is the reference solution.
"""

from ._bridge import NotImplementedYet, SolutionPanic, kit, reference, student
from ._llm import Generation, Llm


def _loader(solution):
    def load(folder):
        """Loads a Hugging Face folder, by its path or by name. A tokenizer is not needed for what works on tokens."""
        return Llm(solution, folder)

    load.__module__ = solution.__name__
    return load


for _solution in (student, reference):
    _solution.load = _loader(_solution)

__all__ = ["Generation", "Llm", "NotImplementedYet", "SolutionPanic", "kit", "reference", "student"]
