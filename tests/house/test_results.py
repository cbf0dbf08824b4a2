"""The table of the papers' claims: what is said of it in all is what its rows say."""

import re
from collections import Counter
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "docs" / "results"
VERDICTS = ("reproduced", "direction", "not seen", "contradicted", "not testable")


def claims() -> list[tuple[tuple[str, str], str, str]]:
    """Paper and place, the study and the verdict of every row."""
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Every table and figure")[2].partition("## Beyond the papers")[0]
    paper, found = "", []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("### "):
            paper = line.removeprefix("### ")
        elif line.startswith("| ") and cells[0] != "place":
            found.append(((paper, cells[0]), cells[2], cells[-1]))
    return found


def test_what_is_said_in_all_is_what_the_rows_say() -> None:
    rows = claims()
    counts = Counter(next(name for name in VERDICTS if verdict.startswith(name)) for _, _, verdict in rows)
    tested = [(place, verdict) for place, _, verdict in rows if not verdict.startswith("not testable")]
    said = re.sub(r"\s+", " ", (RESULTS / "README.md").read_text(encoding="utf-8"))
    first: dict[tuple[str, str], str] = {}
    for place, verdict in tested:
        first.setdefault(place, verdict)  # the first row of a table or figure is what it is there to show
    held = sum(verdict.startswith("reproduced") for verdict in first.values())
    assert (
        f"Of the {len(first)} tables, figures and sections with claims that can be tested here {held} have their main "
        "claim reproduced"
    ) in said
    reproduced, direction, unseen, contradicted, _ = (counts[name] for name in VERDICTS)
    assert (
        f"Of all {len(tested)} claims {reproduced} are reproduced; {direction} go in the paper's direction, {unseen} "
        f"are not seen and {contradicted} contradicted."
    ) in said


def test_every_row_that_was_tested_names_its_study() -> None:
    for place, study, verdict in claims():
        if not verdict.startswith("not testable"):
            assert "](" in study or "tests" in study or "search/udr" in study, place


def numbers(text: str) -> list[tuple[float, int]]:
    """Every number with a decimal point, unsigned, and how many digits stand behind the point."""
    found = re.findall(r"(?<![\w.])\d[\d,]*\.(\d+)", text), re.findall(r"(?<![\w.])\d[\d,]*\.\d+", text)
    return [(float(number.replace(",", "")), len(digits)) for digits, number in zip(*found, strict=True)]


def test_the_figures_of_a_row_stand_on_the_pages_that_it_names() -> None:
    """As they are, rounded, or in percent: a page that was made again leaves no older figure in the table."""
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    for line in text.partition("## Every table and figure")[2].partition("## Beyond the papers")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        pages = re.findall(r"\]\(([\w-]+\.md)\)", cells[2]) if line.startswith("| ") else []
        known = [value for page in pages for value, _ in numbers((RESULTS / page).read_text(encoding="utf-8"))]
        for value, digits in numbers(f"{cells[4]} {cells[5]}") if pages else []:
            near = 0.51 * 10**-digits
            assert any(abs(one * scale - value) <= near for one in known for scale in (1, 100)), (cells[:2], value)
