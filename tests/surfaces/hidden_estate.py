"""An estate with pages that only some may see, and the same estate without them."""

from pathlib import Path

from tests.application import write_estate

MARK = "zircon"
"""Stands in everything that is hidden, and in nothing else."""

CLASS = "staff"

_SHOWN = {
    "install.md": """---
title: Install the tool
uid: install
products: [tool]
ms.topic: how-to
---
# Install the tool

Put the tool on your path. The [plan](secret/plan.md) says more.

```python
client = open_tool()
client.install()
client.close()
```
""",
    "query.md": """---
title: Query the graph
uid: query
products: [tool, graph]
ms.topic: concept
---
# Query the graph

## Prerequisites

- [Install the tool](install.md)

A query of the graph has a deadline.
""",
    "course/index.yml": """### YamlMime:Module
uid: course.first
title: First steps
summary: Begin with the tool.
abstract: |
  - Install the tool
units:
- course.first.unit
""",
    "course/unit.yml": """### YamlMime:ModuleUnit
uid: course.first.unit
title: Begin
durationInMinutes: 3
content: |
  Begin with the tool and its graph.
""",
}

_HIDDEN = {
    "secret/plan.md": f"""---
title: The {MARK} plan of the tool
uid: secret.{MARK}
products: [tool, {MARK}-product]
role: {MARK}-role
ms.topic: {MARK}-topic
level: advanced
---
# The {MARK} plan of the tool

The tool and the graph will be made of {MARK}. See [how to install the tool](../install.md) and [query](../query.md).

```python
{MARK}_client = open_tool()
{MARK}_client.install()
{MARK}_client.close()
```
""",
    "secret/query.de.md": f"""---
title: Zirkon {MARK}
uid: secret.{MARK}.other
---
# Install the tool with {MARK}

Query the graph with {MARK}. First [the plan](plan.md).
""",
    f"secret/{MARK}-course/index.yml": f"""### YamlMime:Module
uid: secret.{MARK}.course
title: The {MARK} course of the tool
summary: Steps with {MARK}.
abstract: |
  - Install the tool
  - Smelt {MARK}
products:
- {MARK}-product
units:
- secret.{MARK}.unit
""",
    f"secret/{MARK}-course/unit.yml": f"""### YamlMime:ModuleUnit
uid: secret.{MARK}.unit
title: A {MARK} unit
durationInMinutes: 7
content: |
  The tool, the graph and {MARK}.
""",
    "cogitave-query.yml": f"""visibility:
  rules:
  - files: secret/**
    visibleTo: [{CLASS}]
""",
}


def write_whole(root: Path) -> Path:
    """Everything, and the rule that hides a part of it."""
    return write_estate(root, _SHOWN | _HIDDEN)


def write_shown(root: Path) -> Path:
    """What is left when the hidden part was never written."""
    return write_estate(root, _SHOWN)
