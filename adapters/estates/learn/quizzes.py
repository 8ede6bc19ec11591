"""A unit's knowledge check as a section of its own, kept apart from the text."""

from adapters.estates.yaml_document import YamlNode
from service.domain.content import Block, BlockKind, Section
from service.domain.quizzes import Choice, Question, question_as_text


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
    return question_as_text(
        Question(
            question.text("content") or "",
            tuple(_choice(choice) for choice in question.sequence("choices")),
        )
    )


def _choice(choice: YamlNode) -> Choice:
    is_correct = choice.flag("isCorrect")
    explanation = choice.text("explanation") or choice.text(
        "correctExplanation" if is_correct else "incorrectExplanation"
    )
    return Choice(choice.text("content") or "", is_correct, explanation or "")
