"""Which names are locales: a list, because `how-to` and `set-up` look like some."""

_LOCALES = frozenset(
    "ar-ae ar-sa bg-bg bs-latn-ba ca-es cs-cz da-dk de-at de-ch de-de el-gr en-au en-ca en-gb en-ie en-in en-my en-nz "
    "en-sg en-us en-za es-es es-mx et-ee eu-es fi-fi fil-ph fr-be fr-ca fr-ch fr-fr ga-ie gl-es he-il hi-in hr-hr "
    "hu-hu id-id is-is it-ch it-it ja-jp ka-ge kk-kz ko-kr lb-lu lt-lt lv-lv ms-my mt-mt nb-no nl-be nl-nl pl-pl "
    "pt-br pt-pt ro-ro ru-ru sk-sk sl-si sr-cyrl-rs sr-latn-rs sv-se th-th tr-tr uk-ua vi-vn zh-cn zh-hans zh-hant "
    "zh-hk zh-tw".split()
)


def is_locale(name: str) -> bool:
    return name.lower() in _LOCALES


def locale_of_path(path: str) -> str | None:
    """The first folder of the path that is a locale, in lower case."""
    return next((part.lower() for part in path.split("/")[:-1] if is_locale(part)), None)


def normal_locale(text: str) -> str | None:
    """`de-DE` and `de_DE` → `de-de`; None for what can be no locale."""
    locale = text.strip().lower().replace("_", "-")
    well_formed = all(part.isascii() and part.isalnum() and 1 <= len(part) <= 8 for part in locale.split("-"))
    return locale if well_formed and 2 <= len(locale) <= 35 and locale[0].isalpha() else None
