"""Week 2, day 2: GGUF files, and the roofline.

llama.cpp's own `gguf` package writes the files, and its reader gives the expected contents. Values are formatted as by Rust's
`Debug`.
"""

import tempfile
from math import prod
from pathlib import Path

import numpy as np
import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFEndian, GGUFReader, GGUFValueType, GGUFWriter

from oracle.fixtures import relative_rounding

T = GGUFValueType
Q = GGMLQuantizationType
TYPES = [Q.F32, Q.F16, Q.BF16, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0, Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K]
"""The tensor types that the engine runs."""

VALUES = {
    "U8": [200, 0, 7],
    "I8": [-100, 1],
    "U16": [50_000, 3],
    "I16": [-30_000, 9, -1],
    "U32": [4_000_000_000, 65_536],
    "I32": [-2_000_000_000, 1, 2],
    "F32": [-0.15625, 10000.0, 1.5],
    "Bool": [True, False, False, True, True],
    "String": ["naïve 日本 🙂", "", "a b"],
    "U64": [2**63 + 5, 1],
    "I64": [-(2**62) - 3, 2],
    "F64": [0.1, -2.5],
}
"""Elements for an array of each type. The first is also used as a single value."""
NAMES = {"U8": T.UINT8, "I8": T.INT8, "U16": T.UINT16, "I16": T.INT16, "U32": T.UINT32, "I32": T.INT32, "F32": T.FLOAT32, "Bool": T.BOOL,
         "String": T.STRING, "U64": T.UINT64, "I64": T.INT64, "F64": T.FLOAT64}  # fmt: skip


def debug(value):
    """Formats a value like Rust's `{:?}`."""
    if isinstance(value, list):
        return f"[{', '.join(map(debug, value))}]"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).lower()


def written(entries, tensors=(), alignment=None, endianess=GGUFEndian.LITTLE, version=3):
    """Returns the bytes of a GGUF file. `entries`: key, type, type of elements, value. `tensors`: name, shape, type, bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.gguf"
        writer = GGUFWriter(path, "llama", endianess=endianess)
        if alignment is not None:
            writer.add_custom_alignment(alignment)
        for key, value_type, element_type, value in entries:
            writer.add_key_value(key, value, value_type, element_type)
        for name, shape, tensor_type, data in tensors:
            writer.add_tensor(name, np.frombuffer(data, np.uint8), raw_shape=byte_shape(shape, tensor_type), raw_dtype=tensor_type)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        if tensors:
            writer.write_tensors_to_file()
        writer.close()
        data = bytearray(path.read_bytes())
    data[4] = version if endianess == GGUFEndian.LITTLE else data[4]
    return bytes(data)


def byte_shape(shape, tensor_type):
    block, size = GGML_QUANT_SIZES[tensor_type]
    return (*shape[:-1], shape[-1] // block * size)


def size_of(shape, tensor_type):
    return prod(byte_shape(shape, tensor_type))


def read(data):
    """Returns what the package's reader finds: lines of metadata sorted by key, the tensors, and the start of the data."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.gguf"
        path.write_bytes(data)
        reader = GGUFReader(path)
        names = {value: name for name, value in NAMES.items()}
        lines = {}
        for key, field in reader.fields.items():
            if key.startswith("GGUF."):
                continue
            value, (first, *rest) = field.contents(), field.types
            text = f"{names[rest[0]]}({debug(value)})" if first == T.ARRAY else debug(value)
            lines[key] = f"{key} = {'Array' if first == T.ARRAY else names[first]}({text})"
        tensors = [
            {
                "name": t.name,
                # The reader's shape is ne, with the fastest axis first.
                "shape": [int(n) for n in reversed(t.shape)],
                "type": t.tensor_type.name,
                "start": int(t.data_offset),
                "size": int(t.n_bytes),
            }
            for t in reader.tensors
        ]
        return [lines[key] for key in sorted(lines)], tensors, int(reader.data_offset)


METADATA = 24
"""Offset in a file of the first metadata entry."""
FIRST_VALUE = METADATA + 8 + len("general.architecture") + 4 + 8 + len("llama") + 8 + len("k") + 4
"""Offset of the second entry's value, if its key is `k`. The first entry is the architecture, which the writer adds."""


def alone(value_type, element_type, value):
    return written([("k", value_type, element_type, value)])[FIRST_VALUE:]


