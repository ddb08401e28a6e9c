"""Invalid arguments are rejected before anything is computed. The error names the argument, what was found and what was expected.
The tests run on the reference, because the bridge checks arguments in the same way for both solutions."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from live import refuses
from odd_calls import MODEL1, MODEL2, W1, W2
from tiny_llm.reference.week1 import attention, generate, gqa, model, rope, sampling
from tiny_llm.reference.week2 import cache, kernels, roofline, streaming, writer

ones = np.ones
TABLES = rope.RopeTables.from_arrays(ones((4, 2)), ones((4, 2)))
RUNS = [(ones((3, 8)), ones((3, 8)))]
MANY = 1 << 20

TOO_LARGE = {
    "causal_mask": lambda: gqa.causal_mask(MANY, MANY),
    "RopeTables": lambda: rope.RopeTables(ones(64), 1 << 40),
    "inverse_frequencies": lambda: rope.inverse_frequencies(1 << 62, 100.0),
    "linear": lambda: attention.linear(ones((1 << 18, 1)), ones((1 << 18, 1))),
    "attention": lambda: attention.scaled_dot_product_attention(*[ones((1 << 18, 1))] * 3),
    "attention, broadcast": lambda: attention.scaled_dot_product_attention(ones((1 << 12, 1, 1, 1)), *[ones((1 << 12, 1 << 10, 1))] * 2),
    "as_output": lambda: model.Embedding(ones((1 << 18, 1))).as_output(ones((1 << 18, 1))),
    "DenseCache": lambda: cache.DenseCache(MANY, 1, 8, MANY, 64),
    "DenseCache that overflows": lambda: cache.DenseCache(*[1 << 40] * 5),
    "Session": lambda: W2.generate.Session(MODEL2, 1 << 50),
    "sequences": lambda: MODEL2.forward([[(1, 0, 0, True)]], 1 << 50),
    "permute_rows": lambda: W2.recipe.permute_rows_for_interleaved(1 << 50, 1),
    "an array without memory": lambda: attention.softmax(np.broadcast_to(np.float64(1), (MANY, MANY))),
    "an array with an empty axis": lambda: attention.softmax(np.broadcast_to(np.float32(1), (0, 1 << 40, 1 << 40))),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_refusals_out_of_memory(name):
    with pytest.raises((MemoryError, ValueError)):
        TOO_LARGE[name]()


def test_refusals_more_than_32_axes():
    attention.softmax(ones((1,) * 32))
    for axes in (33, 64):
        with pytest.raises(ValueError, match=f"at most 32 axes, got {axes}"):
            attention.softmax(ones((1,) * axes))


# The call, the argument, a part of what was found, a part of what was expected.
REFUSED = [
    (lambda: W2.attention.attend_two_pass(ones((2, 4)), ones((3, 8)), ones((3, 8)), [3], 1.0), "keys", "[3, 8]", "D = 4, as in q"),
    (lambda: W2.attention.attend_two_pass(ones((2, 8)), ones((3, 8)), ones((2, 8)), [3], 1.0), "values", "[2, 8]", "S = 3, as in keys"),
    (lambda: W2.attention.attend_two_pass(ones((2, 8)), ones((3, 8)), ones((3, 8)), [1, 1], 1.0), "lengths", "[1, 1]", "add up to 3"),
    (lambda: streaming.attend_block(ones((2, 8)), [(0, 3)], RUNS, 1.0), "visible", "1 pairs", "2, one for each query"),
    (lambda: streaming.attend_block(ones((2, 8)), [(0, 3), (2, 2)], RUNS, 1.0), "visible", "(2, 2)", "0 to 2"),
    (lambda: streaming.attend_block(ones((2, 8)), [(0, 3), (1, 4)], RUNS, 1.0), "visible", "(1, 4)", "0 to 2"),
    (lambda: streaming.attend_block(ones((2, 8)), [(5, 8), (4, 8)], RUNS, 1.0, start=5), "visible", "(4, 8)", "5 to 7"),
    (lambda: streaming.attend_block(ones((129, 8)), [(0, 1)] * 129, RUNS, 1.0), "q", "129", "at most 128"),
    (lambda: streaming.attend_streaming(ones((17, 8)), RUNS, 1.0), "q", "17", "at most 16"),
    (lambda: streaming.attend_streaming(ones((2, 300)), [(ones((1, 300)),) * 2], 1.0), "q", "300", "at most 256"),
    (lambda: streaming.attend_streaming(ones((2, 4)), RUNS, 1.0), "keys of runs", "[3, 8]", "D = 4, as in q"),
    (lambda: streaming.attend_streaming(ones((2, 8)), [], 1.0), "runs", "none", "at least one"),
    (lambda: kernels.matmul("naive", "Q8_0", [bytes(33)], ones((1, 32))), "bytes", "33 bytes in row 0", "34"),
    (lambda: kernels.matmul("naive", "Q8_0", [bytes(34)], ones((1, 33))), "x", "33", "multiple of 32"),
    (lambda: kernels.matmul("naive", "Q8_0", [], ones((1, 32))), "bytes", "no row", "at least one"),
    (lambda: kernels.matmul("naive", "Q8_0", [bytes(34)], ones((1, 32)), 100_000), "threads", "100000", "less than 257"),
    (lambda: kernels.quantize("naive", np.full((1, 32), np.nan), 32), "x", "NaN at [0, 0]", "finite"),
    (lambda: W2.input.quantize_activations(ones(32), 16), "per_scale", "16", "32 or 256"),
    (lambda: W2.blocks.dequantize_row("Q8_0", bytes(33)), "bytes", "33", "multiple of 34"),
    (lambda: W2.blocks.quantize_row("Q8_0", ones(33)), "x", "33", "multiple of 32"),
    (lambda: W2.blocks.quantize_row("Q8_0", np.full(32, np.inf)), "x", "inf at [0]", "65504"),
    (lambda: W2.blocks.rms_error(ones(3), ones(2)), "y", "[2]", "n = 3, as in x"),
    (lambda: cache.DenseCache(1, 1, 2, 4, 3).write(0, 0, 0, ones((3, 2)), ones((2, 3))), "keys", "[3, 2]", "H = 2, as in the cache"),
    (lambda: cache.DenseCache(1, 1, 2, 4, 3).write(0, 0, 4, ones((2, 3)), ones((2, 3))), "position", "4", "less than 4"),
    (lambda: cache.DenseCache(1, 1, 2, 4, 3).run(0, 0, 2, 0, 1), "head", "2", "less than 2"),
    (lambda: cache.DenseCache(1, 1, 2, 4, 3).run(0, 0, 0, 0, 5), "end", "5", "at most 4"),
    (lambda: cache.DenseCache(1, 1, 2, 4, 3).run(0, 0, 0, 3, 2), "start", "3", "at most 2"),
    (lambda: cache.DenseCache(1, 1, 2, 4, 0), "head_dim", "0", "1 or more"),
    (lambda: roofline.work([("a", [1 << 40, 1 << 40], "F32")]), "tensors", "[1099511627776, 1099511627776]", "can be counted"),
    (lambda: roofline.work([("a", [1 << 30, 1 << 30], "F32")] * 16), "tensors", "73786976294838206464 bytes", "64 bits"),
    (lambda: roofline.Machine(0.0, 1.0), "bandwidth", "0", "above 0"),
    (lambda: writer.write_file("no.gguf", [("a", 1 << 63)], [], 32), "metadata", "9223372036854775808", "64-bit"),
    (lambda: writer.write_file("no.gguf", [], [("a", [32], "Q8_0", bytes(33))], 32), "tensors", "33 bytes", "34"),
    (lambda: writer.write_file("no.gguf", [], [], 1 << 40), "alignment", "1099511627776", "at most 1048576"),
    (lambda: W2.gguf.data_start(3, 0), "alignment", "0", "power of two"),
    (lambda: W2.recipe.permute_rows_for_interleaved(8, 0), "n_heads", "0", "1 or more"),
    (lambda: W2.generate.Session(MODEL2, 20).feed([11], 4), "tokens", "11", "0 to 10"),
    (lambda: W2.generate.Session(MODEL2, 20).feed([1] * 21, 4), "tokens", "21 tokens", "20"),
    (lambda: W2.generate.Session(MODEL2, 20).generate([99], 4, 1, lambda *_: 0), "prompt", "99", "0 to 10"),
    (lambda: W2.generate.Session(MODEL2, 20).generate([1], 4, 2, lambda *_: 11), "what choose returns", "11", "0 to 10"),
    (lambda: MODEL2.forward([[(11, 0, 0, True)]]), "passes", "11", "0 to 10"),
    (lambda: MODEL1.forward([[11]]), "tokens", "11", "0 to 10"),
    (lambda: MODEL1.forward([[1] * 21]), "tokens", "21", "20"),
    (lambda: generate.next_token_logits(MODEL1, [11]), "tokens", "11", "0 to 10"),
    (lambda: model.Embedding(ones((3, 4))).forward([[3]]), "tokens", "3", "0 to 2"),
    (lambda: sampling.repetition_penalty([1.0, 2.0], [2], 1.1), "seen", "2", "0 to 1"),
    (lambda: rope.rope_half_split(ones((3, 4)), TABLES, 2), "offset", "2 before 3 positions", "4 positions"),
    (lambda: rope.rope_interleaved(ones((5, 4)), TABLES), "offset", "0 before 5 positions", "4 positions"),
    (lambda: rope.rope_at_positions(ones((1, 1, 1, 4)), TABLES, [[4]], rope.RopeForm.HalfSplit), "positions", "4", "less than 4"),
    (lambda: rope.rope_half_split(ones((3, 2)), TABLES), "tables", "head size of 4", "2, as in x"),
    (lambda: rope.inverse_frequencies(3, 100.0), "head_dim", "3", "even"),
    (lambda: attention.split_heads(ones((1, 2, 4)), 0), "n_heads", "0", "1 or more"),
    (lambda: attention.split_heads(ones((1, 2, 4)), 3), "n_heads", "3", "divisor of 4"),
    (lambda: attention.MultiHeadAttention(0, *[ones((4, 4))] * 4), "n_heads", "0", "1 or more"),
    (lambda: rope.half_split_to_interleaved(ones((4, 4)), 0), "n_heads", "0", "1 or more"),
    (lambda: attention.linear(ones((5, 4)), ones((2, 3))), "weight", "[2, 3]", "in = 4, as in x"),
    (lambda: attention.linear(ones((5, 4)), ones((2, 3, 4))), "weight", "[2, 3, 4]", "[out, in]"),
    (lambda: attention.linear(ones((5, 4)), ones((2, 4)), ones(3)), "bias", "[3]", "out = 2, as in weight"),
    (lambda: attention.scaled_dot_product_attention(ones((2, 4)), ones((3, 4)), ones((3, 4)), mask=ones((3, 2))), "mask", "[3, 2]", "[2, 3]"),
    (lambda: gqa.grouped_query_attention(ones((1, 3, 2, 4)), *[ones((1, 2, 2, 4))] * 2), "q", "[1, 3, 2, 4]", "multiple"),
    (lambda: gqa.causal_mask(4, 3), "length", "4", "3"),
    (lambda: sampling.draw([-np.inf] * 3, 0.5), "logits", "throughout", "nothing to draw"),
    (lambda: sampling.top_k([1.0, np.nan], 1), "logits", "NaN at [1]", "numbers"),
    (lambda: sampling.min_p([1.0], 2.0), "p", "2", "0 to 1"),
    (lambda: sampling.SamplerOptions(temperature=-1.0), "temperature", "-1", "0 on"),
    (lambda: W1.weights.to_f32(bytes(7), "F32", [2]), "bytes", "7 bytes", "shape [2]"),
]  # fmt: skip


@pytest.mark.parametrize("call, argument, found, expected", REFUSED)
def test_refusals_name_the_argument(call, argument, found, expected):
    refuses(call, argument, found, expected)


def test_refusals_invalid_numbers_name_the_argument():
    for wrong in (-1, 1 << 64, -(1 << 200)):
        with pytest.raises(ValueError, match="a whole number from 0 to") as caught:
            attention.split_heads(ones((1, 2, 4)), wrong)
        if sys.version_info >= (3, 11):
            assert caught.value.__notes__ == ["while processing 'n_heads'"]
    for wrong in (float("nan"), float("inf"), 1e39, 10**400):
        with pytest.raises(ValueError, match="a finite number"):
            sampling.apply_temperature([1.0], wrong)
    with pytest.raises(ValueError, match="float32 can hold"), np.errstate(over="ignore"):
        attention.softmax([1e300])


def test_refusals_leave_no_file(tmp_path):
    path = tmp_path / "a.gguf"
    with pytest.raises(ValueError):
        writer.write_file(path, [], [("a", [32], "Q8_0", bytes(33))], 32)
    assert list(tmp_path.iterdir()) == []


LONG = [("odd_calls.py", 1, 1200), ("odd_calls.py", 2, 1200), ("odd_calls_week3.py", 1, 800), ("odd_calls_week3.py", 2, 800)]


@pytest.mark.parametrize(
    "script, seed, calls",
    [("odd_calls.py", 1, 300), ("odd_calls_week3.py", 1, 200), *(pytest.param(*run, marks=pytest.mark.thorough) for run in LONG)],
)
def test_refusals_odd_calls(script, seed, calls):
    """Makes hundreds of odd calls in a separate process."""
    command = [sys.executable, Path(__file__).with_name(script), "--seed", str(seed), "--calls", str(calls)]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    last = finished.stderr.rstrip().rpartition("\n")[2]
    assert finished.stdout, f"the process exited with {finished.returncode} in {last}"
    *wrong, counts = finished.stdout.strip().split("\n")
    assert finished.returncode == 0 and not wrong, "\n".join(wrong)
    counts = json.loads(counts)
    assert counts["calls"] >= calls and counts["refused"] + counts["answered"] == counts["calls"], counts
    assert counts["answered"] >= calls // 6, counts
