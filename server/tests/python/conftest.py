"""Starts a server for the tests of this folder: the program at TINY_LLM_SERVE, with the embedded model.

`cargo course verify --only server` runs them. By hand:

    cargo build --features serve,reference --bin tiny-llm-serve
    TINY_LLM_SERVE=target/debug/tiny-llm-serve .venv/bin/python -m pytest server/tests/python
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def address():
    program = Path(os.environ["TINY_LLM_SERVE"]).resolve()
    model = ROOT / "models/tiny-story"
    arguments = ["serve", "--model", model, "--port", "0", "--api-key", "sk-test", "--pages", "64", "--share-prefixes"]
    with subprocess.Popen([program, *arguments], stderr=subprocess.PIPE, text=True) as server:
        said = ""
        for line in server.stderr:
            said += line
            if found := re.search(r"http://(\S+)", line):
                yield f"http://{found[1]}"
                break
        else:
            raise RuntimeError(f"it ended: {said}")
        server.terminate()
        rest = server.stderr.read()
    assert (server.returncode, rest) == (0, "")
