"""Tests `tiny-llm-fetch` with `huggingface_hub` and `transformers`, which share one local hub and one cache. TINY_LLM_FETCH is the
path of the program, TINY_LLM_HUB that of the example `hub`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[3] / "models/tiny-llm"
NAME = "owner/name"
NEEDED = ["config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]


@pytest.fixture(scope="module")
def endpoint():
    with subprocess.Popen([os.environ["TINY_LLM_HUB"], str(MODEL)], stdout=subprocess.PIPE, text=True) as hub:
        yield hub.stdout.readline().strip()
        hub.kill()


@pytest.fixture
def environment(endpoint, tmp_path):
    """Returns the environment variables for this hub and an empty cache."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("HF_") and not name.upper().endswith("_PROXY")}
    return ours | {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1"}


def offline(environment):
    return environment | {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9"}


def fetch(environment, *options):
    run = subprocess.run([os.environ["TINY_LLM_FETCH"], NAME, *options], env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def python(environment, text):
    run = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip().splitlines()[-1]


DOWNLOAD = f"from huggingface_hub import snapshot_download\nprint(snapshot_download({NAME!r}))"


def blobs(folder):
    return {file.name: file.stat().st_mtime_ns for file in (Path(folder).parents[1] / "blobs").iterdir()}


def test_finds_files_that_huggingface_hub_fetched(environment):
    folder = python(environment, DOWNLOAD)
    assert fetch(offline(environment)) == folder
    before = blobs(folder)
    assert fetch(environment) == folder
    assert blobs(folder) == before, "nothing is downloaded again"
    assert fetch(environment, "--dry-run").endswith("in all, 0 B to download")


def test_huggingface_hub_finds_fetched_files(environment):
    folder = fetch(environment)
    assert sorted(file.name for file in Path(folder).iterdir()) == NEEDED
    assert all((Path(folder) / name).read_bytes() == (MODEL / name).read_bytes() for name in NEEDED)
    assert python(offline(environment), DOWNLOAD) == folder
    text = f"from huggingface_hub import hf_hub_download\nfor file in {NEEDED}:\n    print(hf_hub_download({NAME!r}, file))"
    assert python(offline(environment), text) == f"{folder}/{NEEDED[-1]}"
    before = blobs(folder)
    assert python(environment, text) == f"{folder}/{NEEDED[-1]}"
    assert blobs(folder) == before, "nothing is downloaded again"
    scan = "from huggingface_hub import scan_cache_dir\nfound = scan_cache_dir()\nassert not found.warnings, found.warnings\n"
    scan += "[repo] = found.repos\n[revision] = repo.revisions\nprint(repo.repo_id, *revision.refs, len(revision.files))"
    assert python(environment, scan) == f"{NAME} main {len(NEEDED)}"


def test_transformers_loads_the_fetched_model(environment):
    fetch(environment)
    text = f"""
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
def logits(name):
    tokens = AutoTokenizer.from_pretrained(name)("Once upon a time", return_tensors="pt")
    with torch.no_grad():
        return AutoModelForCausalLM.from_pretrained(name)(tokens.input_ids).logits
print(torch.equal(logits({NAME!r}), logits({str(MODEL)!r})))"""
    assert python(offline(environment), text) == "True"


def test_both_fetch_at_once(environment):
    ours = [subprocess.Popen([os.environ["TINY_LLM_FETCH"], NAME], env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE) for _ in range(2)]
    folder = python(environment, DOWNLOAD)
    for process in ours:
        printed, _ = process.communicate(timeout=120)
        assert (process.returncode, printed.decode().strip()) == (0, folder)
    assert not [name for name in blobs(folder) if "incomplete" in name]
