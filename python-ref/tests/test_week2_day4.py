"""Week 2, day 4: K-quants, the order of rows, files. The `gguf` package reads blocks and files. All bits of weights are compared."""

import numpy as np
import oracle.week2_day4 as oracle
import pytest
import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader
from test_week2_day3 import check_dequantize

LOSSES = {"Q2_K": 0.35, "Q3_K": 0.2, "Q4_K": 0.09, "Q5_K": 0.045, "Q6_K": 0.023}
"""The largest allowed error of gaussian weights in each type, as a fraction of their root mean square."""


def check_quantize(week2, r, name):
    x = r.normal(r.size(1, 6), 256, mean=r.choice(0.0, -1.0)) * torch.exp(r.uniform(1, low=-6, high=6))
    found = torch.tensor(list(week2.blocks.quantize_row(name, x.reshape(-1)))).reshape(len(x), -1)
    error = oracle.relative_error(x.double().numpy(), oracle.decode(found, name).double().numpy())
    assert error < LOSSES[name], f"{name}: {100 * error:.2f} % are lost"


def test_week2_day4_task_1_q4_k(week2, r):
    check_dequantize(week2, r, "Q4_K")


def test_week2_day4_task_2_q6_k(week2, r):
    check_dequantize(week2, r, "Q6_K")
    check_quantize(week2, r, "Q6_K")


def test_week2_day4_task_4_q4_k(week2, r):
    check_quantize(week2, r, "Q4_K")
    x = r.normal(r.size(16, 24), 256) ** r.choice(1, 3)
    found = torch.tensor(list(week2.blocks.quantize_row("Q4_K", x.reshape(-1)))).reshape(len(x), -1)
    x = x.double().numpy()
    ours, theirs = oracle.relative_error(x, oracle.decode(found, "Q4_K").double().numpy()), oracle.relative_error(x, oracle.store_q4_k(x))
    assert ours < 1.02 * theirs, f"{100 * ours:.3f} % are lost, expected {100 * theirs:.3f} %"


@pytest.mark.parametrize("name", ["Q2_K", "Q3_K", "Q5_K"])
def test_week2_day4_task_4_provided_k_quants(week2, r, name):
    check_dequantize(week2, r, name)
    check_quantize(week2, r, name)


def test_week2_day4_task_5_permutations(week2, r):
    n_heads, head_dim = r.size(1, 9), 2 * r.size(1, 40)
    rows = n_heads * head_dim
    order = np.array(week2.recipe.permute_rows_for_interleaved(rows, n_heads))
    assert (order == oracle.permuted(rows, n_heads)).all()
    back = np.array(week2.recipe.permute_rows_for_half_split(rows, n_heads))
    assert (order[back] == np.arange(rows)).all()


def test_week2_day4_task_6_gguf_package_reads_the_file(week2, r, tmp_path):
    path = tmp_path / f"{r.number}.gguf"
    metadata = [("general.architecture", "llama"), ("a.text", "né 世界"), ("a.texts", ["", "ß", "c" * r.size(0, 50)])]
    metadata += [("a.whole", -r.size(0, 2**40)), ("a.yes", r.choice(True, False)), ("a.part", r.size(0, 100) / 7)]
    tensors = []
    for j in range(r.size(1, 6)):
        name = r.choice("Q4_K", "Q6_K", "Q8_0", "F32", "Q5_0")
        block, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
        shape = [r.size(1, 5), block * r.size(1, 3)]
        data = bytes(r.integers(shape[0] * shape[1] // block * size, high=64).tolist())
        tensors.append((f"blk.{j}.t.weight", shape, name, data))
    week2.writer.write_file(path, metadata, tensors, 32)
    reader = GGUFReader(path)
    for key, value in metadata:
        assert reader.fields[key].contents() == value, key
    assert len(reader.tensors) == len(tensors)
    for found, (name, shape, kind, data) in zip(reader.tensors, tensors):
        assert (found.name, found.shape.tolist()[::-1], found.tensor_type.name) == (name, shape, kind)
        assert found.data.tobytes() == data, name
