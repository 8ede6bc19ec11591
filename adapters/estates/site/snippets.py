"""Parts of source files: `#region Name`, `// <Name> … // </Name>`, or lines `2-5,8-`."""

_COMMENTS = ("//", "#", "--", "'", ";", "%", "/*", "<!--", "REM", "@*", "(*", '"""')
_REGION_MARKERS = ("#region", "#endregion", "#pragma region", "#pragma endregion", "#end region")
_MAX_LINES = 2_000


class SnippetMissing(Exception):
    """The file has no such part."""


def cut_snippet(text: str, part: str) -> str:
    """The lines that `part` names, dedented; the whole file where it names none. Raises SnippetMissing."""
    lines = text.split("\n")
    if not part:
        chosen = [line for line in lines if not _is_marker(line)]
    elif _is_range(part):
        chosen = _range(lines, part)
    else:
        chosen = _region(lines, part)
    if not any(line.strip() for line in chosen):
        raise SnippetMissing(f"there is no code under '{part}'")
    return _dedent(chosen[:_MAX_LINES])


def _is_range(part: str) -> bool:
    return all(character.isdigit() or character in "L-, " for character in part) and any(map(str.isdigit, part))


def _range(lines: list[str], part: str) -> list[str]:
    chosen: list[str] = []
    for stretch in part.replace("L", "").split(","):
        first, dash, last = stretch.strip().partition("-")
        start = int(first) if first else 1
        end = (int(last) if last else len(lines)) if dash else start
        chosen.extend(lines[max(start, 1) - 1 : min(end, len(lines))])
    return chosen


def _region(lines: list[str], name: str) -> list[str]:
    wanted = name.strip().lower()
    chosen: list[str] = []
    depth = 0
    inside = False
    for line in lines:
        bare = line.strip()
        lowered = bare.lower()
        if inside:
            if lowered.startswith(("#region", "#pragma region")):
                depth += 1
            elif lowered.startswith(("#endregion", "#pragma endregion", "#end region")):
                if depth == 0:
                    return chosen
                depth -= 1
            if _tag(bare) == "/" + wanted:
                return chosen
            if not _is_marker(line):
                chosen.append(line)
        elif _tag(bare) == wanted or _region_name(lowered) == wanted:
            inside = True
    if not inside:
        raise SnippetMissing(f"there is no region '{name}'")
    return chosen


def _region_name(lowered: str) -> str | None:
    for word in ("#region", "#pragma region"):
        if lowered.startswith(word):
            return lowered[len(word) :].strip().strip('"')
    return None


def _tag(bare: str) -> str | None:
    """`// <Name>` → `name`, `// </Name>` → `/name`."""
    for comment in _COMMENTS:
        if bare.startswith(comment):
            rest = bare[len(comment) :].strip().removesuffix("*/").removesuffix("-->").strip()
            if rest.startswith("<") and rest.endswith(">") and " " not in rest:
                return rest[1:-1].lower()
    return None


def _is_marker(line: str) -> bool:
    bare = line.strip()
    lowered = bare.lower()
    return _tag(bare) is not None or lowered.startswith(
        ("#region", "#endregion", "#pragma region", "#pragma endregion")
    )


def _dedent(lines: list[str]) -> str:
    expanded = [line.expandtabs(4) for line in lines]
    while expanded and not expanded[0].strip():
        expanded.pop(0)
    while expanded and not expanded[-1].strip():
        expanded.pop()
    indents = [len(line) - len(line.lstrip()) for line in expanded if line.strip()]
    margin = min(indents, default=0)
    return "\n".join(line[margin:].rstrip() for line in expanded)
