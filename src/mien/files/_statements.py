"""What a file may hold of each registered class: types, shapes in terms of each other, ranges.

Compiled code and linear algebra trust fitted attributes. So nothing is loaded whose statement does
not hold or is not there, and nothing is saved that could not be loaded again. The words are those
of ``_vocabulary``; a letter means one number in the whole statement of a class.
"""

from __future__ import annotations

from mien.files._statements_completion import COMPLETION
from mien.files._statements_learners import LEARNERS
from mien.files._statements_people import PEOPLE
from mien.files._statements_sklearn import SKLEARN
from mien.files._vocabulary import Statement

__all__ = ["STATEMENTS"]

STATEMENTS: dict[str, Statement] = COMPLETION | LEARNERS | PEOPLE | SKLEARN
