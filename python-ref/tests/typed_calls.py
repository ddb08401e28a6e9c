"""Calls on which mypy and the running module must agree. Both accept the first part, and reject every line of the second.

`mypy --strict` reports an unused `type: ignore`, so it is also an error if mypy accepts a line of the second part.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from tiny_llm import Generation, Llm, NotImplementedYet, SolutionPanic, kit, reference, student
from tiny_llm.reference.week1 import attention, gqa, model, norm, rope, sampling
from tiny_llm.reference.week1.generate import FinishReason, Limits, argmax
from tiny_llm.reference.week2 import cache, gguf, input, kernels, recipe, roofline, streaming
from tiny_llm.student.week1 import rope as other_rope
from tiny_llm.student.week2.cache import CacheType as OtherCacheType

STORY = Path(__file__).resolve().parents[2] / "models" / "tiny-story"

halves: "np.ndarray[tuple[int, ...], np.dtype[np.float16]]" = np.zeros((2, 4), np.float16)


def accepted() -> None:
    ones = np.ones((2, 4), np.float32)
    attention.softmax(ones)
    attention.softmax(halves)
    attention.softmax([1.0, 2.0])
    attention.softmax([[1, 2], [3, 4]])
    attention.linear([[1.0, 2.0, 3.0, 4.0]], ones, bias=None)
    layer = gqa.Linear(ones)
    weight: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = layer.weight
    assert weight.shape == (2, 4) and layer.bias is None

    # Enumerations: names, values, iteration, look-up, hashes.
    name: str = cache.CacheType.F32.name
    value: object = cache.CacheType.F16.value
    assert (name, value) == ("F32", "f16")
    assert [member.name for member in FinishReason] == ["Stop", "Length", "ContextFull", "Interrupted", "NotFinite"]
    assert cache.CacheType("f32") is cache.CacheType["F32"] is cache.CacheType.F32
    assert {rope.RopeForm.HalfSplit: 1}[rope.RopeForm("half-split")] == 1
    assert isinstance(rope.RopeForm.Interleaved, rope.RopeForm) and len(list(rope.RopeForm)) == 2

    # Classes are hashable and compare by identity.
    rng = sampling.Rng(3)
    assert len({rng, layer, sampling.Rng(3)}) == 3 and rng != sampling.Rng(3)
    number: int = rng.next_u64()
    part: float = rng.uniform()
    assert number >= 0 and part < 1
    options = sampling.SamplerOptions(top_k=3)
    assert options.top_k == 3 and options.temperature == 1.0
    token: int = sampling.Sampler(options, rng).choose([0.0, 1.0], seen=[0])
    assert token < 2
    limits = Limits(3, context=9, stop_tokens={1, 2})
    stop: set[int] = limits.stop_tokens
    assert stop == {1, 2} and argmax([0.0, 2.0]) == 1

    tables = rope.RopeTables([1.0, 0.5], 8)
    turned = rope.rope_half_split(ones, tables, offset=2)
    assert turned.dtype == np.float32
    kept = cache.DenseCache(1, 1, 2, 4, 4, cache.CacheType.F16)
    kept.write(0, 0, 0, ones, ones)
    keys, values = kept.run(0, 0, 1, 0, 1)
    assert keys.shape == values.shape == (1, 4)
    softmax = streaming.OnlineSoftmax()
    weights, factor = softmax.absorb([1.0, 2.0])
    assert weights.shape == (2,) and factor == 0.0 and softmax.max == 2.0
    rows: list[int] = recipe.permute_rows_for_interleaved(8, 2)
    assert len(rows) == 8
    machine = roofline.Machine(1e9, 1e10)
    assert machine.balanced_rows((10, 10)) > 0 and kernels.rungs()[0] == "naive"
    super_blocks: tuple[object, ...] = input.quantize_activations(np.ones(32, np.float64), 32)
    assert len(super_blocks) == 3

    llm: Llm[model.Model] = reference.load(STORY)
    made: Generation = llm.generate("Once", 2, on_text=print)
    assert isinstance(made.text, str) and made.finish_reason is FinishReason.Length
    config: kit.ModelConfig = llm.model.config
    assert config.vocab_size > 0 and llm.logits([1, 2]).shape[0] == 2
    assert student.week1.gqa.Linear(ones).weight.shape == (2, 4)

    class Mine(SolutionPanic):
        pass

    assert issubclass(NotImplementedYet, SolutionPanic) and issubclass(Mine, RuntimeError)


def refused() -> list[Callable[[], object]]:
    ones = np.ones((2, 4), np.float32)
    layer, normed = gqa.Linear(ones), norm.RmsNorm(np.ones(4, np.float32), 1e-5)
    tables, kept = rope.RopeTables([1.0, 0.5], 8), cache.DenseCache(1, 1, 2, 4, 4)
    options = sampling.SamplerOptions()

    def set_weight() -> None:
        layer.weight = ones  # type: ignore[misc]

    def set_eps() -> None:
        normed.eps = 1.0  # type: ignore[misc]

    def set_top_k() -> None:
        options.top_k = 3  # type: ignore[misc]

    def set_stop_tokens() -> None:
        Limits(1, 2).stop_tokens = set()  # type: ignore[misc]

    def set_maximum() -> None:
        streaming.OnlineSoftmax().max = 1.0  # type: ignore[misc]

    def set_new_attribute() -> None:
        kept.colour = 1  # type: ignore[attr-defined]

    def set_member() -> None:
        cache.CacheType.F32 = cache.CacheType.F16  # type: ignore[misc, assignment]

    def subclass_linear() -> None:
        class Mine(gqa.Linear):  # type: ignore[misc]
            pass

    def subclass_model() -> None:
        class Mine(model.Model):  # type: ignore[misc]
            pass

    def subclass_enumeration() -> None:
        class Mine(cache.CacheType):  # type: ignore[misc]
            pass

    return [
        set_weight,
        set_eps,
        set_top_k,
        set_stop_tokens,
        set_maximum,
        set_new_attribute,
        set_member,
        subclass_linear,
        subclass_model,
        subclass_enumeration,
        lambda: cache.CacheType.F64,  # type: ignore[attr-defined]
        lambda: rope.RopeForm.halves,  # type: ignore[attr-defined]
        lambda: FinishReason.Stop + 1,  # type: ignore[operator]
        lambda: cache.CacheType.F32 < cache.CacheType.F16,  # type: ignore[operator]
        lambda: kit.ModelConfig(),  # type: ignore[call-arg]
        lambda: kit.Tokenizer(),  # type: ignore[call-arg]
        lambda: gguf.Gguf(),  # type: ignore[call-arg]
        lambda: reference.week2.model.Model(),  # type: ignore[call-arg]
        lambda: attention.softmax("text"),  # type: ignore[arg-type]
        lambda: attention.softmax(3.0),  # type: ignore[arg-type]
        lambda: attention.softmax(None),  # type: ignore[arg-type]
        lambda: attention.softmax([["a"]]),  # type: ignore[arg-type]
        lambda: attention.softmax(np.zeros(3, np.complex64)),  # type: ignore[arg-type]
        lambda: attention.softmax(np.zeros(3, np.bool_)),  # type: ignore[arg-type]
        lambda: attention.softmax(x=ones, axis=1),  # type: ignore[call-arg]
        lambda: model.Embedding(ones).forward(ones),  # type: ignore[arg-type]
        lambda: model.Embedding(ones).forward([[1.0]]),  # type: ignore[arg-type]
        lambda: attention.split_heads(np.zeros((1, 1, 4), np.float32), 2.0),  # type: ignore[arg-type]
        lambda: sampling.SamplerOptions(1.0),  # type: ignore[call-arg]
        lambda: sampling.Sampler(options, 3),  # type: ignore[arg-type]
        lambda: cache.DenseCache(1, 1, 1, 1, 1, "f16"),  # type: ignore[arg-type]
        lambda: rope.rope_at_positions(np.zeros((1, 1, 1, 4)), tables, [[0]], 1),  # type: ignore[arg-type]
        # The two solutions have different classes.
        lambda: cache.DenseCache(1, 1, 1, 1, 1, OtherCacheType.F16),  # type: ignore[arg-type]
        lambda: other_rope.rope_half_split(ones, tables),  # type: ignore[arg-type]
        lambda: student.week1.generate.next_token_logits(reference.load(STORY).model, [1]),  # type: ignore[arg-type]
    ]


if __name__ == "__main__":
    accepted()
    for call in refused():
        try:
            call()
        except (AttributeError, TypeError):
            continue
        raise SystemExit(f"line {call.__code__.co_firstlineno}: the running module accepts what mypy refuses")
