"""Tests that a model's name leads to the same cache and the same files as in `huggingface_hub`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import huggingface_hub as hub
import numpy as np
import pytest
import tiny_llm
from huggingface_hub.file_download import _create_symlink, repo_folder_name
from tiny_llm.kit import locate

STORY = Path(__file__).parents[2] / "models/tiny-story"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "some/story"
VARIABLES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Builds a cache in `huggingface_hub`'s layout, with the embedded model at `main`."""
    folder = tmp_path / repo_folder_name(repo_id=NAME, repo_type="model")
    for part in ("blobs", "refs", f"snapshots/{COMMIT}"):
        (folder / part).mkdir(parents=True)
    (folder / "refs/main").write_text(COMMIT)
    for number, file in enumerate(sorted(STORY.iterdir())):
        blob = folder / f"blobs/{number:064x}"
        shutil.copy(file, blob)
        _create_symlink(str(blob), str(folder / f"snapshots/{COMMIT}/{file.name}"), new_blob=True)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def test_hub_finds_the_same_files(cache):
    [repository] = hub.scan_cache_dir(cache).repos
    [revision] = repository.revisions
    assert (repository.repo_id, revision.refs) == (NAME, {"main"})
    assert locate(NAME) == locate(f"{NAME}@{COMMIT}") == str(revision.snapshot_path)
    for file in STORY.iterdir():
        assert hub.try_to_load_from_cache(NAME, file.name, cache) == str(Path(locate(NAME)) / file.name)
    assert hub.snapshot_download(NAME, cache_dir=cache, local_files_only=True) == locate(NAME)


def test_hub_reports_missing_files(cache):
    for revision in ("v2", COMMIT[:7], "refs/pr/1"):
        assert hub.try_to_load_from_cache(NAME, "config.json", cache, revision) is None
        with pytest.raises(ValueError, match=f"no revision {revision} in .*`cargo llm fetch {NAME}@{revision}` fetches it"):
            locate(f"{NAME}@{revision}")
    (cache / "models--some--story/blobs" / f"{sorted(os.listdir(STORY)).index('model.safetensors'):064x}").unlink()
    assert hub.try_to_load_from_cache(NAME, "model.safetensors", cache) is None
    with pytest.raises(ValueError, match="model.safetensors is missing or incomplete in"):
        locate(NAME)


@pytest.mark.parametrize("name", ["a/b", "a_/b.c-d", "a--b/c", "a/b..c", "a/.b", "a/b-", "a/b.git", "a/b/c", "a/" + 96 * "b", "a/" + 97 * "b"])
def test_hub_accepts_the_same_names(cache, name):
    try:
        hub.utils.validate_repo_id(name)
        expected = "no such model in"
    except hub.errors.HFValidationError:
        expected = "not a model's name"
    with pytest.raises(ValueError, match=expected):
        locate(name)


def test_hub_uses_the_same_folder(tmp_path, monkeypatch):
    """Sets the variables one by one, each with precedence over those before."""
    home = {"HOME": str(tmp_path / "home"), "USERPROFILE": str(tmp_path / "home")}
    given = {}
    for variable in (None, *reversed(VARIABLES)):
        for value in (["~/own", str(tmp_path / "own")] if variable else [""]):
            if variable:
                given[variable] = value
            environment = {name: value for name, value in os.environ.items() if name not in VARIABLES} | home | given
            script = "from huggingface_hub import constants; print(constants.HF_HUB_CACHE)"
            expected = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True).stdout.strip()
            with monkeypatch.context() as patch:
                for name in VARIABLES:
                    patch.delenv(name, raising=False)
                for name, text in (home | given).items():
                    patch.setenv(name, text)
                with pytest.raises(ValueError) as error:
                    locate("other/story")
            assert f"no such model in {expected}; " in str(error.value), given


def test_hub_loads_models_by_name(cache):
    tokens = [1, 2, 3]
    assert np.array_equal(tiny_llm.reference.load(NAME).logits(tokens), tiny_llm.reference.load(STORY).logits(tokens))
    assert tiny_llm.kit.ModelConfig.from_folder(NAME).vocab_size == tiny_llm.kit.ModelConfig.from_folder(STORY).vocab_size
