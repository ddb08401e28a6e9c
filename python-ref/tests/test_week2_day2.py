"""Week 2, day 2: GGUF files and the roofline. The `gguf` package writes and reads the files. Work is counted separately."""

import struct
from math import prod

import numpy as np
import pytest
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader
from oracle.week2_day2 import NAMES, TYPES, T, byte_shape, size_of, written

BITS = {"U8": 8, "U16": 16, "U32": 32, "U64": 64, "I8": 8, "I16": 16, "I32": 32, "I64": 64}


def random_value(r, name):
    if name == "Bool":
        return r.choice(True, False)
    if name == "String":
        return "".join(r.choice("a", " ", "\n", "é", "世", "🙂", "\0") for _ in range(r.size(0, 20)))
    if name in ("F32", "F64"):
        x = r.random.uniform(-1, 1) * 10.0 ** r.size(-30, 30)
        return struct.unpack("<f", struct.pack("<f", x))[0] if name == "F32" else x
    low = -(2 ** (BITS[name] - 1)) if name[0] == "I" else 0
    # The number of bits is random, so that high bytes are not always used.
    return r.size(low, low + 2 ** BITS[name] - 1) >> r.size(0, BITS[name] - 1)


def random_metadata(r):
    """Yields pairs: an entry (key, type, type of elements, value) as `written` takes it, and the bridge's name of its type."""
    for i in range(r.size(1, 12)):
        name = r.choice(*NAMES)
        key = f"k{i}." + "x" * r.size(0, 30)
        if r.choice(True, False):
            yield (key, NAMES[name], None, random_value(r, name)), name
        else:
            yield (key, T.ARRAY, NAMES[name], [random_value(r, name) for _ in range(r.size(1, 9))]), f"Array {name}"


def random_tensors(r):
    for i in range(r.size(1, 6)):
        tensor_type = r.choice(*TYPES)
        shape = (*(r.size(1, 4) for _ in range(r.size(0, 3))), GGML_QUANT_SIZES[tensor_type][0] * r.size(1, 3))
        data = bytes(r.integers(size_of(shape, tensor_type), high=256).tolist())
        yield f"blk.{i}." + r.choice("a", "gewicht.é", "x" * 40), shape, tensor_type, data


def a_file(r, folder):
    """Writes a random file. Returns its path, its contents, and the package's reader."""
    metadata, tensors = list(random_metadata(r)), list(random_tensors(r))
    path = folder / f"{r.number}.gguf"
    # Includes alignments that few tables end at by chance.
    alignment = (8, 64, None, 256)[r.number % 4]
    path.write_bytes(written([entry for entry, _ in metadata], tensors, alignment))
    return path, metadata, tensors, GGUFReader(path)


def test_week2_day2_task_1_and_2_metadata(week2, r, tmp_path):
    path, metadata, _, reader = a_file(r, tmp_path)
    found = dict(week2.gguf.Gguf.open(path).metadata())
    assert found.keys() == {key for key in reader.fields if not key.startswith("GGUF.")}
    for (key, _, _, value), name in metadata:
        assert found[key] == (name, value), key
        assert found[key][1] == reader.fields[key].contents(), key


def test_week2_day2_task_3_tensors(week2, r, tmp_path):
    path, _, tensors, reader = a_file(r, tmp_path)
    gguf = week2.gguf.Gguf.open(path)
    theirs = [
        (t.name, [int(n) for n in reversed(t.shape)], t.tensor_type.name, int(t.data_offset), int(t.data_offset + t.n_bytes)) for t in reader.tensors
    ]
    assert gguf.tensors() == theirs
    for name, _, _, data in tensors:
        assert gguf.bytes_of(name) == data, name


def test_week2_day2_task_3_truncated_files(week2, r, tmp_path):
    path, _, _, reader = a_file(r, tmp_path)
    data = path.read_bytes()
    end = max(int(t.data_offset + t.n_bytes) for t in reader.tensors)
    for length in (end - 1, end * 9 // 10, end // 2, end // 10, 0):
        cut = path.with_name(f"{path.stem} of {length}.gguf")
        cut.write_bytes(data[:length])
        with pytest.raises(ValueError, match=cut.name):
            week2.gguf.Gguf.open(cut)


def test_week2_day2_task_3_data_start(week2, r):
    position, alignment = r.size(1, 10**6), 2 ** r.size(0, 12)
    start = week2.gguf.data_start(position, alignment)
    assert start % alignment == 0 and position <= start < position + alignment


def random_model(r):
    """Returns tensors in random order, and the bytes and multiply-adds of a pass."""
    tied, tensors, size, multiply_adds = r.choice(True, False), [], 0, 0
    for i in range(r.size(1, 20)):
        tensor_type = r.choice(*TYPES)
        shape = (r.size(1, 3000), GGML_QUANT_SIZES[tensor_type][0] * r.size(1, 12))
        tensors.append((f"blk.{i}.ffn_up.weight", shape, tensor_type))
        tensors.append((f"blk.{i}.ffn_norm.weight", shape[1:], GGMLQuantizationType.F32))
        size, multiply_adds = size + size_of(shape, tensor_type), multiply_adds + prod(shape)
    vocabulary, hidden = r.size(1, 50_000), 256 * r.size(1, 8)
    embedding, head = r.choice(*TYPES), r.choice(*TYPES)
    tensors.append(("token_embd.weight", (vocabulary, hidden), embedding))
    if tied:
        size += size_of((vocabulary, hidden), embedding)
    else:
        tensors.append(("output.weight", (vocabulary, hidden), head))
        size += size_of((vocabulary, hidden), head) + byte_shape((hidden,), embedding)[0]
    multiply_adds += vocabulary * hidden
    r.random.shuffle(tensors)
    return [(name, list(shape), tensor_type.name) for name, shape, tensor_type in tensors], (size, multiply_adds)


def test_week2_day2_task_4_work(week2, r):
    tensors, expected = random_model(r)
    assert week2.roofline.work(tensors) == expected


def test_week2_day2_task_4_machine(week2, r):
    bandwidth, operations = 10.0 ** r.random.uniform(9, 12), 10.0 ** r.random.uniform(10, 14)
    work, rows = (r.size(1, 10**10), r.size(1, 10**10)), r.size(1, 2000)
    machine = week2.roofline.Machine(bandwidth, operations)
    reading, computing = work[0] / bandwidth, 2 * work[1] / operations
    seconds = max(reading, rows * computing)
    # Allows a few roundings in f64.
    np.testing.assert_allclose(machine.seconds(work, rows), seconds, rtol=1e-14)
    np.testing.assert_allclose(machine.tokens_per_second(work, rows), rows / seconds, rtol=1e-14)
    np.testing.assert_allclose(machine.balanced_rows(work), reading / computing, rtol=1e-14)
