"""What the caller is like, as a page's form and address say it; a profile only ranks."""

from dataclasses import dataclass

from starlette.datastructures import QueryParams

from service.domain.requests import CallerProfile

Pair = tuple[str, str]

LEVELS = ("beginner", "intermediate", "advanced")


@dataclass(frozen=True, slots=True)
class ProfileFields:
    """`monikers` and `skills` are several, with commas between them; empty says nothing.

    `document` is the uid of the page that the caller reads.
    """

    role: str = ""
    level: str = ""
    locale: str = ""
    monikers: str = ""
    skills: str = ""
    document: str = ""

    @classmethod
    def read(cls, parameters: QueryParams, prefix: str = "") -> "ProfileFields":
        return cls(*(parameters.get(prefix + name, "").strip() for name in cls.__slots__))

    @property
    def is_empty(self) -> bool:
        return self == ProfileFields()

    def profile(self) -> CallerProfile:
        return CallerProfile(
            role=self.role or None,
            level=self.level or None,
            locale=self.locale or None,
            monikers=several(self.monikers),
            skills=several(self.skills),
        )

    def pairs(self, prefix: str = "") -> list[Pair]:
        """What is said, for an address or for a form's hidden fields."""
        return [(prefix + name, value) for name in self.__slots__ if (value := getattr(self, name))]


def several(text: str) -> list[str]:
    """The values between the commas, each once."""
    return list(dict.fromkeys(part for value in text.split(",") if (part := value.strip())))
