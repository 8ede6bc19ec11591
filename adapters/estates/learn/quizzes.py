"""A unit's knowledge check as a section of its own, kept apart from the text."""

from adapters.estates.yaml_document import YamlNode
from service.domain.content import Block, BlockKind, Section


def quiz_section(quiz: YamlNode | None) -> Section | None:
    """One block a question: the question, its choices, which is right and why."""
    if quiz is None:
        return None
    blocks = tuple(
        Block(BlockKind.QUIZ, _question(question), question.line)
        for question in quiz.sequence("questions")
        if question.text("content")
    )
    if not blocks:
        return None
    return Section(quiz.text("title") or "Quiz", "quiz", 2, blocks)


def _question(question: YamlNode) -> str:
    lines = [question.text("content") or ""]
    for choice in question.sequence("choices"):
        explanation = choice.text("explanation") or choice.text(
            "correctExplanation" if choice.flag("isCorrect") else "incorrectExplanation"
        )
        verdict = "correct" if choice.flag("isCorrect") else "incorrect"
        text = f"- {choice.text('content') or ''} ({verdict})"
        lines.append(f"{text}: {explanation}" if explanation else text)
    return "\n".join(lines)
