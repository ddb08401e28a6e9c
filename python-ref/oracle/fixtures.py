"""Writes and checks the fixtures in `tests/fixtures`: committed inputs and expected outputs.

Calls each function of a day's module whose only parameter is `out`, a `Fixtures`. The function calls `out.case(...)` for each case.
The file's format is described in `harness/src/fixtures.rs`, which reads it.

Expected outputs are computed in float64 from inputs that are exact in float32. Inputs come from Python's own generator,
whose stream never changes, and use no function of libm. So they are the same on every machine, bit for bit.
"""

import json
import math
import random
import struct
from pathlib import Path
from typing import NamedTuple

import torch

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "fixtures"

MAX_BYTES = 300_000
"""Maximum size of a day's fixtures in bytes."""

_DTYPES = {torch.float32: "F32", torch.int64: "I64"}


class Random:
    """A source of seeded values that are exact in float32 (multiples of 2⁻¹²) and the same on every machine."""

    def __init__(self, seed):
        self._bits = random.Random(seed)
        self.seed = seed

    def normal(self, *shape, std=1.0, mean=0.0):
        """Returns roughly normal numbers: scaled sums of twelve uniform integers. The sums are exact, and need no logarithm."""
        return self._fill(shape, lambda: (sum(self._bits.getrandbits(16) for _ in range(12)) / 65536 - 6.0) * std + mean)

    def uniform(self, *shape, low=-1.0, high=1.0):
        return self._fill(shape, lambda: low + (high - low) * self._bits.random())

    def integers(self, *shape, low=0, high):
        """Returns integers in `low..high`, as int64."""
        values = [low + int(self._bits.random() * (high - low)) for _ in range(math.prod(shape))]
        return torch.tensor(values, dtype=torch.int64).reshape(shape)

    def _fill(self, shape, draw):
        values = [round(draw() * 4096) / 4096 for _ in range(math.prod(shape))]
        return torch.tensor(values, dtype=torch.float32).reshape(shape)


class Tolerance(NamedTuple):
    """The largest difference that rounding may cause, and its derivation. If `relative`, it is a fraction of the expected value."""

    value: float
    derivation: str
    relative: bool = False


def rounding(operations, magnitude, factor=2):
    """Returns the tolerance after `operations` roundings in sequence, each of at most 2⁻²⁴ of a value up to `magnitude`.

    `magnitude` is a number, or a tensor whose largest absolute value is used. `factor` covers another order of
    summation, and a library's exp, sin or cos, which are a few units off where basic operations are half a unit off.
    """
    if torch.is_tensor(magnitude):
        magnitude = magnitude[torch.isfinite(magnitude)].abs().max().item()
    value = float(f"{operations * 2.0**-24 * magnitude * factor:.1e}")
    return Tolerance(value, f"{operations} roundings × 2^-24 × magnitude {magnitude:.3g} × factor {factor} = {value:.1e}")


def random_walk(n):
    """Returns a bound for the sum of `n` roundings, in units of one rounding. Their signs vary, so the sum grows like √n, not like n.

    The sum exceeds 4√n about once in a billion (Higham and Mary 2019, "A New Approach to Probabilistic Rounding Error Analysis").
    """
    return min(n, math.ceil(4 * math.sqrt(n)))


def relative_rounding(operations, factor=2):
    """Like `rounding`, for outputs of different orders of magnitude that are computed without cancellation."""
    value = float(f"{operations * 2.0**-24 * factor:.1e}")
    return Tolerance(value, f"{operations} roundings × 2^-24 × factor {factor} = {value:.1e} of the value", relative=True)


def exact():
    """Returns the tolerance of outputs that are computed without rounding."""
    return Tolerance(0.0, "no rounded operation")


