"""A Sphinx extension: formulas become MathML, which browsers draw without a script or a network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)


def to_mathml(formula: str, block: bool) -> str:
    """LaTeX as MathML; sizes of brackets are the browser's, ``\\frac12`` gets its braces."""
    formula = re.sub(r"\\[bB]igg?[lr]?(?![a-zA-Z])", "", formula)
    formula = re.sub(r"\\([td]?frac)\s*(\d)\s*(\d)", r"\\\1{\2}{\3}", formula)
    return str(tex2mathml(formula, as_block=block))


def _visit(translator: Any, node: nodes.Element, block: bool) -> None:
    try:
        shown = to_mathml(node.astext(), block)
    except (MathError, AttributeError, IndexError, TypeError, ValueError) as error:
        _log.warning("a formula is not understood: %s", error, location=node, type="math")
        shown = f"<code>{translator.encode(node.astext())}</code>"
    tag = "div" if block else "span"
    translator.body.append(f'<{tag} class="math">{shown}</{tag}>')
    raise nodes.SkipNode


def _visit_inline(translator: Any, node: nodes.Element) -> None:
    _visit(translator, node, block=False)


def _visit_block(translator: Any, node: nodes.Element) -> None:
    _visit(translator, node, block=True)


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer; ``html_math_renderer = "mathml"`` chooses it."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
