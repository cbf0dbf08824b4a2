"""Which scores read labels at test time, by their names in metrics.json: one rule for every table."""

from __future__ import annotations

WITHOUT = "without-labels/"  # before the names of scores of an encoder that could have read labels, and did not
# Nothing is encoded for the first two; labels are withheld for the third, or they would be found in any picture; the
# classifier of the fourth reads none.
READ_NONE = ("identifiability", "identity_change", "conditioning", "class_accuracy")
HEADS = ("with labels at test time", "without")


def label_use(name: str) -> tuple[str, bool]:
    """Of an entry of metrics.json whose encoder can read labels: the metric, and whether labels were read for it."""
    if name.startswith(WITHOUT):
        return name.removeprefix(WITHOUT), False
    return name, name.partition("/")[0] not in READ_NONE


from dataclasses import dataclass  # noqa: E402


@dataclass(frozen=True)
class MetricKey:
    metric: str
    part: str = ""
    stage: int = 0
    labels: bool = True

    def __str__(self) -> str:
        prefix = "" if self.labels else WITHOUT
        prefix += f"stage-{self.stage}/" if self.stage else ""
        return f"{prefix}{self.metric}" + (f"/{self.part}" if self.part else "")
