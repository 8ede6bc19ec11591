"""What all tests share: the real engines, and properties that try the same examples on every machine of CI."""

import os

from hypothesis import settings

pytest_plugins = ["tests.engines"]

settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")
