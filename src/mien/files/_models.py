"""Model files: arrays and JSON with a format number and a digest, never a pickle.

A model file is a `safetensors` file, so any tool that reads that format can list its arrays. Its
metadata hold one JSON document (format, class by registered name, parameters, fitted state with
references to the arrays) and the SHA-256 of the whole file. Reading never runs anything from the
file: structure, sizes and digest are checked first, then classes are looked up in
:data:`REGISTRY`, the statement of each class is checked, and only then is it constructed with its
parameters and given its fitted attributes.
"""

from __future__ import annotations

import io
import json
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any

from mien._core.atomic import atomic_path
from mien.errors import (
    InputError,
    MienWarning,
    ModelDamagedError,
    ModelFileError,
    ModelFormatError,
)
from mien.files._container import (
    Container,
    open_model_file,
    read_container,
    write,
    write_bytes,
)
from mien.files._decode import FORMAT, Decoder, consistency
from mien.files._encode import Encoder

__all__ = [
    "check_replaceable",
    "describe",
    "is_model_file",
    "load",
    "load_bytes",
    "save",
    "save_bytes",
]

_LOOKED_AT = 2**20


def save(model: Any, path: str | Path) -> Path:
    """Write a fitted model, or a pipeline of registered estimators, to one file.

    Parameters
    ----------
    model : estimator
        Any estimator of mien, or one of scikit-learn that :data:`REGISTRY` names.
    path : str or Path
        Where to. An existing model file is replaced atomically; anything else
        is not overwritten; the file is readable by its owner only.

    Returns
    -------
    Path
        The path, for chaining.

    Examples
    --------
    >>> import numpy as np, tempfile, mien
    >>> from sklearn.preprocessing import StandardScaler
    >>> scaler = StandardScaler().fit(np.arange(6.0).reshape(3, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = mien.load(mien.save(scaler, f"{folder}/scaler.mien"))
    >>> bool(np.all(again.mean_ == scaler.mean_))
    True
    """
    arrays, text = _encode(model)
    target = check_replaceable(path)
    with atomic_path(target, private=True) as temporary:
        write(temporary, arrays, text)
    return target


def check_replaceable(path: str | Path) -> Path:
    """Refuse a place where something other than a model file stands, before any work is done."""
    target = Path(path)
    if os.path.isfile(target) and target.stat().st_size and not is_model_file(target):
        raise InputError(
            f"{str(path)!r} exists and is not a model file: write to another file, or remove it "
            "first"
        )
    return target


def is_model_file(path: Path) -> bool:
    """Whether a file looks like one that :func:`save` wrote; only its beginning is read."""
    try:
        with open_model_file(path) as file:
            start = file.read(_LOOKED_AT)
    except (OSError, ModelFileError):
        return False
    return start[8:9] == b"{" and b"mien." in start


def save_bytes(model: Any) -> bytes:
    """What :func:`save` would write, for a file that holds more than a model."""
    return write_bytes(*_encode(model))


def _encode(model: Any) -> tuple[dict[str, Any], str]:
    if not hasattr(model, "get_params") and not hasattr(model, "to_arrays"):
        raise InputError(f"only estimators can be saved; got {type(model).__name__}")
    encoder = Encoder()
    document = {
        "format": FORMAT,
        "versions": _versions(),
        "object": encoder.encode(model, "model"),
    }
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return encoder.arrays, text


def load(path: str | Path, *, max_bytes: int = 16 * 2**30) -> Any:
    """Read a model file, after checking all of it.

    Parameters
    ----------
    path : str or Path
        A file that :func:`save` wrote.
    max_bytes : int
        Refuse larger files. Beside its arrays a file may take 512 MiB of memory and sixteen times
        its size.

    Returns
    -------
    estimator
        With the parameters and the fitted attributes that were saved, bit for bit.

    Raises
    ------
    MissingDataError
        No file is there.
    ModelFormatError
        The file is not a model file, or of a newer format, or holds a class we do not know.
    ModelDamagedError
        It is a model file, and truncated, altered or inconsistent.
    """
    with open_model_file(Path(path)) as file:
        return _read(file, str(path), max_bytes)


def load_bytes(content: bytes, name: str, *, max_bytes: int = 2**30) -> Any:
    """Read what :func:`save_bytes` gave, after the same checks as :func:`load`.

    Parameters
    ----------
    content : bytes
        A whole model file.
    name : str
        Where it comes from, for errors.
    max_bytes : int
        Refuse more.
    """
    return _read(io.BytesIO(content), name, max_bytes)


def _read(file: io.BufferedIOBase, where: str, max_bytes: int) -> Any:
    container = read_container(file, where, max_bytes)
    document = _read_document(file, container)
    decoder = Decoder(where, container.arrays(), container.size, document["format"])
    with consistency(where):
        model = decoder.decode(document["object"], 0)
        if not hasattr(model, "get_params") and not hasattr(model, "to_arrays"):
            raise ModelDamagedError(f"{where}: it holds a {type(model).__name__}, not a model")
        if document["format"] < FORMAT:
            # What was brought to today's format must be what could be written today.
            Encoder().encode(model, "model")
    if decoder.unused():
        raise ModelDamagedError(f"{where}: {decoder.unused()} arrays belong to nothing")
    if decoder.foreign:
        _warn_of_versions(where, document.get("versions"))
    return model


def describe(path: str | Path, *, max_bytes: int = 16 * 2**30) -> dict[str, Any]:
    """Say what a model file holds, without building the model.

    Returns
    -------
    dict
        ``class``, ``format``, ``versions``, ``n_arrays``, ``bytes`` and ``sha256``.
    """
    with open_model_file(Path(path)) as file:
        container = read_container(file, str(path), max_bytes)
        document = _read_document(file, container)
    tree = document["object"]
    return {
        "class": tree.get("class", "?") if isinstance(tree, dict) else "?",
        "format": document["format"],
        "versions": document.get("versions", {}),
        "n_arrays": len(container.entries),
        "bytes": container.size,
        "sha256": container.digest,
    }


def _read_document(file: io.BufferedIOBase, container: Container) -> dict[str, Any]:
    container.check_digest(file)
    path = container.where
    try:
        document = json.loads(container.document)
        version = document["format"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelDamagedError(f"{path}: the description of the model is not readable") from error
    if type(version) is not int or version < 1:
        raise ModelFormatError(f"{path} has the format {version!r:.40}; formats are whole numbers")
    if version > FORMAT:
        raise ModelFormatError(
            f"{path} has the format {version}, and this mien reads up to {FORMAT}: "
            "upgrade mien to read it"
        )
    if "object" not in document:
        raise ModelDamagedError(f"{path}: the description names no model")
    return dict(document)


@cache
def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("mien", "numpy", "scikit-learn")}


def _warn_of_versions(path: str, versions: Any) -> None:
    written = versions.get("scikit-learn") if isinstance(versions, dict) else None
    here = _versions()["scikit-learn"]
    if written != here:
        warnings.warn(
            f"{path} holds estimators of scikit-learn {written}, and {here} is installed: "
            "check the results before you trust them",
            MienWarning,
            stacklevel=3,
        )
