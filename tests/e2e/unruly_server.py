"""A server with tools that do what no tool should: `python unruly_server.py DATA_DIR`."""

import asyncio
import logging
import os
import sys
import threading
import warnings
from pathlib import Path

from uniko_mcp.config import EmbeddingSettings, Settings
from uniko_mcp.operations import CATALOGUE
from uniko_mcp.operations.call import Call, Services
from uniko_mcp.operations.catalogue import Catalogue, Params, Result, serves
from uniko_mcp.server.stdio import serve_stdio


class Nothing(Params):
    pass


class Noise(Params):
    said: str


class Never(Result):
    pass


@serves("Make noise", "curate")
async def make_noise(services: Services, call: Call, params: Noise) -> Never:
    """Logs, prints, warns, starts a child that prints, and fails with what was said."""
    for number in range(1_000):
        logging.getLogger("noise").debug("debug line %d", number)
    print("printed by a library: 🚚")
    os.write(1, b"written to fd 1\n")
    warnings.warn("a warning", stacklevel=1)
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print('printed by a child', input())")
    await child.wait()
    raise RuntimeError(params.said)


@serves("Hang", "curate")
async def hang(services: Services, call: Call, params: Nothing) -> Never:
    """Blocks a thread, and will not be cancelled."""
    await asyncio.shield(asyncio.to_thread(threading.Event().wait))
    return Never()


catalogue = Catalogue([*CATALOGUE.values(), make_noise, hang])
settings = Settings(data_dir=Path(sys.argv[1]), log_level="debug", embedding=EmbeddingSettings(model="none"))
asyncio.run(serve_stdio(settings, catalogue))
