"""Week 3, day 5: prefixes.

Computes hashes, checksums and a whole file of keys and values, byte by byte, from their definitions with Python's unbounded integers.
"""

import struct

import numpy as np


MASK = 2**64 - 1


def fnv1a(data):
    """Returns the 64-bit FNV-1a hash of `data`, as in RFC 9923."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


assert fnv1a(b"") == 0xCBF29CE484222325 and fnv1a(b"a") == 0xAF63DC4C8601EC8C and fnv1a(b"foobar") == 0x85944171F73967E8, "the values that are widely published"


def hash_page(before, tokens):
    return fnv1a(struct.pack(f"<Q{len(tokens)}I", before, *tokens))


def chain(fingerprint, tokens, page_len):
    names, before = [], fingerprint
    for start in range(0, len(tokens) - page_len + 1, page_len):
        before = hash_page(before, tokens[start : start + page_len])
        names.append(before)
    return names


def checksum(data):
    """Returns a 64-bit checksum of `data`. Starts with the length, then rotates, XORs and multiplies for each eight bytes."""
    total, rest = len(data), len(data) % 8
    padded = data[: len(data) - rest] + data[len(data) - rest :].ljust(8, b"\0")
    for (word,) in struct.iter_unpack("<Q", padded):
        total = ((total << 5 | total >> 59) & MASK ^ word) * 0x9E3779B97F4A7C15 & MASK
    return total


def prompt_file(cells, tokens, fingerprint):
    """Returns the bytes of a prompt's file with `tokens` and `cells [layers, 2, H, n, D]`, keys and values in the type in which they are stored."""
    layers, _, heads, n, dim = cells.shape
    kind = {np.dtype("<f4"): 0, np.dtype("<f2"): 1}[cells.dtype]
    data = b"TINYKV\r\n" + struct.pack("<IIQIIII", 1, kind, fingerprint, layers, heads, dim, n) + struct.pack(f"<{n}I", *tokens)
    for layer in range(layers):
        for head in range(heads):
            data += cells[layer, 0, head].tobytes() + cells[layer, 1, head].tobytes()
    return data + struct.pack("<Q", checksum(data))


def cases(out):
    r = out.random(3501)
    tokens = [0, 1, 151_935, 7, 2**32 - 1, 0, 0, 258, 65_536, 3, 3, 3]
    out.case(
        "task_1_hash_page/numbers",
        why="no tokens, one, several, the largest; each behind nothing and behind another name",
        scalars={"rows": [[str(before), tokens[:n], str(hash_page(before, tokens[:n]))] for before in (0, 1, 2**63 + 12345) for n in (0, 1, 2, 5, 12)]},
    )
    rows = [
        (0, tokens, 4),
        (0, tokens, 5),
        (99, tokens, 4),
        (0, tokens[:3], 4),
        (0, tokens[:4], 4),
        (7, [], 4),
        (0, [5, 5, 5, 5], 1),
        (0, [5, 6, 5, 6], 2),
    ]
    out.case(
        "task_1_chain/texts",
        why="texts that end with a page and within one, shorter than a page, of equal pages",
        scalars={"rows": [[str(fingerprint), text, page_len, [str(name) for name in chain(fingerprint, text, page_len)]] for fingerprint, text, page_len in rows]},
    )
    for name, kind in (("f32", "<f4"), ("f16", "<f2")):
        layers, heads, n, dim = 2, 3, 5, 4
        cells = r.normal(layers, 2, heads, n, dim)
        stored = cells.numpy().astype(kind)
        text = [12, 0, 36, 36, 5]
        out.case(
            f"task_4_file/{name}",
            why=f"five positions of two layers and three heads, in {name}",
            inputs={"cells": cells},
            scalars={"tokens": text, "fingerprint": str(0x0123456789ABCDEF), "file": prompt_file(stored, text, 0x0123456789ABCDEF).hex()},
        )
