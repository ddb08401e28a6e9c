"""Compares the memory that ggml's allocator needs for a model's graph with ours.

    python python-ref/peers/ggml_allocator.py target/release/tiny-llm --rows 1 64 512 [--model MODEL]

The program prints the graph (`graph --dot -`) and its plans (`graph --memory`). This script builds the same nodes with ggml's operations, and
`ggml_gallocr` returns the size of their buffer. In both, weights, norms, the cache and the tokens already have memory. ggml has no node that
norms and multiplies by a weight, so there are two, as in llama.cpp. Nothing is computed. Needs the extra `peers` of pyproject.toml.
"""

import argparse
import re
import subprocess
from ctypes import CDLL, POINTER, Structure, c_bool, c_char, c_float, c_int, c_int32, c_int64, c_size_t, c_void_p
from importlib.util import find_spec
from pathlib import Path

F32, F16, I32 = 0, 1, 26
NODE = re.compile(r'n(\d+) \[label="(\w+)\\n(.*)\\n\w+ \[(\d+), (\d+), (\d+), (\d+)\]"')
ARROW = re.compile(r"n(\d+) -> n(\d+);")


class Tensor(Structure):
    """`ggml_tensor`. `Ggml.there` checks its layout against the library."""

    _fields_ = [
        ("type", c_int),
        ("buffer", c_void_p),
        ("ne", c_int64 * 4),
        ("nb", c_size_t * 4),
        ("op", c_int),
        ("op_params", c_int32 * 16),
        ("flags", c_int32),
        ("src", c_void_p * 10),
        ("view_src", c_void_p),
        ("view_offs", c_size_t),
        ("data", c_void_p),
        ("name", c_char * 64),
    ]


class InitParams(Structure):
    _fields_ = [("mem_size", c_size_t), ("mem_buffer", c_void_p), ("no_alloc", c_bool)]


def libraries():
    folder = Path(find_spec("llama_cpp").origin).parent / "lib"
    found = [next(folder.glob(f"*{name}.{end}"), None) for name in ("ggml-base", "ggml-cpu") for end in ("so", "dylib", "dll")]
    return [CDLL(str(path)) for path in found if path]


class Ggml:
    """A graph in ggml."""

    def __init__(self):
        self.base = libraries()[0]
        pointers = "init new_tensor get_rows mul_mat add mul rms_norm rope_ext silu swiglu_split cpy reshape_2d reshape_3d permute flash_attn_ext new_graph_custom"
        for name in [f"ggml_{name}" for name in pointers.split()] + ["ggml_gallocr_new", "ggml_backend_cpu_buffer_type"]:
            getattr(self.base, name).restype = c_void_p
        self.base.ggml_init.argtypes = [InitParams]
        self.base.ggml_gallocr_get_buffer_size.restype = c_size_t
        self.context = self.base.ggml_init(InitParams(64 << 20, None, True))
        self.graph = c_void_p(self.base.ggml_new_graph_custom(c_void_p(self.context), c_size_t(16384), False))

    def call(self, name, *arguments):
        """Adds ggml's operation `name` and returns its result. Tensors are `POINTER(Tensor)`."""
        address = getattr(self.base, f"ggml_{name}")(c_void_p(self.context), *arguments)
        return POINTER(Tensor).from_buffer(c_void_p(address))

    def there(self, kind, *sizes):
        """Returns a tensor that already has memory. ggml only checks that the address is set, and never reads it."""
        ne = (c_int64 * 4)(*sizes, *[1] * (4 - len(sizes)))
        tensor = self.call("new_tensor", kind, 4, ne)
        assert list(tensor.contents.ne) == list(ne) and tensor.contents.data is None, "another layout of ggml_tensor"
        tensor.contents.data = 64
        return tensor

    def needs(self, result):
        self.base.ggml_set_output(result)
        self.base.ggml_build_forward_expand(self.graph, result)
        allocator = c_void_p(self.base.ggml_gallocr_new(c_void_p(self.base.ggml_backend_cpu_buffer_type())))
        self.base.ggml_gallocr_reserve.restype = c_bool
        assert self.base.ggml_gallocr_reserve(allocator, self.graph), "ggml could not reserve a buffer"
        size = self.base.ggml_gallocr_get_buffer_size(allocator, 0)
        self.base.ggml_gallocr_free(allocator)
        return size


