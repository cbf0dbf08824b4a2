"""`unbraid metrics`: what is said of every metric."""

import pytest

from unbraid import metrics as m
from unbraid.cli.main import main
from unbraid.metrics.standing import published


def test_every_metric_is_listed_with_what_is_known_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    for name, metric in m.METRICS.items():
        assert name in said
        assert metric.reference in said
    for name, entry in published()["scores"].items():
        about = said.partition(f" {name} " if name != "mig" else "mig ")[2]
        chance, ceiling = (
            f"{value:.2f}".replace("-0.00", "0.00") for value in (entry["chance"]["mean"], entry["ceiling"])
        )
        head = about[: about.index("ceiling") + 20].replace("−", "-")
        assert f"chance {chance} · ceiling {ceiling}" in head, name
    assert "−∞ … 1 · lower is better · chance 0.00" in said, "a share that leaks may be below 0"
    assert "elbo_terms/kl" in said, "parts are listed one by one"
