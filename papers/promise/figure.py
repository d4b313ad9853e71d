"""Reliability diagrams of all domains of an engine, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["draw_panels"]

_SHOWN = {"before": "#999999", "own": "#0072b2", "own and unnamed": "#d55e00"}
_LOWEST = 1e-3
_COLUMNS = 4


def draw_panels(parts: Sequence[dict[str, Any]], engine: str) -> Any:
    """One panel a domain: stated and realised shares of strangers who are named.

    Parameters
    ----------
    parts : list of dict
        Of a report of this paper, as plain values.
    engine : str
        Whose domains.

    Returns
    -------
    matplotlib.figure.Figure
        The grey band is within a factor of two.
    """
    from matplotlib.figure import Figure

    mine = [
        part
        for part in parts
        if part["kind"] == "figure" and part["caption"].startswith(f"{engine} ")
    ]
    rows = -(-len(mine) // _COLUMNS)
    figure = Figure(figsize=(2.5 * _COLUMNS, 2.5 * rows), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for panel, part in zip(panels, mine, strict=False):
        for line in part["series"]:
            x, y = np.asarray(line["x"]), np.maximum(line["y"], _LOWEST)
            if line["name"] == "as stated":
                panel.fill_between(x, x / 2, x * 2, color="#dddddd", linewidth=0)
            elif line["name"] in _SHOWN:
                colour = _SHOWN[line["name"]]
                panel.plot(x, y, "o-", color=colour, markersize=3, label=line["name"])
        panel.set(xscale="log", yscale="log", ylim=(_LOWEST * 0.8, 1.2))
        domain, setting = part["caption"].removeprefix(f"{engine} ").split(": ")
        panel.set_title(f"{domain}\n{setting}", fontsize=8)
    for panel in panels[len(mine) :]:
        panel.set_visible(False)
    panels[0].legend(fontsize=7)
    figure.supxlabel("stated share of strangers named", fontsize=9)
    figure.supylabel("realised", fontsize=9)
    return figure
