"""What was typed, made into requests."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError
from typer import BadParameter

from service.domain.requests import CallerProfile


def filters(pairs: Iterable[str]) -> dict[str, list[str]]:
    """`k=v` pairs → values by key; a key given twice allows either value. Whether a filter `k` exists is the
    service's to say.
    """
    values: dict[str, list[str]] = {}
    for pair in pairs:
        key, value = _split(pair, "--filter")
        values.setdefault(key, []).append(value)
    return values


def parameters(pairs: Iterable[str]) -> dict[str, object]:
    """`k=v` pairs → parameters: `v` is read as JSON, and is a string where it is none."""
    values: dict[str, object] = {}
    for pair in pairs:
        key, text = _split(pair, "--param")
        if key in values:
            raise BadParameter(f"'{key}' is given twice.", param_hint="--param")
        values[key] = _json_or_text(text)
    return values


def profile(file: Path | None) -> CallerProfile:
    """The caller's profile from a JSON file of the shape that REST takes."""
    if file is None:
        return CallerProfile()
    try:
        return CallerProfile.model_validate_json(file.read_bytes())
    except OSError as error:
        raise BadParameter(f"{file} can't be read: {error.strerror}.", param_hint="--profile") from error
    except ValidationError as error:
        raise BadParameter(f"{file}: {first_problem(error)}", param_hint="--profile") from error


def write(file: Path, text: str, option: str) -> None:
    """Write a file that an option names."""
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise BadParameter(f"{file} can't be written: {error.strerror}.", param_hint=option) from error


def absolute(paths: Iterable[str]) -> list[str]:
    """The server that publishes in our place has another working folder."""
    return [os.path.abspath(path) for path in paths]


def first_problem(error: ValidationError) -> str:
    """The first thing wrong with a document, by place, without repeating what it held."""
    first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}." if place else f"{first['msg']}."


def _split(pair: str, option: str) -> tuple[str, str]:
    key, equals, value = pair.partition("=")
    if not (key and equals):
        raise BadParameter(f"'{pair}' is not of the form key=value.", param_hint=option)
    return key, value


def _json_or_text(text: str) -> object:
    """NaN and numbers that overflow to infinity are Python's, not JSON's."""
    try:
        value: object = json.loads(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value
