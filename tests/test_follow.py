"""Tutorials are followed to the letter: what a page shows is what a run of it gave."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image

from tools.follow import follow

PAGE = """# A page

You read this.

```sh
echo "two  "
echo words
```

```text
something old
```

```python
from PIL import Image

wide = 2000
```

```python
Image.new("RGBA", (wide, 100)).save("drawn.png")
print(wide)
```

```text
```

<!-- made: drawn.png -->
![A picture](pictures/drawn.jpg)
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash runs the commands")


def test_outputs_pictures_and_time_are_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    outcome = follow(page, write=True)
    assert (outcome.failed, outcome.blocks) == ("", 3)
    text = page.read_text(encoding="utf-8")
    assert "```text\ntwo\nwords\n```" in text
    assert "```text\n2000\n```" in text
    assert text.startswith("# A page\n\n*Followed to the letter in a fresh environment (")
    with Image.open(tmp_path / "pictures" / "drawn.jpg") as picture:
        assert picture.size == (1000, 50)
    follow(page, write=True)  # the time is replaced, not added
    assert page.read_text(encoding="utf-8").count("*Followed to the letter") == 1


def test_a_page_that_fails_stays_as_it_is(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    broken = PAGE.replace("echo words", "exit 3")
    page.write_text(broken, encoding="utf-8")
    outcome = follow(page, write=True)
    assert outcome.failed.startswith("line 5: exit 3")
    assert page.read_text(encoding="utf-8") == broken


def test_a_picture_that_was_not_made_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("made: drawn.png", "made: other.png"), encoding="utf-8")
    with pytest.raises(SystemExit, match=r"other\.png, which the commands did not write"):
        follow(page, write=True)
