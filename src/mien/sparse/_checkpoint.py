"""The state of a training on disk: arrays and JSON in one file, replaced at once, no pickle."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.atomic import atomic_path
from mien.errors import InputError, ModelDamagedError

__all__ = ["TrainingState", "read_state", "write_state"]


@dataclass
class TrainingState:
    """State of a training, updated round by round.

    Attributes
    ----------
    atoms : (n_atoms, d)
        The dictionary.
    iteration : int
        Rounds done.
    objective : list of float
        Mean squared residual after each of them.
    n_replaced : int
        Atoms that were replaced so far.
    """

    atoms: np.ndarray
    iteration: int
    objective: list[float]
    n_replaced: int


def write_state(
    path: str | os.PathLike[str], state: TrainingState, identity: dict[str, Any]
) -> None:
    """Write the state beside the file and put it in its place in one step.

    Parameters
    ----------
    path : path
        The checkpoint. A process that is killed while writing leaves the previous one.
    state : TrainingState
        What to continue from.
    identity : dict
        Parameters and a fingerprint of the data; :func:`read_state` compares it.
    """
    path = Path(path)
    header = {
        "identity": identity,
        "iteration": state.iteration,
        "objective": state.objective,
        "n_replaced": state.n_replaced,
    }
    with atomic_path(path, private=True) as partial, open(partial, "wb") as file:
        np.savez(file, atoms=state.atoms, header=np.array(json.dumps(header)))


def read_state(path: str | os.PathLike[str], identity: dict[str, Any]) -> TrainingState | None:
    """The state in a file, None where there is no file.

    Parameters
    ----------
    path : path
        The checkpoint. It is read without pickle, and refused if it unpacks to more than its size.
    identity : dict
        Parameters and fingerprint of the present training.

    Raises
    ------
    InputError
        The file belongs to a training with other parameters or other data; the differing ones are
        named.
    ModelDamagedError
        The file cannot be read.
    """
    path = Path(path)
    if not path.exists():
        return None
    if not path.is_file():
        raise ModelDamagedError(f"the checkpoint {path} is not a regular file")
    try:
        with open(path, "rb") as raw:
            with zipfile.ZipFile(raw) as archive:
                unpacked = sum(member.file_size for member in archive.infolist())
            # They are stored as they are: what unpacks to more was not written by us.
            if unpacked > path.stat().st_size:
                raise ValueError(f"it unpacks to {unpacked:,} bytes")
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(str(file["header"]))
            atoms = file["atoms"]
        found = dict(header["identity"])
        if atoms.ndim != 2 or atoms.dtype.kind != "f" or not np.all(np.isfinite(atoms)):
            raise ValueError(f"its atoms are {atoms.dtype} {atoms.shape}, or not finite")
        state = TrainingState(
            atoms,
            int(header["iteration"]),
            [float(value) for value in header["objective"]],
            int(header["n_replaced"]),
        )
    except (
        ArithmeticError,
        EOFError,
        LookupError,
        NotImplementedError,
        OSError,
        RecursionError,
        RuntimeError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise ModelDamagedError(f"the checkpoint {path} cannot be read: {error!s:.200}") from error
    if found != identity:
        different = sorted(
            k for k in identity.keys() | found.keys() if identity.get(k) != found.get(k)
        )
        raise InputError(
            f"the checkpoint {path} belongs to another training ({', '.join(different)} differ): "
            "delete it to start again, or name another file"
        )
    return state