def values(out):
    single = [{"type": int(NAMES[n]), "bytes": alone(NAMES[n], None, v[0]).hex(), "is": f"{n}({debug(v[0])})"} for n, v in VALUES.items()]
    out.case(
        "task_2_values/each_type",
        why="one value of each type, with digits that do not survive a shorter type or the other sign",
        scalars={"values": single},
    )
    arrays = [{"bytes": alone(T.ARRAY, NAMES[n], v).hex(), "is": f"{n}({debug(v)})"} for n, v in VALUES.items()]
    out.case("task_2_arrays/each_type", why="arrays of every type, of several lengths", scalars={"values": arrays})

    entries = [
        ("general.name", T.STRING, None, "Größe 😀"),
        ("llama.block_count", T.UINT32, None, 22),
        ("llama.attention.layer_norm_rms_epsilon", T.FLOAT32, None, 0.0009765625),
        ("tokenizer.ggml.add_bos_token", T.BOOL, None, True),
        ("tokenizer.ggml.tokens", T.ARRAY, T.STRING, ["<unk>", "<s>", "", "▁the"]),
        ("tokenizer.ggml.scores", T.ARRAY, T.FLOAT32, [0.0, -1.0, -2.5, 7.75]),
        ("tokenizer.ggml.token_type", T.ARRAY, T.INT32, [2, 3, 1, 1]),
        ("x.flags", T.ARRAY, T.BOOL, [True, False, True]),
        ("x.wide", T.UINT64, None, 2**40),
        ("x.signed", T.INT64, None, -5),
    ]
    data = written(entries)
    lines, _, _ = read(data)
    out.case(
        "task_2_metadata/as_a_converter_writes_it",
        why="several entries, one after the other: each must end where it ends",
        scalars={"file": data.hex(), "entries": lines, "count": len(lines)},
    )


def headers(out):
    entry = [("k", T.UINT8, None, 1)]
    tensor = [("t", (3,), Q.F32, bytes(12))]
    files = {
        "version 3": written([*entry, ("l", T.UINT8, None, 1)], tensor),
        "version 2": written(entry, tensor, version=2),
        "version 1": written(entry, tensor, version=1),
        "version 4": written(entry, tensor, version=4),
        "big-endian": written(entry, tensor, endianess=GGUFEndian.BIG),
    }
    # Version, tensors, metadata entries: general.architecture, which the writer adds, and one or two more.
    found = {"version 3": [3, 1, 3], "version 2": [2, 1, 2]}
    files = [{"name": n, "bytes": data.hex(), "is": found.get(n)} for n, data in files.items()]
    out.case("task_1_header/versions", why="two versions that are read, three files that are not", scalars={"files": files})


