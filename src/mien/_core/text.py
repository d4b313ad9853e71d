"""Text from elsewhere: names, file names, labels; made safe for the place where it is shown.

=========== ============================================= =====================================
place       what could happen                             what is done
=========== ============================================= =====================================
terminal    escape sequences move the cursor, set the     everything that is not printed is
            title, write the clipboard; marks turn the    shown as ``\\x1b``, ``\\u202e``
            direction of writing round
csv         a cell that begins with ``= + - @`` is run    an apostrophe is put before it; as on
            as a formula by spreadsheets                  a terminal otherwise
html        tags and attributes                           ``& < > " '`` become entities; as on a
                                                          terminal otherwise
json        halves of surrogate pairs are no UTF-8        they become ``\\udc80``; nothing else
figure      ``$`` begins mathematics                      ``\\$``; as on a terminal otherwise
=========== ============================================= =====================================
"""

from __future__ import annotations

import html
import math
import unicodedata

from mien.errors import InputError

__all__ = [
    "PLACES",
    "check_name",
    "count",
    "escape_html",
    "finite_or_none",
    "safe_text",
    "skeleton",
]

_LONGEST_NAME = 200
# Letters and marks that show nothing, beside those that Unicode calls control or format.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_JOINERS = "\u200c\u200d"
# Scripts in which the two joiners are a part of spelling.
_JOINING = (
    "ARABIC",
    "BENGALI",
    "DEVANAGARI",
    "GUJARATI",
    "GURMUKHI",
    "KANNADA",
    "MALAYALAM",
    "MONGOLIAN",
    "ORIYA",
    "SINHALA",
    "TAMIL",
    "TELUGU",
)
# Letters that look like others, to the eye that reads a list of names.
_LOOKALIKES = str.maketrans(
    {
        "\u0430": "a",
        "\u0435": "e",
        "\u043e": "o",
        "\u0440": "p",
        "\u0441": "c",
        "\u0443": "y",
        "\u0445": "x",
        "\u0456": "i",
        "\u0458": "j",
        "\u0455": "s",
        "\u0501": "d",
        "\u04bb": "h",
        "\u043a": "k",
        "\u043c": "m",
        "\u0442": "t",
        "\u0432": "b",
        "\u043d": "h",
        "\u051b": "q",
        "\u051d": "w",
        "\u04cf": "l",
        "\u03bf": "o",
        "\u03b1": "a",
        "\u03bd": "v",
        "\u03b9": "i",
        "\u03ba": "k",
        "\u03c1": "p",
        "\u03c4": "t",
        "\u03c5": "u",
        "\u03c7": "x",
        "\u03b2": "b",
        "\u03b5": "e",
        "\u03b7": "n",
        "\u03b3": "y",
        "\u03c3": "o",
        "\u0131": "i",
        "\u0251": "a",
        "\u0261": "g",
        "0": "o",
        "1": "l",
        "|": "l",
    }
)


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun: "1 face", "2 faces"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def is_visible(letter: str) -> bool:
    """Whether a character shows, or is a plain space."""
    if letter == " ":
        return True
    if letter in _BLANK or "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef":
        return False
    return unicodedata.category(letter) not in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs")


def check_name(name: object) -> str:
    """A person's name in one spelling (NFC, single spaces), or an error.

    Control and invisible characters are refused: with them, many different names would read the
    same, or change what stands beside them.
    """
    if not isinstance(name, str):
        raise InputError(f"a name must be a string; got {type(name).__name__}")
    cleaned = unicodedata.normalize("NFC", str(name)).strip()
    cleaned = "".join(" " if unicodedata.category(x) == "Zs" else x for x in cleaned)
    while "  " in cleaned:
        cleaned = cleaned.replace("  ", " ")
    cleaned = cleaned.strip()
    if not cleaned or len(cleaned) > _LONGEST_NAME:
        raise InputError(f"a name has 1 to {_LONGEST_NAME} characters; got {len(cleaned)}")
    for place, letter in enumerate(cleaned):
        if is_visible(letter) or (letter in _JOINERS and _may_join(cleaned, place)):
            continue
        kind = unicodedata.name(letter, "a control or invisible character")
        raise InputError(
            f"a name must not contain control or invisible characters; {safe_text(cleaned)!r} has "
            f"U+{ord(letter):04X} ({kind.lower()})"
        )
    if not any(unicodedata.category(letter)[0] in "LNSP" for letter in cleaned):
        raise InputError(f"a name needs at least one letter or digit; got {safe_text(cleaned)!r}")
    return cleaned


def _may_join(text: str, place: int) -> bool:
    if not 0 < place < len(text) - 1:
        return False
    sides = (text[place - 1], text[place + 1])
    return all(unicodedata.name(side, "").startswith(_JOINING) for side in sides)


def skeleton(name: str) -> str:
    """What a name looks like: equal for names that the eye takes for one another."""
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_LOOKALIKES).replace("i", "l")
    return "".join(x for x in folded if is_visible(x) and x != " ").replace("rn", "m")


# ------------------------------------------------------------------------------------ places


def _for_terminal(text: str) -> str:
    shown = []
    for letter in text:
        if is_visible(letter):
            shown.append(letter)
        elif unicodedata.category(letter) == "Zs":
            shown.append(" ")
        else:
            code = ord(letter)
            shown.append(
                f"\\x{code:02x}"
                if code < 0x100
                else f"\\u{code:04x}"
                if code < 0x10000
                else f"\\U{code:08x}"
            )
    return "".join(shown)


def _for_csv(text: str) -> str:
    shown = _for_terminal(text)
    risky = text.lstrip().startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"))
    return f"'{shown}" if risky else shown


def escape_html(text: str) -> str:
    """As :func:`safe_text` for a page; lines stay lines."""
    return "\n".join(html.escape(_for_terminal(line)) for line in text.split("\n"))


def _for_json(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _for_figure(text: str) -> str:
    return _for_terminal(text).replace("\\$", "$").replace("$", r"\$")


#: Place -> how text is made safe for it.
PLACES = {
    "csv": _for_csv,
    "figure": _for_figure,
    "html": escape_html,
    "json": _for_json,
    "terminal": _for_terminal,
}


def safe_text(text: object, place: str = "terminal") -> str:
    """Any text from elsewhere, so that it can only be read at the place where it is shown.

    Parameters
    ----------
    text : object
        A name, a path, a label; anything else is turned into a string first.
    place : {"terminal", "csv", "html", "json", "figure"}
        Where it will stand.

    Examples
    --------
    >>> print(safe_text("Ann\\x1b]52;c;AAAA\\x07"))
    Ann\\x1b]52;c;AAAA\\x07
    >>> safe_text('=HYPERLINK("x")', "csv")
    '\\'=HYPERLINK("x")'
    >>> safe_text("<b>$x$", "html"), safe_text("<b>$x$", "figure")
    ('&lt;b&gt;$x$', '<b>\\\\$x\\\\$')
    """
    return PLACES[place](str(text))


def finite_or_none(value: float) -> float | None:
    """A number that JSON can hold: None where it is infinite or not a number."""
    return float(value) if math.isfinite(value) else None
