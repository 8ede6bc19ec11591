"""Where the shared estates, judgments and guard corpus lie: beside the checkout, or where the environment says."""

import os
from pathlib import Path

SHARED = Path(os.environ.get("COGITAVE_QUERY_SHARED") or Path(__file__).resolve().parents[2] / "shared")
ESTATES = SHARED / "estates"
RELEVANCE = SHARED / "relevance"
GUARD = SHARED / "guard"
