"""Review: the next questions about people, and answers that are kept for good."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from mien.gallery import Gallery, Person
from mien.recognition import (
    Adaptation,
    PersonQuestion,
    adapt_to,
    ask_gallery,
    is_placeholder,
    sample_people,
)
from mien.service._access import backend_of, require
from mien.service._backend import Tenant
from mien.service._idempotency import WriteRoute, begun_before, refuse_if_unsure
from mien.service._problems import Problem
from mien.service._routes_people import find_person
from mien.service._schemas_page import (
    AdaptationModel,
    AnswersModel,
    QuestionList,
    ReviewAnswered,
)

__all__ = ["router"]

router = APIRouter(prefix="/v1/galleries/{gallery}", tags=["review"], route_class=WriteRoute)
_AHEAD = 5
_SHOWN = 5
_LEAST_GAIN = 0.02


class Answer(BaseModel):
    """What somebody says about two people."""

    model_config = ConfigDict(extra="forbid")

    a: int
    b: int
    answer: Literal["same", "different", "not-sure"] = Field(examples=["same"])


class Accepted(BaseModel):
    """Which adaptation is meant."""

    model_config = ConfigDict(extra="forbid")

    token: str = Field(max_length=100)


@router.get("/review", summary="The next questions", response_model=QuestionList)
async def list_questions(request: Request, gallery: str) -> dict[str, Any]:
    """Pairs of people who may be one, the most useful question first."""
    require(request, "read", gallery)
    tenant = backend_of(request).tenant(gallery)
    return {"questions": await tenant.run(_questions, tenant)}


def _questions(tenant: Tenant) -> list[dict[str, Any]]:
    gallery = tenant.gallery
    found = []
    for question in ask_gallery(gallery, _AHEAD):
        a, b = gallery.get_person(question.a), gallery.get_person(question.b)
        if question.gain >= _LEAST_GAIN and a is not None and b is not None:
            found.append(_show(gallery, question, a, b))
    return found


def _show(gallery: Gallery, question: PersonQuestion, a: Person, b: Person) -> dict[str, Any]:
    return {
        "a": _side(gallery, a),
        "b": _side(gallery, b),
        "log_ratio": round(question.log_ratio, 3),
        "probability": round(question.probability, 4),
        "gain": round(question.gain, 4),
        "faces": min(a.templates, b.templates),
    }


def _side(gallery: Gallery, person: Person) -> dict[str, Any]:
    faces = gallery.faces(person.name, limit=40)
    best = sorted(faces, key=lambda face: -(face.quality or 0))
    return {
        "id": person.number,
        "name": person.name,
        "count": person.templates,
        "faces": [face.id for face in best[:_SHOWN]],
    }


@router.post("/review", summary="Answer a question", response_model=ReviewAnswered)
async def answer_question(request: Request, gallery: str, given: Answer) -> dict[str, Any]:
    """Kept for good; ``changes`` are the numbers by which it can be undone, last first."""
    require(request, "write", gallery)
    tenant = backend_of(request).tenant(gallery)
    return await tenant.run(_answer, tenant, given, begun_before(request))


def _answer(tenant: Tenant, given: Answer, begun: bool) -> dict[str, Any]:
    gallery = tenant.gallery
    if begun and None in (gallery.get_person(given.a), gallery.get_person(given.b)):
        return {"changes": [], "questions": _questions(tenant)}  # they were merged already
    a, b = find_person(gallery, given.a), find_person(gallery, given.b)
    first, second = (_best_face(gallery, one) for one in (a, b))
    before = _last_change(gallery)
    kind = {"same": "same-person", "different": "different-people", "not-sure": "not-sure"}
    gallery.add_constraint(kind[given.answer], first, other=second)
    if given.answer == "same":
        keep, gone = _order(a, b)
        gallery.merge(gone.name, keep.name)
    made = [one.number for one in gallery.history(5) if one.number > before and one.undone is None]
    return {"changes": sorted(made), "questions": _questions(tenant)}


def _last_change(gallery: Gallery) -> int:
    history = gallery.history(1)
    return history[0].number if history else 0


def _best_face(gallery: Gallery, person: Person) -> str:
    faces = gallery.faces(person.name, limit=40)
    if not faces:
        raise Problem(409, "no-face", "One of the two people no longer has any faces.")
    return max(faces, key=lambda face: face.quality or 0).id


def _order(a: Person, b: Person) -> tuple[Person, Person]:
    """Who stays and who is merged: a name stays, then the one with more faces."""
    rank = [(not is_placeholder(one.name), one.templates) for one in (a, b)]
    return (a, b) if rank[0] >= rank[1] else (b, a)


@router.post(
    "/adaptation",
    summary="Try to adapt the model to the people of the gallery",
    response_model=AdaptationModel,
)
async def try_adaptation(request: Request, gallery: str) -> dict[str, Any]:
    """Before and after, on people held out; nothing changes until it is accepted."""
    require(request, "write", gallery)
    tenant = backend_of(request).tenant(gallery)

    def work() -> Adaptation:
        return adapt_to(tenant.gallery.model, *sample_people(tenant.gallery), [])

    found = await tenant.run(work)
    token = secrets.token_urlsafe(16)
    tenant.notes["adaptation"] = token, found
    rows = found.rows()
    shown = []
    if len(rows) == 2:
        for name in rows[0]:
            if name != "verifier":
                before, after = (_number(row[name]) for row in rows)
                shown.append({"name": name, "before": before, "after": after})
    return {"token": token, "rows": shown, "moved": found.moved, "people": found.people,
            "pictures": found.pictures, "warnings": found.warnings}  # fmt: skip


def _number(value: Any) -> str:
    return f"{value['value'] if isinstance(value, dict) else value:.3f}"


@router.put("/adaptation", summary="Use the adapted model", status_code=204)
async def accept_adaptation(request: Request, gallery: str, wanted: Accepted) -> None:
    """The model before it is kept; ``DELETE`` goes back to it."""
    require(request, "write", gallery)
    tenant = backend_of(request).tenant(gallery)
    held = tenant.notes.get("adaptation")
    if held is None or not secrets.compare_digest(held[0], wanted.token):
        raise Problem(409, "no-adaptation", "Try it again: the people have changed since.")
    await tenant.run(tenant.gallery.set_model, held[1].model)
    del tenant.notes["adaptation"]


@router.delete("/adaptation", summary="Go back to the model before", status_code=204)
async def revert_adaptation(request: Request, gallery: str) -> None:
    """As ``mien adapt --revert``; once more returns to the present one."""
    require(request, "write", gallery)
    refuse_if_unsure(request)
    tenant = backend_of(request).tenant(gallery)
    await tenant.run(tenant.gallery.revert_model)


@router.get("/answers", summary="Everything that was answered", response_model=AnswersModel)
async def list_answers(request: Request, gallery: str) -> Response:
    """As a file: pictures by their SHA-256, the number of the face, people by name."""
    require(request, "read", gallery)
    tenant = backend_of(request).tenant(gallery)
    found = await tenant.run(tenant.gallery.constraints)
    content = json.dumps({"answers": [asdict(one) for one in found]}, ensure_ascii=False, indent=1)
    return Response(
        content, media_type="application/json",
        headers={"content-disposition": 'attachment; filename="answers.json"'},
    )  # fmt: skip
