"""What a page shows of classes, and where it stands."""

from __future__ import annotations

import base64
import io
import re
import shutil
from pathlib import Path

import fabricate
import numpy as np
import pytest
from PIL import Image

from unbraid.report import write_report
from unbraid.report.draw import charts
from unbraid.report.read.directory import read_run
from unbraid.report.sections.classes import classes
from unbraid.report.sections.pictures import PAD


def section(run: Path) -> str:
    html = write_report(run).read_text(encoding="utf-8")
    found = re.search(r'<section id="classes">.*?</section>', html, flags=re.DOTALL)
    assert found is not None
    return found[0]


def figures(run: Path, kind: str) -> list[str]:
    return re.findall(rf'<figure class="{kind}">.*?</figure>', section(run), flags=re.DOTALL)


def test_each_variable_has_its_chart_and_each_picture_its_sentence(class_run: Path) -> None:
    priors, transfers = figures(class_run, "prior"), figures(class_run, "transfer")
    assert [re.findall(r"<h3>(.*?)</h3>", one)[0] for one in priors] == ["shape", "size"]
    assert len(transfers) == 1
    assert all(len(re.findall(r'<p class="seen">', one)) == 1 for one in [*priors, *transfers])
    assert "along u2, p(c)·p(u2 given c)" in priors[1]
    assert 'href="#classes"' in (class_run / "report.html").read_text(encoding="utf-8")


def test_a_class_has_the_same_colour_in_chart_and_legend_and_no_other_has_it(class_run: Path) -> None:
    for figure, count in zip(figures(class_run, "prior"), (3, 7), strict=True):
        legend = re.findall(r'<span class="([^"]*)"><b></b>(.*?)</span>', figure)
        drawn = re.findall(r'<g class="class ([^"]*)">.*?<title>(.*?)</title>', figure)
        assert legend == drawn
        assert len({colour for colour, _ in legend}) == len(legend) == count


def test_names_of_classes_are_escaped(class_run: Path) -> None:
    assert "<b>heart" not in section(class_run)
    assert section(class_run).count("&lt;b&gt;heart&lt;/b&gt;") == 4  # aria-label, legend, title, row


def test_frames_stand_under_their_marks(class_run: Path) -> None:
    for figure, count in zip(figures(class_run, "prior"), (9, 5), strict=True):
        chart = re.search(r'viewBox="0 0 (\d+) \d+"', figure)
        place = re.search(r"<img[^>]*margin-left:([\d.]+)%;width:([\d.]+)%", figure)
        assert chart is not None
        assert place is not None
        marks = [float(x) / float(chart[1]) for x in re.findall(r'<line x1="([\d.]+)"[^>]*class="mark-line"', figure)]
        left, width = (float(part) / 100 for part in place.groups())
        sheet = count * (fabricate.SIDE + PAD) - PAD
        centres = [(i * (fabricate.SIDE + PAD) + fabricate.SIDE / 2) / sheet for i in range(count)]
        assert marks == pytest.approx([left + width * centre for centre in centres], abs=1e-4)


def test_marks_are_told_alike_and_never_as_minus_nothing() -> None:
    values = np.linspace(-3, 3, 61)
    drawn = charts.densities(values, np.exp(-(values**2))[None], np.array([-1.5, -1e-9, 1.5]), [("a", "")], "")
    assert re.findall(r"<text[^>]*>([^<]*)</text>", drawn) == ["−1.5", "0.0", "1.5"]


def test_a_class_that_is_thrice_as_likely_is_thrice_as_high(class_run: Path) -> None:
    lines = re.findall(r'<path d="([^"]*)" class="line"', figures(class_run, "prior")[0])
    heights = [np.ptp([float(point.split()[1]) for point in re.split("[ML]", line)[1:]]) for line in lines]
    assert heights[0] == pytest.approx(3 * heights[1], rel=0.01)
    assert heights[1] == pytest.approx(heights[2], rel=0.01)


def test_transfers_have_styles_above_and_contents_at_the_left(class_run: Path) -> None:
    figure = figures(class_run, "transfer")[0]
    address = re.search(r'src="data:image/png;base64,([^"]*)"', figure)
    rows = re.search(r"grid-template-rows:([^\"]*)", figure)
    assert address is not None
    assert rows is not None
    with Image.open(io.BytesIO(base64.b64decode(address[1]))) as picture:
        sheet = np.asarray(picture.convert("RGBA"))
    seen = [tuple(int(v) for v in dict.fromkeys(line[line[:, 3] > 0][:, 0])) for line in sheet]
    order = [line for line in dict.fromkeys(seen) if line]
    assert order == [tuple(range(50, 56)), *((10 + i, *range(100 + 6 * i, 106 + 6 * i)) for i in range(3))]
    assert (sheet[:16, :16, 3] == 0).all(), "the corner is empty"
    assert re.findall(r"<span>(.*?)</span>", figure) == ["", "square", "&lt;b&gt;heart&lt;/b&gt;", "ellipse"]
    heights = [int(part.removesuffix("fr")) for part in rows[1].split()]
    assert sum(heights) == len(sheet) + PAD, "names stand beside their rows"


def test_vectors_are_drawn_as_lines_under_their_marks(vector_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(vector_run, tmp_path / "run")
    lines = np.stack([fabricate.trace(True, damping=0.2 + 0.1 * i) for i in range(5)])
    fabricate.add_pictures(run, fabricate.prior_arrays(1, ["light", "heavy"], "mass", lines))
    assert "<img" not in section(run)
    assert figures(run, "transfer") == []
    drawing = re.search(r'<svg[^>]*class="lines-at">.*?</svg>', section(run))
    assert drawing is not None
    paths = re.findall(r'<path d="([^"]*)"', drawing[0])
    across = [[float(point.split()[0]) for point in re.split("[ML]", path)[1:]] for path in paths]
    assert [np.mean(x) for x in across] == pytest.approx([100, 200, 300, 400, 500], abs=0.1)
    assert all(max(a) < min(b) for a, b in zip(across, across[1:], strict=False)), "neighbours do not touch"


def test_priors_that_are_not_finite_are_left_out(class_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(class_run, tmp_path / "run")
    with np.load(run / "pictures.npz") as file:
        arrays = dict(file)
    for part in ("values", "densities", "marks"):
        arrays[f"classes/1/{part}"] = np.full_like(arrays[f"classes/1/{part}"], np.nan)
    np.savez(run / "pictures.npz", **arrays)
    assert [re.findall(r"<h3>(.*?)</h3>", one)[0] for one in figures(run, "prior")] == ["size"]


def test_runs_without_classes_show_none(image_run: Path) -> None:
    assert classes(read_run(image_run)) is None
    html = write_report(image_run).read_text(encoding="utf-8")
    assert "classes" not in re.findall(r'(?:id|href)="#?([^"]*)"', html)
