"""Two checkouts side by side: ``python -m benchmarks.compare OTHER``.

Prints the processor seconds of the same calls in the other checkout and in this one (the minimum of
three runs) and their ratio: above 1, this checkout is slower. The checkouts take turns call by
call, which keeps the load of the machine out of the ratio as far as possible. Only calls that both
checkouts know are listed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
REPEATS = 3
#: What each call needs, and the call.
PREPARE = """
import inspect, os, sys, tempfile, time, warnings
import numpy as np
import mien
from mien.committee import RandomSamplingLDA
from mien.datasets import make_faces
from mien.evaluation import equal_error_rate, roc
from mien.kernelmaps import Fastfood
from mien.multiview import MixturePCCA, MultiViewSuperVector
from mien.sparse import KSVD, orthogonal_matching_pursuit
from mien.subspace import KernelNullSpaceProjection, NullSpaceProjection, RelevantComponents
from mien.verification import JointBayesian
try:
    from mien.completion import FaceCompleter
    complete = FaceCompleter.complete
except ImportError:  # what older checkouts call it
    from mien.reconstruction import FaceHallucinator as FaceCompleter
    complete = FaceCompleter.reconstruct
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
y = np.repeat(np.arange(1000), 5)
X = 2 * rng.standard_normal((1000, 96))[y] + rng.standard_normal((5000, 96))
X /= np.linalg.norm(X, axis=1, keepdims=True)
model = JointBayesian(tol=1e-2).fit(X, y)
atoms = X[::10] / np.linalg.norm(X[::10], axis=1, keepdims=True)
genuine, impostor = rng.standard_normal(50_000) + 1.5, rng.standard_normal(500_000)
wide, pairs = rng.standard_normal((400, 1024)), np.repeat(np.arange(200), 2)
first, second = (list(X[:, part].reshape(100, 50, 32)) for part in (slice(32), slice(32, 64)))
faces = make_faces(100, 4, size=32, random_state=0).images
file = os.path.join(tempfile.mkdtemp(), "model.mien")
# Older checkouts have no other null space than the exact one.
exact = {"regularization": 0}
exact = exact if "regularization" in inspect.signature(NullSpaceProjection).parameters else {}
# What older checkouts call the number of atoms per signal.
known = inspect.signature(orthogonal_matching_pursuit).parameters
eight = {"n_nonzero_coefs" if "n_nonzero_coefs" in known else "n_nonzero": 8}
"""
CALLS = {
    "Joint Bayesian, fit 5,000 × 96": "JointBayesian(tol=1e-2).fit(X, y)",
    "Joint Bayesian, 5,000 × 5,000 scores": "model.score_matrix(X)",
    "save and load": "mien.save(model, file); mien.load(file)",
    "relevant components, all of them, fit": "RelevantComponents(None).fit(X, y)",
    "relevant components, by default, fit": "RelevantComponents().fit(X, y)",
    "exact null space, 400 × 1,024": "NullSpaceProjection(**exact).fit(wide, pairs)",
    "null space, by default": "NullSpaceProjection().fit(wide, pairs)",
    "exact kernel null space": "KernelNullSpaceProjection(sigma=9.0, **exact).fit(wide, pairs)",
    "kernel null space, by default": "KernelNullSpaceProjection(sigma=9.0).fit(wide, pairs)",
    "committee of 5, fit": "RandomSamplingLDA(n_members=5, random_state=0).fit(X[:1000], y[:1000])",
    "equal error rate, 550,000 scores": "equal_error_rate(genuine, impostor)",
    "ROC, 550,000 scores": "roc(genuine, impostor)",
    "Fastfood, 5,000 × 96 to 2,560": "Fastfood(10, random_state=0).fit(X).transform(X)",
    "OMP, 5,000 signals, 500 atoms": "orthogonal_matching_pursuit(X, atoms, **eight)",
    "K-SVD, a round": "KSVD(256, max_iter=1, random_state=0, **eight).fit(X)",
    "mixture of PCCA, 5 iterations": (
        "MixturePCCA(8, n_latent=4, max_iter=5, random_state=0).fit(X[:, :32], X[:, 32:64])"
    ),
    "super vector, 100 bags of 50": (
        "MultiViewSuperVector(MixturePCCA(4, n_latent=4, max_iter=3, random_state=0))"
        ".fit(first, second).transform(first, second)"
    ),
    "ridge completer, 400 faces": "complete(FaceCompleter('ridge').fit(faces), faces)",
    "blend completer, 400 faces": "complete(FaceCompleter('blend').fit(faces), faces)",
    "200 rendered faces": "make_faces(50, 4, 64, random_state=0)",
}
SERVE = """
import json
for line in sys.stdin:
    call = compile(json.loads(line), "call", "exec")
    try:
        exec(call)  # what is compiled or loaded on first use
        start = time.process_time()
        exec(call)
        took = time.process_time() - start
    except Exception as error:
        took = f"{type(error).__name__}: {error}"
    print(json.dumps(took), flush=True)
"""


def _start(root: Path) -> subprocess.Popen[str]:
    """A process that runs calls on a checkout, one line each."""
    path = os.pathsep.join([str(root / "src"), str(root)])
    return subprocess.Popen(
        [sys.executable, "-c", PREPARE + SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        cwd=root,
    )


def _ask(process: subprocess.Popen[str], call: str) -> float | str:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the process has no pipes")
    try:
        process.stdin.write(json.dumps(call) + "\n")
        process.stdin.flush()
    except BrokenPipeError:
        return "the process ended in an earlier call"
    line = process.stdout.readline()
    if not line:
        status = process.wait()
        return f"killed by signal {-status}" if status < 0 else f"the process ended with {status}"
    answer: float | str = json.loads(line)
    return answer


def main(other: Path) -> None:
    """Print the table."""
    roots = [other.resolve(), HERE]
    processes = [_start(root) for root in roots]
    print(f"{'':40} {'other':>9} {'this':>9} {'ratio':>7}")
    for name, call in CALLS.items():
        # A call that ends its process costs the others nothing.
        processes = [
            process if process.poll() is None else _start(root)
            for process, root in zip(processes, roots, strict=True)
        ]
        times: list[list[float | str]] = [[], []]
        for _ in range(REPEATS):
            for process, mine in zip(processes, times, strict=True):
                mine.append(_ask(process, call))
        least = [min((t for t in mine if isinstance(t, float)), default=None) for mine in times]
        if least[0] is None or least[1] is None:
            print(f"{name:40} {next(t for m in times for t in m if isinstance(t, str))}")
        else:
            print(f"{name:40} {least[0]:9.4f} {least[1]:9.4f} {least[1] / least[0]:7.2f}")
        sys.stdout.flush()
    for process in processes:
        process.kill()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
