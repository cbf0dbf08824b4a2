"""What a reader must find on the page, whatever the run has and has not."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import fabricate
import numpy as np
import pytest

from unbraid.errors import InputError
from unbraid.metrics import Table, suite
from unbraid.report import write_report
from unbraid.report.sections import curves


class Structure(HTMLParser):
    """Sections, links and whether every element that is opened is closed in its place."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sections: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "section":
            self.sections.append(given["id"])
        if "id" in given:
            self.ids.append(given["id"])
        self.addresses += [given[key] for key in ("src", "href", "srcset", "action", "data") if key in given]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(path: Path) -> tuple[str, Structure]:
    html = path.read_text(encoding="utf-8")
    page = Structure()
    page.feed(html)
    page.close()
    assert page.open == []
    return html, page


@lru_cache
def page_of(run: Path) -> tuple[str, Structure]:
    """The page of a run that no test changes, made once."""
    return read(write_report(run))


def latent_order(html: str) -> list[str]:
    return re.findall(r"<h4>([^ <]*)", html)


@pytest.mark.parametrize(
    ("kind", "sections"),
    [
        ("image_run", ["run", "reconstructions", "traversals", "metrics", "curves", "scale", "reproduce"]),
        ("vector_run", ["run", "reconstructions", "traversals", "metrics", "curves", "scale", "reproduce"]),
        ("plain_run", ["run", "reconstructions", "traversals", "metrics", "curves", "scale", "reproduce"]),
        ("class_run", ["run", "reconstructions", "traversals", "classes", "metrics", "curves", "scale", "reproduce"]),
    ],
)
def test_every_run_has_its_sections_and_sound_structure(
    kind: str, sections: list[str], request: pytest.FixtureRequest
) -> None:
    _, page = page_of(request.getfixturevalue(kind))
    assert page.sections == sections
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.parametrize("kind", ["image_run", "vector_run", "plain_run", "class_run"])
def test_nothing_is_fetched_from_elsewhere(kind: str, request: pytest.FixtureRequest) -> None:
    html, page = page_of(request.getfixturevalue(kind))
    assert all(address.startswith(("data:image/png;base64,", "#")) for address in page.addresses)
    assert not re.search(r"https?://|@import|url\((?!#)", html)


def test_latents_come_most_informative_first(image_run: Path) -> None:
    html, _ = page_of(image_run)
    first = [f"c{j + 1}" for j in np.argsort(-fabricate.INFORMATION, kind="stable")]
    later = [f"z{j + 1}" for j in np.argsort(-fabricate.LATER_INFORMATION, kind="stable")]
    assert latent_order(html) == first + later
    shown = re.findall(r'class="nats">([^<]*) nats', html)
    assert shown == [f"{v:.2f}" for v in sorted(fabricate.INFORMATION, reverse=True)] + [
        f"{v:.2f}" for v in sorted(fabricate.LATER_INFORMATION, reverse=True)
    ]


def test_both_stages_alternate_under_each_latent_of_the_first(image_run: Path) -> None:
    html, _ = page_of(image_run)
    blocks = re.findall(r'<article class="latent.*?</article>', html, flags=re.DOTALL)
    rows = [re.findall(r'class="line stage-(\d)"><i class="symbol" title="[^"]*">([^<]*)', block) for block in blocks]
    assert rows[: fabricate.LATENTS] == [[("1", "y"), ("2", "x̂")]] * fabricate.LATENTS
    assert rows[fabricate.LATENTS :] == [[("2", "x̂")]] * fabricate.LATER_LATENTS


def test_reconstructions_are_rows_x_y_and_x_hat(image_run: Path, plain_run: Path) -> None:
    def symbols(run: Path) -> list[str]:
        return re.findall(r'class="recon-row"><span class="who stage-\d"><i class="symbol">([^<]*)', page_of(run)[0])

    assert symbols(image_run) == ["x", "y", "x̂"]
    assert symbols(plain_run) == ["x", "x̂"]


def test_values_and_intervals_are_those_of_the_file(image_run: Path) -> None:
    html, _ = page_of(image_run)
    assert '<span class="value" data-metric="mig">0.413</span>' in html
    assert '<span class="interval">0.387 – 0.439</span>' in html
    assert '<span class="value" data-metric="l2">0.00412</span>' in html
    assert "locatello" in html
    assert "0.58 × stage 1’s 0.00706" in html


