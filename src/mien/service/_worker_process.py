"""The worker's end of the pipe: decode a picture, find the faces, say what they are."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import sys
from typing import Any, BinaryIO

from mien.service._processes import frame

__all__ = ["main"]


def main() -> None:
    """Answer questions until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not look like an answer
    questions = sys.stdin.buffer
    first = _read(questions)
    if first is None:
        return
    settings, _ = first
    _limit_memory(int(settings["worker_bytes"]))
    from mien.faces import set_threads

    engines = _Engines()
    engines.get(settings["engine"])
    _write(answers, {"ready": True}, b"")
    while (question := _read(questions)) is not None:
        header, payload = question
        try:
            set_threads(header["threads"])
            work = _TASKS[header.get("task", "analyse")]
            said, content = work(engines, header, payload)
        except MemoryError:
            said, content = _problem(422, "picture-too-large", "The picture needs too much memory.")
        except Exception as error:
            said, content = _explain(error)
        _write(answers, said, content)


def _limit_memory(n_bytes: int) -> None:
    """Cap the address space, where the system can; what the engines hold comes on top."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _read(pipe: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    length = pipe.read(4)
    if len(length) < 4:
        return None
    header = json.loads(pipe.read(struct.unpack(">I", length)[0]))
    return header, pipe.read(header["payload"])


def _write(pipe: BinaryIO, header: dict[str, Any], payload: bytes) -> None:
    for piece in frame(header, payload):
        pipe.write(piece)
    pipe.flush()


def _problem(status: int, code: str, detail: str) -> tuple[dict[str, Any], bytes]:
    return {"problem": {"status": status, "code": code, "detail": detail}}, b""


def _explain(error: Exception) -> tuple[dict[str, Any], bytes]:
    from mien.errors import ImageError, MienError

    if isinstance(error, ImageError):
        return _problem(422, "unreadable-picture", str(error))
    if isinstance(error, MienError):
        return _problem(422, "invalid-input", str(error))
    return _problem(422, "unreadable-picture", "The picture cannot be analysed.")


class _Engines:
    """Engines by name, each loaded once."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        if name not in self._loaded:
            from mien.faces import load_engine

            self._loaded[name] = load_engine(name)
        return self._loaded[name]


def _answer(
    engines: _Engines, header: dict[str, Any], payload: bytes
) -> tuple[dict[str, Any], bytes]:
    """Faces of one picture: what is said about each, and all vectors one after the other."""
    import numpy as np

    from mien.faces import analyse_image
    from mien.media import decode_image

    image = decode_image(payload, repr(header["name"]), colour=True)
    found = analyse_image(
        image,
        engines.get(header["engine"]),
        max_faces=header["max_faces"],
    )
    faces = []
    for one in found:
        quality = one.quality
        faces.append(
            {
                "box": [float(value) for value in one.face.box],
                "landmarks": [[float(x), float(y)] for x, y in one.face.landmarks],
                "confidence": float(one.face.confidence),
                "quality": None if quality is None else _plain(quality),
            }
        )
    vectors = np.stack([one.vector for one in found]) if found else np.zeros((0, 0))
    content = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
    said = {
        "digest": hashlib.sha256(payload).hexdigest(),
        "height": int(image.shape[0]),
        "width": int(image.shape[1]),
        "faces": faces,
        "vector_bytes": len(content),
    }
    return said, content


def _complete(
    engines: _Engines, header: dict[str, Any], payload: bytes
) -> tuple[dict[str, Any], bytes]:
    """The picture with the covered parts of its faces completed, as PNG."""
    from mien.media import decode_image, encode_png
    from mien.recognition import complete

    image = decode_image(payload, repr(header["name"]), colour=True)
    done = complete(image, cover=header["cover"], engine=engines.get(header["engine"]))
    said = done.to_dict()
    return {"completed": said["completed"], "faces": said["faces"]}, encode_png(done.image)


def _convert(
    engines: _Engines, header: dict[str, Any], payload: bytes
) -> tuple[dict[str, Any], bytes]:
    """A picture, or a part of it, as a JPEG that any browser shows."""
    from mien.media import decode_image, encode_jpeg

    image = decode_image(payload, repr(header["name"]), colour=True)
    height, width = image.shape[:2]
    if header.get("part") is not None:
        left, top, across, down = header["part"]
        image = image[
            max(0, int(top)) : int(top + down) + 1, max(0, int(left)) : int(left + across) + 1
        ]
        if min(image.shape[:2]) < 8:
            return _problem(422, "no-face", "The part of the picture is too small.")
    content = encode_jpeg(image, quality=header["quality"], max_side=header["max_side"])
    return {"height": height, "width": width}, content


def _plain(quality: Any) -> dict[str, float]:
    """Numbers of a quality record, by name; what is unknown is left out."""
    names = [*getattr(quality, "__dataclass_fields__", {}), "score"]
    values = {name: getattr(quality, name, None) for name in names}
    return {name: float(value) for name, value in values.items() if value is not None}


_TASKS = {"analyse": _answer, "complete": _complete, "jpeg": _convert}
