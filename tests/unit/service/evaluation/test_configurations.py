from pathlib import Path

import pytest

from service.domain.errors import ConfigurationUnreadable
from service.evaluation.configurations import load_configuration, own_configuration
from service.evaluation.sets import Query
from service.settings import Settings

QUERY = Query(
    "q", "how", current_document="here", level="beginner", roles=("developer", "student"), products=("azure",)
)


def written(folder: Path, text: str) -> Path:
    file = folder / "stronger.toml"
    file.write_text(text)
    return file


def test_a_configuration_overrides_settings_and_carries_a_request(tmp_path: Path) -> None:
    text = 'asker = ["currentDocument"]\nkeep_current = true\n[settings]\nprior_gain = 0.2\n[request]\n'
    file = written(tmp_path, text + 'filter = {kind = ["unit"]}\nwithoutSignals = ["age"]\n')
    held = load_configuration(file, Settings(fusion_k=30))
    assert (held.name, held.keep_current) == ("stronger", True)
    assert (held.settings.prior_gain, held.settings.fusion_k) == (0.2, 30)
    asked = held.ask(QUERY, 7)
    assert (asked.text, asked.limit, asked.filter, asked.without_signals) == ("how", 7, {"kind": ["unit"]}, ["age"])
    assert (asked.current_document, asked.profile.level, asked.products) == ("here", None, [])


def test_a_configuration_has_time_for_every_answer_unless_it_says_otherwise(tmp_path: Path) -> None:
    held = load_configuration(written(tmp_path, "[settings]\nvector_deadline = 5\n"), Settings())
    assert (held.settings.vector_deadline, held.settings.prior_deadline) == (5, 60_000)


def test_a_search_is_told_of_the_asker_what_the_configuration_says_and_is_not_logged(tmp_path: Path) -> None:
    untold = own_configuration(Settings()).ask(QUERY, 1)
    assert (untold.current_document, untold.profile.level, untold.logged) == (None, None, False)
    told = load_configuration(written(tmp_path, 'asker = ["profile"]'), Settings()).ask(QUERY, 1)
    assert (told.profile.level, told.profile.role, told.products) == ("beginner", "developer", ["azure"])
    assert told.current_document is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "can't be read"),
        ("[setings]", "setings: Extra inputs"),
        ("[settings]\nfusion_kk = 1", "fusion_kk: Extra inputs"),
        ("[settings]\nfusion_k = 0", "fusion_k: "),
        ("[request]\nlimitt = 1", "limitt: Extra inputs"),
        ('asker = ["name"]', r"asker\.0: "),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationUnreadable, match=message):
        load_configuration(written(tmp_path, text), Settings())


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationUnreadable, match=r"nowhere\.toml can't be read"):
        load_configuration(tmp_path / "nowhere.toml", Settings())
