"""How much of LoCoMo's evidence recall finds, and how fast, through the real server over MCP.

    python benchmarks/locomo.py --data locomo.json [--model FOLDER] [--unit 1] [--missed 20]
    python benchmarks/locomo.py --data locomo.json --model FOLDER --peer uniko [--peer-python PATH]

Prints recall@5/10/20/50, nDCG@10 and the share of the evidence within 2,000, 4,000 and 8,000 characters of the answer,
by category (1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop) and over all; ingest until it is acknowledged and
until everything is embedded; and the time of a recall. The peer gets the same messages in the same units.
Reach: recall@10 of .80 with a MiniLM model, .76 without; 10 times the peer's turns/s acknowledged, 6 times embedded,
and a tenth of its time to recall.
"""

from __future__ import annotations

from pathlib import Path

from evidence.conversations import load_locomo
from evidence.run import main

if __name__ == "__main__":
    main(__doc__, load_locomo, Path("locomo.json"))
