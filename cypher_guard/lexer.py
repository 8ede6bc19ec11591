"""Text to tokens: one master expression, one pass, nothing read twice.

Neo4j decodes `\\uXXXX` before it reads tokens, so the escape could close a string or a comment there that is
open here. It is decoded here inside strings, and only to characters that cannot end one; everywhere else a
backslash is refused. A carriage return ends a line comment, as it does in Neo4j.
"""

import re
from dataclasses import dataclass

from cypher_guard.violation import Refusal

END = "end"
QUOTED = "quoted"
WORD = "word"

# Characters beyond ASCII that Neo4j takes as white space between tokens.
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
# In a comment these could end it for some reader, or hide text from a person.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\\\\]"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_BLANK = re.compile(rf"[ \t\r\n{_SPACES}]*")
_DIGITS = "[0-9](?:_?[0-9])*"
_MASTER = re.compile(
    rf"""
    [\ \t\r\n{_SPACES}]*+(?:
    (?P<comment>//[^\r\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)
  | (?P<word>[^\W\d]\w*)
  | (?P<float>(?:{_DIGITS})?\.{_DIGITS}(?:[eE][+-]?[0-9]+)?(?!\w)|{_DIGITS}[eE][+-]?[0-9]+(?!\w))
  | (?P<integer>0[xX][0-9a-fA-F](?:_?[0-9a-fA-F])*(?!\w)|0[oO][0-7](?:_?[0-7])*(?!\w)|{_DIGITS}(?!\w))
  | (?P<parameter>\$(?:\w+|`(?:[^`]|``)*`))
  | (?P<quoted>`(?:[^`]|``)+`)
  | (?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
  | (?P<mark>\.\.|<>|<=|>=|=~|!=|\|\||::|/(?!\*)|[()\[\]{{}},.:;|&!%*+\-^=<>])
  | (?P<end>\Z))
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "`": "`", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_PAIRS = {")": "(", "]": "[", "}": "{"}
# No honest query has so many; they bound the time that reading any text takes.
MOST_TOKENS = 8192
LARGEST_INTEGER = 2**63


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text in parallel lists, closed by one of kind "end".

    kinds: a mark as itself; a word in capitals; "quoted", "string", "integer", "float", "parameter", "word"
    (one beyond ASCII) or "end". values: a name, a decoded string, a number. starts and ends: offsets.
    partners: for an opening bracket, the index of its closing one.
    """

    text: str
    kinds: list[str]
    values: list[str | int | float]
    starts: list[int]
    ends: list[int]
    partners: dict[int, int]


def read_tokens(text: str, *, max_nesting: int) -> Tokens:
    """All tokens of `text`; raises Refusal for what no query holds (`syntax`, `too_large`)."""
    kinds: list[str] = []
    values: list[str | int | float] = []
    starts: list[int] = []
    ends: list[int] = []
    partners: dict[int, int] = {}
    open_brackets: list[int] = []
    position, length = 0, len(text)
    match_at = _MASTER.match
    while position < length:
        match = match_at(text, position)
        if match is None:
            raise _unreadable(text, position)
        group = match.lastgroup or END
        start, position = match.span(group)
        raw = text[start:position]
        if group == "mark":
            if raw in "([{":
                open_brackets.append(len(kinds))
                if len(open_brackets) > 2 * max_nesting:
                    raise Refusal("too_large", f"brackets nest deeper than {2 * max_nesting} levels", start)
            elif raw in ")]}":
                if not open_brackets or kinds[open_brackets[-1]] != _PAIRS[raw]:
                    raise Refusal("syntax", f"{raw!r} closes no open bracket", start)
                partners[open_brackets.pop()] = len(kinds)
            kinds.append(raw)
            values.append(raw)
        elif group == "word":
            kinds.append(raw.upper() if raw.isascii() else WORD)
            values.append(raw)
        elif group == "comment":
            _check_comment(raw, start)
            continue
        elif group == "string":
            kinds.append("string")
            values.append(_decode_string(raw, start) if "\\" in raw else raw[1:-1])
        elif group == "integer":
            kinds.append("integer")
            values.append(_decode_integer(raw, start))
        elif group == "float":
            kinds.append("float")
            values.append(_decode_float(raw, start))
        elif group == "parameter":
            kinds.append("parameter")
            name = raw[1:]
            values.append(_decode_quoted(name, start) if name[0] == "`" else name)
        elif group == END:
            break
        else:
            kinds.append(QUOTED)
            values.append(_decode_quoted(raw, start))
        starts.append(start)
        ends.append(position)
        if len(starts) > MOST_TOKENS:
            raise Refusal("too_large", f"the query has more than {MOST_TOKENS} words and signs", start)
    if open_brackets:
        opened = open_brackets[-1]
        raise Refusal("syntax", f"{kinds[opened]!r} is never closed", starts[opened])
    kinds.append(END)
    values.append("")
    starts.append(length)
    ends.append(length)
    return Tokens(text, kinds, values, starts, ends, partners)


def _unreadable(text: str, position: int) -> Refusal:
    blank = _BLANK.match(text, position)
    position = position if blank is None else blank.end()
    character = text[position]
    if character in "'\"":
        return Refusal("syntax", "this string is never closed", position)
    if character == "`":
        return Refusal("syntax", "this quoted name is empty or never closed", position)
    if text.startswith("/*", position):
        return Refusal("syntax", "this comment is never closed", position)
    if character == "\\":
        return Refusal("syntax", "a backslash may stand in a string only", position)
    if character in "0123456789":
        return Refusal("syntax", "a number runs into a letter", position)
    return Refusal("syntax", f"the character U+{ord(character):04X} cannot stand here", position)


def _check_comment(raw: str, start: int) -> None:
    unseen = _UNSEEN.search(raw)
    if unseen is not None:
        name = f"U+{ord(unseen.group()):04X}"
        raise Refusal("syntax", f"the character {name} cannot stand in a comment", start + unseen.start())


def _decode_quoted(raw: str, start: int) -> str:
    name = raw[1:-1].replace("``", "`")
    if "\\" in name or _CONTROL.search(name) or not name:
        raise Refusal("syntax", "a quoted name may hold neither backslash nor control character", start)
    return name


def _decode_string(raw: str, start: int) -> str:
    def decode(match: re.Match[str]) -> str:
        code, single = match.groups()
        if code is not None:
            character = chr(int(code, 16))
            if character in "'\"`\\" or not character.isprintable():
                raise Refusal("syntax", f"the escape \\u{code} cannot stand in a string", start + 1 + match.start())
            return character
        decoded = _ESCAPES.get(single)
        if decoded is None:
            raise Refusal("syntax", f"\\{single} is no escape", start + 1 + match.start())
        return decoded

    return _ESCAPE.sub(decode, raw[1:-1])


def _decode_integer(raw: str, start: int) -> int:
    if len(raw) > 80:
        raise Refusal("syntax", "this integer is beyond 64 bits", start)
    digits = raw.replace("_", "")
    if digits[:2] in ("0x", "0X"):
        value = int(digits[2:], 16)
    elif digits[:2] in ("0o", "0O"):
        value = int(digits[2:], 8)
    elif len(digits) > 1 and digits[0] == "0":
        raise Refusal("syntax", "an integer may not start with 0: write 0o for octal", start)
    else:
        value = int(digits)
    # The parser allows 2^63 itself behind a minus only.
    if value > LARGEST_INTEGER:
        raise Refusal("syntax", "this integer is beyond 64 bits", start)
    return value


def _decode_float(raw: str, start: int) -> float:
    value = float(raw.replace("_", ""))
    if value in (float("inf"), float("-inf")):
        raise Refusal("syntax", "this number is beyond a double's range", start)
    return value
