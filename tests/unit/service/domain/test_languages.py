import pytest

from service.domain.languages import canonical_language


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("C#", "csharp"),
        ("cs", "csharp"),
        ("csharp-interactive", "csharp"),
        ("azure-cli", "azurecli"),
        ("azurecli-interactive", "azurecli"),
        (" PY ", "python"),
        ("COBOL", "cobol"),
    ],
)
def test_a_language_has_one_name(name: str, language: str) -> None:
    assert canonical_language(name) == language
