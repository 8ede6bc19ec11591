"""Knowledge checks: questions with choices, and the text in which a record keeps one."""

import re
from dataclasses import dataclass
from itertools import pairwise

_CHOICE = re.compile(r"- (?P<content>.*?) \((?P<verdict>correct|incorrect)\)(?:: (?P<explanation>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Choice:
    """`explanation` is why it is right or wrong."""

    content: str
    is_correct: bool
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what one may answer."""

    content: str
    choices: tuple[Choice, ...] = ()


def question_as_text(question: Question) -> str:
    """The question, then a line a choice: `- its text (correct): why`."""
    return "\n".join([question.content, *map(_choice_as_text, question.choices)])


def question_from_text(text: str) -> Question:
    """The inverse, for texts without a line that looks like a choice and is none."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    blocks = ["\n".join(lines[start:end]) for start, end in pairwise([*starts, len(lines)])]
    content = lines[: starts[0]] if starts else lines
    choices: list[Choice] = []
    pending = ""
    for block in blocks:
        pending = f"{pending}\n{block}" if pending else block
        if found := _CHOICE.fullmatch(pending):
            choices.append(
                Choice(found["content"], found["verdict"] == "correct", explanation=found["explanation"] or "")
            )
            pending = ""
    if pending:
        content = [*content, pending] if not choices else content
    return Question("\n".join(content), tuple(choices))


def _choice_as_text(choice: Choice) -> str:
    text = f"- {choice.content} ({'correct' if choice.is_correct else 'incorrect'})"
    return f"{text}: {choice.explanation}" if choice.explanation else text
