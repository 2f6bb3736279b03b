"""The server as a process, for tests: `python serve.py DATA_DIR [SETTINGS_JSON]`."""

import asyncio
import json
import sys

from uniko_mcp.config import Settings
from uniko_mcp.server.stdio import serve_stdio

settings = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
asyncio.run(serve_stdio(Settings.model_validate({"data_dir": sys.argv[1], **settings})))
