"""Break the code in known places, one at a time: the tests that should notice must turn red.

Each mutant is one changed line in a copy of the repository. The named test must pass before and
fail after. A mutant whose line is no longer found is an error, so that this list stays true.
``python -m tools.mutants sign`` takes those whose description has the word.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tools.environments import ROOT, run


@dataclass(frozen=True)
class Mutant:
    """``old`` becomes ``new`` in a file; ``test`` must notice."""

    what: str
    file: str
    old: str
    new: str
    test: str


TWIN = "a sign in a compiled twin: "
MUTANTS = (
    Mutant(
        TWIN + "the residual of sparse codes", "src/mien/sparse/_ksvd_numba.py",
        "row[j] -= value * atom[j]", "row[j] += value * atom[j]",
        "tests/sparse/test_ksvd.py::test_compiled_sweep_equals_its_twin",
    ),
    Mutant(
        TWIN + "matching pursuit", "src/mien/sparse/_omp_numba.py",
        "alpha[i, j] -= w0 * gram[a0, j]\n", "alpha[i, j] += w0 * gram[a0, j]\n",
        "tests/sparse/test_omp.py::test_kernel_and_twin_agree",
    ),
    Mutant(
        TWIN + "the Hadamard transform", "src/mien/kernelmaps/_fourier_numba.py",
        "am = a - b\n", "am = a + b\n",
        "tests/kernelmaps/test_hadamard.py::test_long_rows_and_the_numpy_twin_agree",
    ),
    Mutant(
        TWIN + "rendered people", "src/mien/datasets/_rendered/_shade_numba.py",
        "vignette = 1.0 - p[VIGNETTE]", "vignette = 1.0 + p[VIGNETTE]",
        "tests/datasets/test_rendered.py::test_the_compiled_renderer_equals_its_twin",
    ),
    Mutant(
        "import cv2 in a learner", "src/mien/verification/_scoring.py",
        "import numpy as np\n", "import cv2\nimport numpy as np\n",
        "tests/test_architecture.py::test_heavy_packages_have_one_home",
    ),
    Mutant(
        'require_module("cv2") in a learner', "src/mien/verification/_scoring.py",
        "\n\ndef ", '\n\n_cv2 = lambda: require_module("cv2", "faces", "scores")\n\n\ndef ',
        "tests/test_architecture.py::test_heavy_packages_have_one_home",
    ),
    Mutant(
        "a pickle in a learner", "src/mien/verification/_scoring.py",
        "import numpy as np\n", "import pickle\nimport numpy as np\n",
        "tests/test_architecture.py::test_no_pickle_anywhere",
    ),
    Mutant(
        "room for one more person only", "src/mien/_core/statistics.py",
        "2 * len(self._counts)", "1 + len(self._counts)",
        "tests/core/test_statistics.py::test_many_new_people_grow_linearly",
    ),
    Mutant(
        "patterns that know the brightness", "src/mien/features/_dense.py",
        "local_binary_pattern(grey, 8, 1, ", "local_binary_pattern(grey // 9, 8, 1, ",
        "tests/features/test_dense.py::test_histograms_are_roots_of_shares",
    ),
)  # fmt: skip


def _test(folder: Path, node: str) -> tuple[bool, str]:
    """Whether a test passes in a copy of the repository, and what pytest said."""
    settings = os.environ | {"PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder}"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    done = run([*command, "--tb=line", node], cwd=folder, env=settings)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{node} cannot be run:\n{done.stdout[-3000:]}")
    return done.returncode == 0, done.stdout


def _copy(folder: Path) -> None:
    for name in run(["git", "ls-files"], cwd=ROOT).stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def main() -> int:
    start, survived = time.monotonic(), 0
    mutants = [m for m in MUTANTS if all(word in m.what for word in sys.argv[1:])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "copy")
        _copy(folder)
        for mutant in mutants:
            path = folder / mutant.file
            text = path.read_text(encoding="utf-8")
            if mutant.old not in text:
                raise SystemExit(f"{mutant.file} has no line {mutant.old!r}: mend tools/mutants.py")
            before, said = _test(folder, mutant.test)
            if not before:
                raise SystemExit(f"{mutant.test} fails without a mutant:\n{said[-3000:]}")
            path.write_text(text.replace(mutant.old, mutant.new, 1), encoding="utf-8")
            after, _ = _test(folder, mutant.test)
            path.write_text(text, encoding="utf-8")
            survived += after
            print(
                f"{'SURVIVED' if after else 'red':8}  {mutant.what:52}  {mutant.test}", flush=True
            )
    words = f"{len(mutants) - survived} mutants found, {survived} survived"
    print(f"==== {words} in {time.monotonic() - start:.0f}s ====")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
