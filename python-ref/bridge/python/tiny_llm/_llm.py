"""Runs a model folder from Python, like the command line."""

# mypy reads the signatures. It cannot check the bodies, because the models of the two solutions share no type.
# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import numpy as np

from . import kit

if TYPE_CHECKING:
    from . import student
    from ._types import Array, Ids
    from .reference.week1.generate import FinishReason

M = TypeVar("M")


class Generation(NamedTuple):
    """The result of a generation. `text` is None unless the prompt was a text."""

    tokens: list[int]
    text: str | None
    finish_reason: FinishReason | student.week1.generate.FinishReason


class Llm(Generic[M]):
    """A solution's model, from a folder or by name. Without a tokenizer in the folder, prompts must be token ids."""

    model: M
    tokenizer: kit.Tokenizer | None

    def __init__(self, solution: ModuleType, folder: str | PathLike[str]) -> None:
        self._week1 = solution.week1
        folder = kit.locate(folder)
        self.model = solution.week1.weights.load_model(folder)
        self.tokenizer = kit.Tokenizer.from_folder(folder) if (Path(folder) / "tokenizer.json").exists() else None

    def __repr__(self):
        return f"Llm({self.model!r}, tokenizer={self.tokenizer!r})"

    def logits(self, tokens: Ids) -> Array:
        """Returns the logits of every position: `[L]` → `[L, V]`, `[B, L]` → `[B, L, V]`."""
        tokens = np.asarray(tokens)
        return self.model.forward(tokens) if tokens.ndim != 1 else self.model.forward(tokens[None])[0]

    def generate(
        self,
        prompt: str | Ids,
        max_new_tokens: int = 64,
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        repetition_penalty: float = 1.0,
        seed: int = 0,
        stop_tokens: Iterable[int] | None = None,
        on_text: Callable[[str], object] | None = None,
    ) -> Generation:
        """Continues `prompt`, a text or token ids. Decoding is greedy unless `temperature` is above 0.

        `stop_tokens` defaults to the checkpoint's tokens. If the prompt is a text, `on_text` receives each new piece of
        text.
        """
        week1 = self._week1
        stream = None
        if isinstance(prompt, str):
            if self.tokenizer is None:
                raise ValueError("this model folder has no tokenizer.json: give token ids instead of a text")
            prompt = self.tokenizer.encode_prompt(prompt)
            stream = week1.stream.TextStream()

        def next_logits(seen):
            return week1.generate.next_token_logits(self.model, seen)

        def argmax(logits, seen):
            return week1.generate.argmax(logits)

        choose = argmax  # does not need day 7
        if temperature != 0 or repetition_penalty != 1:
            options = week1.sampling.SamplerOptions(
                temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, repetition_penalty=repetition_penalty
            )
            choose = week1.sampling.Sampler(options, week1.sampling.Rng(seed)).choose

        tokens, pieces = [], []

        def emit(piece):
            pieces.append(piece)
            if on_text and piece:
                on_text(piece)

        def on_token(token):
            tokens.append(token)
            if stream:
                emit(stream.push(self.tokenizer.token_bytes(token)))

        stop_tokens = self.model.config.eos_token_ids if stop_tokens is None else stop_tokens
        limits = week1.generate.Limits(max_new_tokens, self.model.context(), set(stop_tokens))
        reason = week1.generate.generate(next_logits, prompt, limits, choose, on_token)
        if stream:
            emit(stream.finish())
        return Generation(tokens, "".join(pieces) if stream else None, reason)
