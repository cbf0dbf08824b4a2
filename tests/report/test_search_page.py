"""The page of a search, made from its files."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from unbraid.errors import InputError
from unbraid.report import write_search_page


def setting(name: str, udr: list[float], l2: list[float], error: str = "") -> dict[str, Any]:
    def figure(values: list[float]) -> dict[str, Any]:
        seeds = {str(seed): value for seed, value in enumerate(values)}
        return {"mean": sum(values) / len(values), "interval": [min(values), max(values)], "seeds": seeds}

    status = "failed" if error else "finished"
    trials = [{"name": f"{name}-{seed}", "seed": seed, "status": status, "error": error} for seed in range(2)]
    figures = {} if error else {"udr": figure(udr), "l2": figure(l2)}
    return {"name": name, "method": "vae", "values": {}, "trials": trials, "figures": figures, "shown": None}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = [setting("good", [0.5, 0.7], [0.01, 0.02]), setting("poor", [0.1, 0.3], [0.03, 0.04])]
    settings.append(setting("broken", [], [], "this <cannot> be."))
    ranking = {
        "format": 1,
        "by": "udr",
        "titles": {"udr": "UDR", "l2": "L2"},
        "better": {"udr": 1, "l2": -1},
        "settings": settings,
        "effects": [{"option": "beta", "share": 0.75, "p": 0.0001, "levels": 2, "trials": 4}],
        "recommendation": ["good: UDR 0.6, ahead of poor in 2 of 2 seeds."],
    }
    plan = {"data": {"name": "toys", "n": 1200}, "steps": [3000], "command": "unbraid search toys"}
    (tmp_path / "ranking.json").write_text(json.dumps(ranking))
    (tmp_path / "search.json").write_text(json.dumps(plan))
    return tmp_path


def test_settings_are_rows_and_seeds_are_dots(folder: Path) -> None:
    html = write_search_page(folder).read_text()
    assert "6 trials of 3 settings" in html
    assert "toys, 1,200 observations · 3,000 steps · 4 finished, 2 failed" in html
    assert html.index("good: UDR 0.6, ahead of poor") < html.index('id="settings"')
    assert re.findall(r'<th scope="row"><b class="chip"></b>(\w+)', html) == ["good", "poor", "broken"]
    assert len(re.findall(r'class="seed"', html)) == 8, "two seeds, two figures, two settings"
    assert len(re.findall(r'class="run series-\d+"', html)) == 4, "a dot for each trial of UDR against L2"
    assert "this &lt;cannot&gt; be." in html
    assert re.search(r"beta</th><td>75%</td><td class=\"soft\">p &lt; 0.001", html)


def test_dots_of_a_figure_share_one_axis(folder: Path) -> None:
    html = write_search_page(folder).read_text()
    rows = re.findall(r"<tr class=\"series-\d+\">.*?</tr>", html, flags=re.DOTALL)
    places = [[float(x) for x in re.findall(r'cx="([\d.]+)" cy="13" r="2.6"', row)[:2]] for row in rows[:2]]
    # UDR from 0.1 to 0.7 with a twentieth of 0.6 on both sides, over 208 units from 6 on.
    expected = [[6 + 208 * (v - 0.07) / 0.66 for v in values] for values in ([0.5, 0.7], [0.1, 0.3])]
    assert places[0] == pytest.approx(expected[0], abs=0.01)
    assert places[1] == pytest.approx(expected[1], abs=0.01)


def test_what_is_no_search_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no finished search: repeat its command"):
        write_search_page(tmp_path)