def graph_of(dot):
    """Returns the nodes of a `dot` text in order: number → operation, sizes, sources."""
    nodes = {int(m[1]): (m[2], [int(n) for n in m.groups()[3:]], []) for m in map(NODE.search, dot.splitlines()) if m}
    for source, node in ARROW.findall(dot):
        nodes[int(node)][2].append(int(source))
    return nodes


def ggml_bytes(dot, silu_alone=False):
    ggml = Ggml()
    eps, one, zero = c_float(1e-6), c_float(1.0), c_float(0.0)
    made, stored = {}, {}
    for number, (op, ne, sources) in graph_of(dot).items():
        x = [made.get(source) for source in sources]
        match op:
            case "weight" | "values":
                made[number] = ggml.there(F32, *ne)
            case "tokens":
                made[number] = ggml.there(I32, ne[0])
            case "embed":
                made[number] = ggml.call("get_rows", x[0], x[1])
            case "mul_mat" | "add":
                made[number] = ggml.call(op, x[0], x[1])
            case "reshape":
                made[number] = ggml.call("reshape_3d", x[0], *map(c_int64, ne[:3]))
            case "rms_norm":
                made[number] = ggml.call("mul", ggml.call("rms_norm", x[0], eps), x[1])
            case "rope":
                positions = ggml.there(I32, ne[2])
                made[number] = ggml.call("rope_ext", x[0], positions, None, ne[0], 2, 0, c_float(1e4), one, zero, one, zero, zero)
            case "silu_gate" if silu_alone:
                made[number] = ggml.call("mul", ggml.call("silu", x[0]), x[1])
            case "silu_gate":
                made[number] = ggml.call("swiglu_split", x[0], x[1])
            case "store":
                # Stores into the cache come, in order, before the node that reads it.
                caches = [ggml.there(F32, *source.contents.ne) for source in x]
                for source, cache in zip(x, caches):
                    ggml.base.ggml_build_forward_expand(ggml.graph, ggml.call("cpy", source, cache))
                stored[number] = caches
            case "attend":
                q, k, v = (ggml.call("permute", t, 0, 2, 1, 3) for t in (x[0], *stored[sources[1]]))
                mask = ggml.there(F16, k.contents.ne[1], q.contents.ne[1])
                mixed = ggml.call("flash_attn_ext", q, k, v, mask, c_float(0.125), zero, zero)
                made[number] = ggml.call("reshape_2d", mixed, c_int64(ne[0]), c_int64(ne[1]))
            case "wanted":
                made[number] = ggml.call("get_rows", x[0], ggml.there(I32, ne[1]))
            case _:
                raise SystemExit(f"{op}: ggml has no operation for it")
        if number in made:
            found = list(made[number].contents.ne)
            assert found == ne, f"node {number} ({op}): ggml has sizes {found}, ours has {ne}"
    return ggml.needs(made[number])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the engine's command line, built by cargo")
    parser.add_argument("--model", help="a folder or a GGUF file; without it, the model that comes with the course")
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 64, 512])
    parser.add_argument("--silu-alone", action="store_true", help="silu and its product as two nodes of ggml's, which it may write in place")
    arguments = parser.parse_args()
    print(f"{'rows':>5} {'a buffer each':>14} {'ggml':>12} {'ours, by best fit':>18} {'largest first':>14} {'needed at once':>15}")
    for rows in arguments.rows:

        def said(*words):
            words = [arguments.program, "graph", "--rows", str(rows), *words, *(["--model", arguments.model] if arguments.model else [])]
            return subprocess.run(words, check=True, capture_output=True, text=True).stdout

        each, _, _, _, bound, best_fit, by_size = (int(line.split()[0]) for line in said("--memory").splitlines())
        print(f"{rows:>5} {each:>14} {ggml_bytes(said('--dot', '-'), arguments.silu_alone):>12} {best_fit:>18} {by_size:>14} {bound:>15}")


if __name__ == "__main__":
    main()