def test_curves_show_every_term_of_every_stage(image_run: Path) -> None:
    html, _ = page_of(image_run)
    terms = re.findall(r"<figcaption><b>([^<]*)</b>", html)
    assert terms == ["total", "reconstruction", "MI", "TC", "dwkl", "total", "reconstruction", "KL"]


def test_terms_are_drawn_as_they_stand_in_the_total_with_held_out_ones_beside(image_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(image_run, tmp_path / "run")
    lines = [
        {"step": step, "seconds": 1.0, "vae/total": 7.0, "vae/total/error": 1.0, "vae/total/kl": 6.0, "vae/error": 1.0}
        | {"vae/kl": 1.5, "vae/tc_unbiased": 0.5, "vae/held_out/total/kl": 1.75}
        for step in (1, 2, 3)
    ]
    (run / "stage-1" / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    html, _ = read(write_report(run))
    terms = re.findall(r"<figcaption><b>([^<]*)</b>", html)
    assert terms[:4] == ["total", "error", "4 × KL", "TC (unbiased)"]
    assert html.count('class="held-out"') == 1
    assert html.count("held out 1.75") == 1
    assert "Dashed: the same of held-out observations." in html
    assert "Dashed" not in read(write_report(image_run))[0], "older logs have no such lines"


def test_a_weight_that_changes_is_not_a_number() -> None:
    steps = np.array([1.0, 2.0])
    lines = {"total": (steps, steps), "total/kl": (steps, np.array([1.0, 4.0])), "kl": (steps, np.array([1.0, 2.0]))}
    assert curves.title("total/kl", lines) == "KL, weighted"
    assert curves.title("total/kl", lines | {"kl": (steps, np.array([2.0, 8.0]))}) == "0.5 × KL"


def test_the_map_that_mig_left_behind_is_used(image_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(image_run, tmp_path / "run")
    metrics = json.loads((run / "metrics.json").read_text())
    matrix = np.zeros((fabricate.LATENTS, 3))
    matrix[2] = [2.0, 0.5, 0.1]
    metrics["mig"]["details"] |= {"information": matrix.tolist(), "entropy": [4.0, 1.0, 1.0]}
    (run / "metrics.json").write_text(json.dumps(metrics))
    html, _ = read(write_report(run))
    row = re.search(r'<th scope="row">c3</th>(.*?)</tr>', html)
    assert row is not None
    assert re.findall(r">([\d.]+)</td>", row[1]) == ["0.50", "0.50", "0.10"]
    assert re.findall(r'title="([\d.]+) nats"', row[1]) == ["2.000", "0.500", "0.100"]


def test_the_map_is_strongest_where_the_factor_was_made_from_the_latent(image_run: Path) -> None:
    html, _ = page_of(image_run)
    rows = dict(re.findall(r'<tr><th scope="row">(c\d+)</th>(.*?)</tr>', html))
    best = {name: [" best" in cell for cell in re.findall(r'<td class="([^"]*)"', row)] for name, row in rows.items()}
    assert best["c5"] == [True, False, False]  # turn
    assert best["c10"] == [False, True, False]  # size
    assert best["c1"] == [False, False, True]  # hue


def test_vectors_are_drawn_as_lines_and_not_as_images(vector_run: Path) -> None:
    html, _ = page_of(vector_run)
    assert "<img" not in html
    assert html.count('class="effect-line"') == fabricate.STEPS * (3 + 3 + 1)
    assert latent_order(html) == ["c2", "c1", "c3", "z1"]


def test_a_run_without_metrics_says_how_to_get_them(plain_run: Path) -> None:
    html, _ = page_of(plain_run)
    assert "unbraid evaluate" in html
    assert 'class="heat"' not in html
    assert "none known" in html


def test_an_unfinished_run_with_nothing_but_its_configuration_has_a_page(image_run: Path, tmp_path: Path) -> None:
    shutil.copy(image_run / "config.json", tmp_path / "config.json")
    html, page = read(write_report(tmp_path))
    assert page.sections == ["run", "metrics", "scale", "reproduce"]
    assert "not finished" in html


def test_scale_and_command_are_stated(image_run: Path) -> None:
    html, page = page_of(image_run)
    text = " ".join(page.texts)
    for said in ("6,000", "27,648", "0.25", "summed over the values of one observation", "10,000 rows", "2.13.0"):
        assert said in text
    assert "unbraid fit shapes --method beta-tcvae --beta 6" in html


def test_the_papers_setting_and_label_use_are_shown_where_recorded(image_run: Path, tmp_path: Path) -> None:
    config = json.loads((image_run / "config.json").read_text())
    config["stages"][0]["paper"] = {"steps": 300_000, "width": 1.0}
    config["stages"][0]["labels"] = {"training": True, "test": False}
    (tmp_path / "config.json").write_text(json.dumps(config))
    html, _ = read(write_report(tmp_path))
    assert "<td>6,000</td><td>300,000</td>" in html
    assert ": labels were read at training, none at test." in html


def rewritten(image_run: Path, folder: Path, changes: dict[str, dict[str, Any]]) -> Path:
    """A copy of the run with entries added to its JSON files."""
    run = shutil.copytree(image_run, folder)
    for name, entries in changes.items():
        (run / name).write_text(json.dumps(json.loads((run / name).read_text()) | entries))
    return run


def test_a_score_that_no_metric_describes_describes_itself(image_run: Path, tmp_path: Path) -> None:
    about = {"title": "My own score", "better": "lower", "range": [0, 1]}
    entries = {
        "mine": {"value": 0.25, "interval": [0.2, 0.3], "details": {}, "about": about},
        "other_thing": {"value": 1.5, "interval": None, "details": {}},
    }
    html, _ = read(write_report(rewritten(image_run, tmp_path / "run", {"metrics.json": entries})))
    rows = re.findall(r'<details class="score">.*?</details>', html, flags=re.DOTALL)[-2:]
    assert "<b>My own score</b>" in rows[0]
    assert "↓" in rows[0]
    assert 'data-metric="mine">0.250<' in rows[0]
    assert "<b>other thing</b>" in rows[1]
    assert 'data-metric="other_thing">1.50<' in rows[1]


def test_methods_are_called_as_they_call_themselves(image_run: Path, tmp_path: Path) -> None:
    run = rewritten(image_run, tmp_path / "run", {"stage-1/stage.json": {"title": "Total <Correlation> VAE"}})
    html, page = read(write_report(run))
    assert "Total <Correlation> VAE" in page.texts
    assert "MS-VAE" in html, "without a title of its own, the name made readable"


def test_latents_have_one_numbering_on_the_page_and_in_the_details(image_run: Path, tmp_path: Path) -> None:
    with np.load(image_run / "codes.npz") as file:
        table = Table.from_arrays({name: file[name] for name in file.files})
    scores: dict[str, object] = {name: score.to_json() for name, score in suite(table, metrics=["mig", "mcc"]).items()}
    html, _ = read(write_report(rewritten(image_run, tmp_path / "run", {"metrics.json": scores})))
    strongest = dict(re.findall(r'<tr><th scope="row">(c\d+)</th>((?:(?!</tr>).)* best".*?)</tr>', html))
    assert set(strongest) == {"c5", "c10", "c1"}
    assert html.count("<dt>latent · turn</dt><dd>c5</dd>") == 2
    assert html.count("<dt>latent · size</dt><dd>c10</dd>") == 2


def test_codes_that_are_not_numbers_any_more_do_no_harm(image_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(image_run, tmp_path / "run")
    with np.load(run / "codes.npz") as file:
        arrays = {name: file[name] for name in file.files}
    arrays["codes"][3, 2] = np.nan
    np.savez(run / "codes.npz", **arrays)
    html, _ = read(write_report(run))
    assert 'class="heat"' not in html


def reading_labels(image_run: Path, folder: Path) -> Path:
    """The run as if its first encoder had read labels; nothing is encoded for identity change."""
    run = shutil.copytree(image_run, folder)
    stage = json.loads((run / "stage-1" / "stage.json").read_text())
    (run / "stage-1" / "stage.json").write_text(json.dumps(stage | {"labels": {"training": True, "test": True}}))
    scores = {
        "mig": {"value": 0.8, "interval": [0.7, 0.9], "details": {"bins": 20}},
        "without-labels/mig": {"value": 0.3, "interval": [0.2, 0.4], "details": {"bins": 20}},
        "conditioning/M2": {"value": 0.6, "interval": None, "details": {}},
        "downstream_by_stage/c": {"value": 0.5, "interval": None, "details": {}},
        "identity_change": {"value": 0.1, "interval": None, "details": {"features": "pixels"}},
        "_": {"labels_at_test": True},
    }
    (run / "metrics.json").write_text(json.dumps(scores))
    return run


def test_scores_with_labels_at_test_time_and_without_are_columns_of_one_row(image_run: Path, tmp_path: Path) -> None:
    html, _ = read(write_report(reading_labels(image_run, tmp_path / "run")))
    heads = re.search(r'<div class="heads">(.*?)</div>', html)
    assert heads is not None
    assert re.findall(r"</b>([^<]+)", heads[1]) == ["with labels at test time", "without"]
    rows = re.findall(r'<details class="score">.*?</details>', html, flags=re.DOTALL)
    cells = [re.findall(r'<span class="value"(?: data-metric="([^"]*)")?>([^<]*)', row) for row in rows]
    assert cells == [
        [("with-labels/mig", "0.800"), ("mig", "0.300")],
        [("", "–"), ("conditioning/M2", "0.600")],
        [("with-labels/downstream_by_stage/c", "0.500"), ("", "–")],
        [("", "–"), ("identity_change", "0.100")],
    ]
    assert [re.findall(r"<b>([^<]+)</b>", row)[0] for row in rows] == ["MIG", "M2", "Downstream, C", "Identity change"]
    assert rows[0].count("<dl") == 2, "each score says how it came about"
    assert "Labels were read at test time." in html, "the map of these codes says so too"


def test_runs_that_read_no_labels_at_test_time_have_one_column(image_run: Path) -> None:
    html, _ = page_of(image_run)
    assert "with labels at test time" not in html
    assert 'class="heads"' not in html


def test_names_are_escaped(tmp_path: Path) -> None:
    evil = "<script>alert('x')</script>&\""
    run = fabricate.image_run(tmp_path / "<img src=x onerror=alert(1)>", name=evil)
    html, page = read(write_report(run))
    assert "alert('x')" not in html
    assert "<img src=x" not in html
    assert html.count("<script>") == 1
    assert evil in page.texts


def test_the_same_files_make_the_same_page(image_run: Path) -> None:
    first = write_report(image_run).read_bytes()
    assert write_report(image_run).read_bytes() == first


def test_half_a_line_and_not_a_number_in_the_log_do_no_harm(image_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(image_run, tmp_path / "run")
    with (run / "stage-1" / "log.jsonl").open("a") as file:
        file.write('{"step": 6050, "vae/total": NaN, "vae/tc": Infinity}\n{"step": 6100, "vae/to')
    html, _ = read(write_report(run))
    assert not re.search(r'd="[^"]*(nan|inf)', html)


def test_factors_that_never_vary_are_left_out_of_the_map(image_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(image_run, tmp_path / "run")
    with np.load(run / "codes.npz") as file:
        arrays = {name: file[name] for name in file.files}
    arrays["factors"][:, 1] = 3
    arrays["factors"][:50, 0] = np.nan
    np.savez(run / "codes.npz", **arrays)
    html, _ = read(write_report(run))
    table = re.search(r'<table class="heat".*?</thead>', html, flags=re.DOTALL)
    assert table is not None
    assert re.findall(r'scope="col">([^<]*)', table[0]) == ["turn", "hue"]


def test_bad_directories_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no config\.json"):
        write_report(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        write_report(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "codes.npz").write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(InputError, match=r"codes\.npz.* cannot be read"):
        write_report(tmp_path)


def test_no_half_written_page_is_left_behind(plain_run: Path) -> None:
    write_report(plain_run)
    assert [path.name for path in plain_run.iterdir() if "report" in path.name] == ["report.html"]


def test_only_what_a_page_needs_is_imported() -> None:
    heavy = "torch", "unbraid.core", "scipy", "sklearn", "matplotlib"
    code = f"import sys, unbraid.report; print([name for name in {heavy} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_latent_is_called_by_the_factor_that_it_knows_or_as_people_call_it(image_run: Path, tmp_path: Path) -> None:
    html, _ = page_of(image_run)
    told = dict(re.findall(r'<h4>(c\d+) <span class="meaning">([^<]*)</span>', html))
    assert told == {"c5": "turn", "c10": "size", "c1": "hue"}
    run = rewritten(image_run, tmp_path / "run", {})
    (run / "names.json").write_text('{"c5": "spin", "c2": "rest"}')
    named, _ = read(write_report(run))
    again = dict(re.findall(r'<h4>(c\d+) <span class="meaning">([^<]*)</span>', named))
    assert again["c5"] == "spin"
    assert again["c2"] == "rest"
    assert again["c10"] == told["c10"]