def tables(out):
    blocks = [("w", (3, 2 * GGML_QUANT_SIZES[t][0]), t) for t in TYPES]
    shapes = [("one", (5,), Q.F32), ("two", (3, 7), Q.F16), ("three", (2, 3, 4), Q.F32), ("four", (2, 3, 4, 64), Q.Q5_1), ("tall", (96, 32), Q.Q8_0)]
    found = []
    for name, shape, tensor_type in blocks + shapes:
        data = written([], [("first", (1,), Q.F32, bytes(4)), (name, shape, tensor_type, bytes(size_of(shape, tensor_type)))])
        _, tensors, _ = read(data)
        entry = data.index(b"\x05\0\0\0\0\0\0\0first") + 8 + 5 + 4 + 8 + 4 + 8
        end = entry + 8 + len(name) + 4 + 8 * len(shape) + 4 + 8
        t = tensors[1]
        info = f'TensorInfo {{ name: "{t["name"]}", shape: {debug(t["shape"])}, tensor_type: {t["type"]}, offset: 32, size: {t["size"]} }}'
        found.append({"bytes": data[entry:end].hex(), "is": info})
    out.case(
        "task_3_entries/every_type_and_shape",
        why="a matrix of three rows of two blocks in every type, and tensors of one to four axes; each is the second of its file, at offset 32",
        scalars={"entries": found},
    )

    random = np.random.default_rng(0)
    for name, alignment, key in [("aligned_to_32", None, "k"), ("aligned_to_64", 64, "key"), ("aligned_to_8", 8, "key")]:
        described = [("token_embd.weight", (6, 32), Q.Q8_0), ("output_norm.weight", (5,), Q.F32), ("blk.0.ffn_up.weight", (2, 256), Q.Q4_K), ("x", (3, 7), Q.F16)]
        tensors = [(n, s, t, random.integers(0, 256, size_of(s, t), dtype=np.uint8).tobytes()) for n, s, t in described]
        data = written([(key, T.STRING, None, "a" * 9)], tensors, alignment)
        lines, found, start = read(data)
        out.case(
            f"task_3_file/{name}",
            why="four tensors whose sizes are no multiples of the alignment, behind a table that does not end at one either",
            scalars={"file": data.hex(), "entries": lines, "tensors": found, "data_start": start},
        )
        table_end = data.index(b"\x01\0\0\0\0\0\0\0x") + 9 + 4 + 16 + 4 + 8
        aligned = {a: -(-table_end // a) * a for a in (8, 32, 64)}
        assert table_end % 8 and aligned[alignment or 32] == start, f"{name}: the table ends at {table_end}"
        assert len(set(aligned.values())) > 1, f"{name}: every alignment gives the same start: {aligned}"


def llama(vocabulary, hidden, intermediate, layers, heads, kv_heads, head_dim, tied, of):
    """Yields name, shape and type of each tensor of a Llama. `of(name)` returns the type of a matrix."""
    q, kv = heads * head_dim, kv_heads * head_dim
    matrices = {"attn_q": (q, hidden), "attn_k": (kv, hidden), "attn_v": (kv, hidden), "attn_output": (hidden, q),
                "ffn_gate": (intermediate, hidden), "ffn_up": (intermediate, hidden), "ffn_down": (hidden, intermediate)}  # fmt: skip
    yield "token_embd.weight", (vocabulary, hidden), of("token_embd")
    for layer in range(layers):
        for name, shape in matrices.items():
            yield f"blk.{layer}.{name}.weight", shape, of(name)
        yield f"blk.{layer}.attn_norm.weight", (hidden,), Q.F32
        yield f"blk.{layer}.ffn_norm.weight", (hidden,), Q.F32
    yield "output_norm.weight", (hidden,), Q.F32
    if not tied:
        yield "output.weight", (vocabulary, hidden), of("output")


MODELS = {
    "TinyLlama-1.1B, all matrices Q8_0": (False, llama(32_000, 2048, 5632, 22, 32, 4, 64, False, lambda name: Q.Q8_0)),
    "SmolLM2-360M, all matrices Q4_0, the embedding Q8_0": (
        True,
        llama(49_152, 960, 2560, 32, 15, 5, 64, True, lambda name: Q.Q8_0 if name == "token_embd" else Q.Q4_0),
    ),
    "a small one with Q6_K in some places and a head of its own": (
        False,
        llama(1_000, 512, 768, 2, 8, 2, 64, False, lambda name: Q.Q6_K if name in ("attn_v", "ffn_down", "output") else Q.Q4_K),
    ),
}


def roofline(out):
    works = []
    for name, (tied, tensors) in MODELS.items():
        tensors = list(tensors)
        if "Q6_K" in name:
            tensors.insert(1, ("of.three.axes", (2, 4, 64), Q.F32))
        body = [t for t in tensors if len(t[1]) == 2 and t[0] not in ("token_embd.weight", "output.weight")]
        embedding = tensors[0]
        head = embedding if tied else tensors[-1]
        assert tied or head[0] == "output.weight"
        once = [*body, head]
        size = sum(size_of(shape, t) for _, shape, t in once)
        if not tied:
            size += size_of(embedding[1][1:], embedding[2])
        work = f"Work {{ bytes: {size}, multiply_adds: {sum(prod(shape) for _, shape, _ in once)} }}"
        table = [[n, list(shape), t.name, size_of(shape, t)] for n, shape, t in tensors]
        # All layers equal the first, so the case has only the first, and the test creates the others.
        table = [row for row in table if not row[0].startswith("blk.") or row[0].split(".")[1] in ("0",)]
        layers = 1 + max(int(n.split(".")[1]) for n, _, _ in tensors if n.startswith("blk."))
        works.append({"model": name, "layers": layers, "tensors": table, "is": work})
    out.case("task_4_work/models", why="tied and untied, one type and several", scalars={"models": works})

    numbers = torch.tensor(
        [
            # bytes, multiply-adds, bandwidth, operations, rows
            [1.1e9, 1.034e9, 30e9, 1e12, 1],
            [1.1e9, 1.034e9, 30e9, 1e12, 512],
            [2.0e8, 3.5e8, 1.5e10, 4e11, 8],
            [2.0e8, 3.5e8, 1.5e10, 4e11, 7],
            [5.0e8, 9.0e8, 6.4e10, 2e11, 1],
        ],
        dtype=torch.float64,
    )
    size, madds, bandwidth, operations, rows = numbers.T
    reading, computing = size / bandwidth, 2 * madds * rows / operations
    seconds = torch.maximum(reading, computing)
    outputs = {"seconds": seconds, "tokens_per_second": rows / seconds, "balanced_rows": rows * reading / computing}
    assert (reading < computing).any() and (reading > computing).any()
    out.case(
        "task_4_machine/both_sides",
        why="passes that wait for memory and passes that wait for arithmetic",
        outputs={name: value.float() for name, value in outputs.items()},
        tolerance={name: relative_rounding(4) for name in outputs},
        scalars={"passes": [[int(x) for x in row] for row in numbers.tolist()]},
    )
