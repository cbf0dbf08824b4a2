"""Measure what chance gives and what perfect codes get for every metric, for `unbraid metrics` and docs/metrics.md.

    python benchmarks/standing.py [--rows 10000]

Writes src/unbraid/metrics/standing.json and prints the table of the docs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from unbraid.metrics import standing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    rows = parser.parse_args().rows
    scores = standing.standings(rows)
    entries = {
        name: {
            "value": round(score.value, 4),
            "chance": {"mean": round(score.chance.mean, 4), "spread": round(score.chance.spread, 4)},
            "ceiling": None if score.ceiling is None else round(score.ceiling, 4),
        }
        for name, score in scores.items()
        if score.chance is not None
    }
    place = Path(standing.__file__).with_name(standing.FILE)
    place.write_text(json.dumps({"rows": rows, "scores": entries}, indent=1) + "\n", encoding="utf-8")
    print(standing.markdown(scores))


if __name__ == "__main__":
    main()
