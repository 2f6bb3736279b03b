"""How much of BEAM's evidence recall finds, and how fast, through the real server over MCP.

    python benchmarks/beam.py --data beam.json [--model FOLDER] [--missed 20] [--peer uniko]

Prints what `locomo.py` prints, by BEAM's kinds of question. Reach: recall@10 of .66 with a MiniLM model.
"""

from __future__ import annotations

from pathlib import Path

from evidence.conversations import load_beam
from evidence.run import main

if __name__ == "__main__":
    main(__doc__, load_beam, Path("beam.json"))
