import pytest

from service.domain.errors import QueryEmpty, QueryMalformed, QueryTooLong, Refused
from service.retrieval.question import check_text
from service.settings import Settings

SETTINGS = Settings()


@pytest.mark.parametrize("text", ["", "   ", "\t\r\n", "\u00a0\u2003", "\u200b", "\x01\x02"])
def test_a_text_without_a_visible_character_is_empty(text: str) -> None:
    with pytest.raises(QueryEmpty):
        check_text(text, SETTINGS)


@pytest.mark.parametrize(
    "text", ["C#", "/b testing", "tb-", '"unbalanced', "node:", "*", "🙂", "שלום", "True or false: a/b?"]
)
def test_odd_text_is_text(text: str) -> None:
    assert check_text(f"  {text} ", SETTINGS) == text


@pytest.mark.parametrize("text", ["a\0b", "\0", "\ud800", "ok \udfff"])
def test_text_that_no_engine_can_hold_is_refused(text: str) -> None:
    with pytest.raises(QueryMalformed):
        check_text(text, SETTINGS)


def test_a_text_over_the_limit_is_refused_with_both_numbers() -> None:
    with pytest.raises(QueryTooLong, match=r"10,000.*2,000"):
        check_text("a" * 10_000, SETTINGS)


def test_every_refusal_has_a_code_of_its_own() -> None:
    ours = [kind for kind in Refused.__subclasses__() if kind.__module__ == Refused.__module__]
    codes = [kind.code for kind in ours]
    assert len(set(codes)) == len(codes)
    assert "refused" not in codes
