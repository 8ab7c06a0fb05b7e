"""CrewAI without its telemetry, with a home and a storage that are gone after the run. Import it before CrewAI."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from pathlib import Path

FOLDER = Path(tempfile.mkdtemp(prefix="tscg-crewai-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OTEL_SDK_DISABLED": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "CREWAI_DISABLE_VERSION_CHECK": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "CREWAI_STORAGE_DIR": str(FOLDER / "storage"),
    "HOME": str(FOLDER),
    "OPENAI_API_KEY": "none",
}

with warnings.catch_warnings():  # what importing it warns about is not ours
    warnings.simplefilter("ignore")
    import crewai
    import crewai.llms.providers.openai.completion

VERSION = crewai.__version__
