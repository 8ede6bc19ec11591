"""An estate that is published again and again, and says in each of its texts which printing it is of.

Whatever one answer quotes must therefore be of one printing, and no answer to a reader who is not `CLASS` holds `MARK`.
"""

import re
from pathlib import Path

MARK = "zircon"
CLASS = "staff"
BULLETINS = 6
PRINTING = re.compile(r"\bprinting (\d+)")

_RULES = f"""visibility:
  default: "*"
  rules:
  - files: ["internal/**"]
    visibleTo: [{CLASS}]
"""


def write_printing(root: Path, printing: int) -> None:
    """Every page says `printing N`; one page is new, and that of two printings ago is gone."""
    (root / "internal").mkdir(parents=True, exist_ok=True)
    (root / "cogitave-query.yml").write_text(_RULES)
    for number in range(1, BULLETINS + 1):
        following = number % BULLETINS + 1
        (root / f"bulletin-{number}.md").write_text(_bulletin(number, following, printing))
    (root / "internal" / "note.md").write_text(_note(printing))
    (root / f"passing-{printing}.md").write_text(
        f"---\nuid: passing.{printing}\ntitle: In passing\n---\n\nIt passes.\n"
    )
    (root / f"passing-{printing - 2}.md").unlink(missing_ok=True)


def _bulletin(number: int, following: int, printing: int) -> str:
    return f"""---
uid: bulletin.{number}
title: Bulletin {number} of printing {printing}
description: The bulletin of printing {printing}.
products: [cogitave-query]
ms.topic: concept
---
# Bulletin {number} of printing {printing}

What the bulletin says is of printing {printing}. The [next bulletin](bulletin-{following}.md) follows, and so does the
[note](internal/note.md).

## How a bulletin is published

A bulletin is published while others are read. Its rank, its snapshot and its passages are of printing {printing}.

```python
bulletin = open_bulletin({number})
bulletin.publish("printing {printing}")
bulletin.close()
```
"""


def _note(printing: int) -> str:
    return f"""---
uid: bulletin.{MARK}
title: A {MARK} note of printing {printing}
products: [{MARK}-product]
---
# A {MARK} note of printing {printing}

This note on the bulletin is of printing {printing}, and only for {CLASS}. See [the first](../bulletin-1.md).
"""
