"""Files of photographs, and the same with the covered parts of faces completed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mien._core.progress import track
from mien._core.types import PathLike
from mien.errors import InputError, MienError, MissingDataError
from mien.faces import load_engine
from mien.files import load
from mien.media import check_output, find_pictures, gather_media, write_image
from mien.recognition._complete import complete

__all__ = ["complete_files", "name_targets"]


def name_targets(source: Path, out: Path) -> tuple[list[Path], list[Path]]:
    """Files to read and files to write."""
    if not source.is_dir():
        return [source], [out]
    files = [file for file in find_pictures(source) if out not in file.parents]
    if not files:
        raise InputError(f"there are no pictures in {source}")
    out.mkdir(parents=True, exist_ok=True)
    names = ["-".join(file.relative_to(source).with_suffix("").parts) for file in files]
    return files, [out / f"{name}.png" for name in names]


def complete_files(
    source: PathLike,
    out: PathLike,
    *,
    cover: str = "auto",
    model: PathLike | None = None,
    engine: str = "sface",
    completed: PathLike | None = None,
    same: Sequence[PathLike] = (),
) -> dict[str, Any]:
    """Complete what is covered of the faces in photographs.

    Parameters
    ----------
    source : path
        A photograph or a folder of them.
    out : path
        Picture to write (original, covered part, result) for one, folder for a folder.
    cover, model : str, path or None
        As in :func:`mien.recognition.complete`.
    engine : {"sface", "dlib", "sface+dlib"}
        Finds the faces.
    completed : path or None
        Where to write the completed photographs alone.
    same : sequence of path
        Other photographs of the person, or folders of them; a photograph never completes itself.

    Returns
    -------
    dict
        ``written``, and ``pictures`` with boxes and shares covered, or an ``error`` each.
    """
    source = Path(source)
    files, targets = name_targets(source, Path(out))
    alone = None if completed is None else name_targets(source, Path(completed))[1]
    for target in [*targets, *(alone or [])]:
        check_output(target, files)
    others = gather_media(same).pictures if same else []
    if same and not others:
        raise MissingDataError(f"there is no picture in {str(same[0])!r}")
    completer = None if model is None else load(Path(model))
    finder = load_engine(engine)
    written: list[str] = []
    pictures: list[dict[str, Any]] = []
    for n, file in enumerate(track(files, "completing", len(files))):
        try:
            mine = [other for other in others if not other.samefile(file)]
            done = complete(file, cover=cover, model=completer, engine=finder, same=mine)
        except MienError as error:
            if not source.is_dir():
                raise
            pictures.append({"file": str(file), "error": f"{file}: {error}"})
            continue
        write_image(targets[n], done.draw())
        written.append(str(targets[n]))
        if alone is not None:
            write_image(alone[n], done.image)
            written.append(str(alone[n]))
        pictures.append(done.to_dict())
    return {"written": written, "pictures": pictures}
