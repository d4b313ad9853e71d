"""The demo's section on committees."""

from __future__ import annotations

from mien.datasets import make_faces
from mien.demo import DemoData
from mien.demo._committee import show_committee


def test_demo_section() -> None:
    from mien.reports import Report

    faces = make_faces(12, 8, 24, random_state=0)
    report, data = Report("demo"), DemoData(faces, make_faces(4, 3, 24, random_state=1))
    show_committee(data, report)
    kinds = [part["kind"] for part in report.to_dict()["parts"]]
    assert {"table", "figure"} <= set(kinds)
    assert data.summary[0]["measure"] == "named rightly"
