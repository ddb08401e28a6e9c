"""Installs PyPI's PyTorch for Linux without the GPU libraries it depends on: 0.5 GB to download and 1.2 GB on disk, not 3.1 and 5.8.

    python python-ref/torch_on_cpu.py torch==2.15.0

PyTorch's own index has a smaller build; `cargo course verify` calls this program if that index can't be reached. PyPI's build is
linked against CUDA, and no function of CUDA is called without a GPU. So one small library takes the place of all of CUDA's. Nearly
all of its functions return 100, the code for "no device". It needs a C compiler and `readelf`, which comes with the linker.
"""

import importlib.metadata
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

LIBRARIES = Path(sysconfig.get_path("purelib"), "torch", "lib")
CUDA = r"(?:cu|nv|nccl)"
"""How names of CUDA's libraries and functions begin, after `lib` and `__`."""


FUNCTIONS = """
int no_device(void) { return 100; }
const char *no_text(void) { return "no device"; }
int not_capturing(void *stream, int *status) { *status = 0; return 0; }
"""


def answer(name):
    """The function that stands in for one of CUDA's. PyTorch prints the text of an error, and transformers asks whether a stream is
    being captured before each pass."""
    if re.search(r"Error(?:String|Name)|StatusString", name, re.IGNORECASE):
        return "no_text"
    return "not_capturing" if name == "cudaStreamIsCapturing" else "no_device"


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "--no-compile"]
    subprocess.run([*command, *arguments], check=True)


def readelf(*arguments):
    return subprocess.run(["readelf", "--wide", *arguments], capture_output=True, text=True, check=True).stdout


def missing():
    """File names of CUDA's libraries, and the functions that PyTorch takes from them, by version; '' is none."""
    names, functions = set(), {}
    for library in LIBRARIES.glob("lib*.so"):
        names |= set(re.findall(rf"\(NEEDED\).*\[(lib{CUDA}.*)\]", readelf("--dynamic", library)))
        for name, version in re.findall(rf" UND ((?:__)?{CUDA}\w*)@?([\w.]*)", readelf("--dyn-syms", library)):
            functions.setdefault(version, set()).add(name)
    return names, functions


def stand_in():
    """Compiles the library, and puts it beside PyTorch's own under the name of each of CUDA's."""
    names, functions = missing()
    source, versions = LIBRARIES / "no_cuda.c", LIBRARIES / "no_cuda.map"
    each = sorted(set().union(*functions.values()))
    aliases = (f'int {name}(void) __attribute__((alias("{answer(name)}")));\n' for name in each)
    source.write_text(FUNCTIONS + "".join(aliases))
    versions.write_text("".join(f"{version} {{ {' '.join(f'{name};' for name in held)} }};\n" for version, held in functions.items() if version))
    library = LIBRARIES / "no_cuda.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", f"-Wl,--version-script={versions}", "-o", library, source], check=True)
    for name in names:
        (LIBRARIES / name).unlink(missing_ok=True)
        os.link(library, LIBRARIES / name)


def main(*torch):
    pip("--no-deps", *torch)
    needs = [line for line in importlib.metadata.requires("torch") if "extra ==" not in line]
    pip(*(line for line in needs if not line.startswith(("cuda-", "nvidia-", "triton"))))
    stand_in()
    trial = "import torch; assert not torch.cuda.is_available(); torch.ones(2, 2) @ torch.ones(2, 2)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", trial], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