class Fixtures:
    """The cases of one day."""

    def __init__(self, name):
        self.name = name
        self.tensors = {}
        self.about = {}
        self.steps = {}
        self.seed = None

    def random(self, seed):
        """Returns a source of inputs with this seed. Cases that are added later record the seed, unless they pass their own."""
        self.seed = seed
        return Random(seed)

    def case(self, name, *, why, inputs=None, outputs=None, seed=None, tolerance=None, scalars=None, same=None, similar=None, nan=None, step=0.0):
        """Adds the case `name` (`task_2_attention/wide`).

        seed       the seed of the inputs, by default that of the last `random`, or 0 if nothing was drawn. Failure messages print it
        why        what this input reveals, in one sentence
        inputs     name → float32 or int64 tensor
        outputs    name → tensor, or a function of `**inputs` that returns such a dictionary or one tensor (then named
                   `output`). A function is called in float64 for the expected values, and again in float32 to
                   check that the tolerance is not too narrow.
        tolerance  output → `rounding(...)` or `relative_rounding(...)`. Any other output must be exact
        scalars    numbers, strings and lists for the test to read
        same       name → an independent implementation like `outputs`: it must agree to 1e-9. Not stored.
        nan        the likely cause of a NaN on this input, which a failure message prints. With `(text, 5, 10)`: only
                   if elements 5 to 9 in row-major order are NaN and no others
        step       for inputs that a model computed, rounded to multiples of `step`: on another machine they may be
                   one step off. Not stored
        similar    like `same`, for libraries that round to float32 inside: they must agree within the tolerance
        """
        assert name not in self.about, f"{self.name}: two cases are named {name}"
        inputs, outputs, tolerance = inputs or {}, outputs or {}, dict(tolerance or {})
        same, similar = same or {}, similar or {}
        where = f"{self.name}: {name}"
        golden = _call(outputs, inputs, torch.float64)
        for output, value in golden.items():
            assert output not in inputs, f"{where}: {output} is an input and an output"
            if value.dtype != torch.int64:
                tolerance.setdefault(output, exact())

        if callable(outputs):
            similar = {"float32": outputs, **similar}
        for library, function in similar.items():
            for output, value in _call(function, inputs, torch.float32 if library == "float32" else torch.float64).items():
                if output in tolerance:
                    bound, derivation, relative = tolerance[output]
                    error = _distance(value, golden[output], relative)
                    allowed = max(bound, 2.0**-24 * (1.0 if relative else _size(golden[output])))  # storing rounds once
                    assert error <= allowed, f"{where}: {library} is {error:.2e} off in {output}; tolerance: {derivation}"
        for library, function in same.items():
            for output, value in _call(function, inputs, torch.float64).items():
                error = _distance(value, golden[output])
                assert error <= 1e-9 * (1 + _size(golden[output])), f"{where}: {library} differs by {error:.2e} in {output}"

        for part, value in {**inputs, **golden}.items():
            if value.dtype != torch.int64:
                value = value.to(torch.float32)
            self.tensors[f"{name}/{part}"] = value.contiguous()
        self.steps |= {f"{name}/{part}": step for part in inputs}
        self.about[name] = {
            "seed": seed if seed is not None else self.seed if inputs else 0,
            "why": why,
            "scalars": scalars or {},
            "tolerance": {o: t.value for o, t in tolerance.items()},
            "relative": [o for o, t in tolerance.items() if t.relative],
            "derivation": "; ".join(f"{o}: {t.derivation}" for o, t in tolerance.items()),
        } | ({"nan": nan} if isinstance(nan, str) else {"nan": nan[0], "nan_place": nan[1:]} if nan else {})

    def to_bytes(self):
        """Returns the safetensors file. Does not use the library, which does not keep metadata in a fixed order."""
        header, data = {"__metadata__": {n: json.dumps(a, ensure_ascii=False) for n, a in sorted(self.about.items())}}, b""
        # int64 comes first, so that each tensor is aligned to the size of its elements.
        for name, value in sorted(self.tensors.items(), key=lambda item: (item[1].dtype != torch.int64, item[0])):
            raw = value.numpy().tobytes()
            header[name] = {"dtype": _DTYPES[value.dtype], "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        file = struct.pack("<Q", len(text)) + text + data
        assert len(file) <= MAX_BYTES, f"{self.name}: found {len(file)} bytes of fixtures, expected at most {MAX_BYTES}"
        return file

    def path(self):
        return FOLDER / f"{self.name}.safetensors"

    def write(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.path().write_bytes(self.to_bytes())

    def differences(self):
        """Returns the differences from the committed file, one line each.

        Inputs, integers and metadata must be equal, but inputs with a step may be one step off. An expected output may be one float32 unit off, or
        1/1024 of the case's tolerance near zero: on another machine, float64 exp, sin and cos may round differently.
        """
        if not self.path().exists():
            return [f"{self.path()} is missing"]
        try:
            about, tensors = _parse(self.path().read_bytes())
        except (ValueError, KeyError, struct.error) as error:
            return [f"{self.path()} is not a fixture file: {error}"]
        lines = [f"{self.name}: case {n} is only {'in the file' if n in about else 'in the oracle'}" for n in sorted(self.about.keys() ^ about.keys())]
        lines += [f"{self.name}: {n}: metadata differs" for n in sorted(self.about.keys() & about.keys()) if json.loads(json.dumps(self.about[n])) != about[n]]
        lines += [f"{self.name}: {n} is only {'in the file' if n in tensors else 'in the oracle'}" for n in sorted(self.tensors.keys() ^ tensors.keys())]
        for name in sorted(self.tensors.keys() & tensors.keys()):
            ours, theirs = self.tensors[name], tensors[name]
            if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
                lines.append(f"{self.name}: {name} is {_DTYPES[theirs.dtype]} {list(theirs.shape)}, the oracle gives {_DTYPES[ours.dtype]} {list(ours.shape)}")
                continue
            case, part = name.rsplit("/", 1)
            slack = self.about[case]["tolerance"].get(part)
            if part in self.about[case]["relative"]:
                slack = 0.0  # allows only one unit, because these values may be tiny
            if slack is None:
                if ours.numpy().tobytes() != theirs.numpy().tobytes() and not 0 < _distance(theirs, ours) <= self.steps.get(name, 0.0):
                    lines.append(f"{self.name}: {name} differs")
            elif (error := _distance(theirs, ours)) > 0 and not _within_a_unit(theirs, ours, slack / 1024):
                lines.append(f"{self.name}: {name} differs by up to {error:.2e}")
        return lines


def _call(function, inputs, dtype):
    """Returns `function(**inputs)` with the floats of `inputs` as `dtype`. A single tensor is named `output`."""
    if callable(function):
        with torch.no_grad():
            function = function(**{n: v.to(dtype) if v.is_floating_point() else v.clone() for n, v in inputs.items()})
    return {"output": function} if torch.is_tensor(function) else function


def _distance(found, expected, relative=False):
    """Returns the largest difference: ∞ if the shapes differ, or if only one of two elements is infinite or NaN."""
    if found.shape != expected.shape:
        return math.inf
    if found.numel() == 0:
        return 0.0
    found, expected = found.double(), expected.double()
    difference = (found - expected).abs()
    if relative:
        difference = difference / expected.abs()
    difference[(found == expected) | (found.isnan() & expected.isnan())] = 0.0
    return difference.nan_to_num(nan=math.inf, posinf=math.inf).max().item()


def _size(x):
    finite = x[torch.isfinite(x)]
    return finite.abs().max().item() if finite.numel() else 0.0


def _within_a_unit(found, expected, slack):
    found, expected = found.double(), expected.double()
    allowed = (expected.abs() * 2.0**-23).clamp(min=slack)
    equal = (found == expected) | (found.isnan() & expected.isnan())
    return bool((equal | ((found - expected).abs() <= allowed)).all())


def _parse(file):
    """Returns the metadata and the tensors of a safetensors file."""
    (length,) = struct.unpack("<Q", file[:8])
    header = json.loads(file[8 : 8 + length])
    about = {n: json.loads(a) for n, a in header.pop("__metadata__").items()}
    dtypes = {name: dtype for dtype, name in _DTYPES.items()}
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + o for o in entry["data_offsets"])
        values = torch.frombuffer(bytearray(file[begin:end]), dtype=dtypes[entry["dtype"]]) if end > begin else torch.empty(0, dtype=dtypes[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return about, tensors
