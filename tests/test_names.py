"""One name is one idea: what may be defined in two files, and that no function is written twice."""

from __future__ import annotations

from benchmarks.counts import explain_shared_name, find_repeated_functions, find_shared_names


def test_a_public_name_is_defined_once() -> None:
    unexplained = {
        name: files
        for name, files in find_shared_names().items()
        if not explain_shared_name(name, files)
    }
    assert unexplained == {}, "rename one of them, or import it from the other"


def test_one_verb_may_stand_at_several_storeys() -> None:
    verb = ["cli/_people.py", "service/_routes_people.py", "gallery/_row_people.py"]
    assert explain_shared_name("rename_person", verb) == "storeys"
    dialects = ["service/_routes_people.py", "service/_deepstack.py"]
    assert explain_shared_name("list_faces", dialects) == "storeys"
    assert explain_shared_name("count", ["_core/text.py", "files/_vocabulary.py"]) == ""
    twice = ["service/_routes_people.py", "service/_routes_view.py"]
    assert explain_shared_name("find_person", twice) == ""


def test_no_function_is_written_twice() -> None:
    assert find_repeated_functions() == []
