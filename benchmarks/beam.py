"""How much of BEAM's evidence recall finds.

    python benchmarks/beam.py --data beam.json [--model FOLDER] [--missed 20]

Prints what `locomo.py` prints, by BEAM's kinds of question. Reach: recall@10 of .66 with a MiniLM model.
"""

from __future__ import annotations

from pathlib import Path

from ranking_data import load_beam
from ranking_score import main

if __name__ == "__main__":
    main("BEAM", load_beam, Path("beam.json"))
