"""One grammar for the names of scores in metrics.json: `[training/][without-labels/][stage-N/]metric[/part]`."""

from __future__ import annotations

from dataclasses import dataclass, replace

TRAINING = "training/"  # before those of training data, where the others are of held-out data
WITHOUT = "without-labels/"  # before the names of scores of an encoder that could have read labels, and did not
STAGE = "stage-"
HEADS = ("with labels at test time", "without")
# Nothing is encoded for the first two; labels are withheld for the third, or they would be found in any picture; the
# classifier of the fourth reads none.
READ_NONE = ("identifiability", "identity_change", "conditioning", "class_accuracy")
OLDER = {"elbo": "elbo_terms"}  # names in earlier files


@dataclass(frozen=True)
class MetricKey:
    """The name of one score, taken apart.

    Args:
        metric: the metric, as `unbraid metrics` lists it.
        part: one of several values of it: a term, a variable, a set of codes.
        stage: the stage whose output was measured; 0 for the final one.
        labels: False if labels were withheld from an encoder that can read them.
        training: whether it is of training data, beside the same score of held-out data.

    Example:
        >>> MetricKey.parse("without-labels/stage-1/l2")
        MetricKey(metric='l2', part='', stage=1, labels=False, training=False)
        >>> str(MetricKey("conditioning", "M1"))
        'conditioning/M1'
        >>> str(MetricKey.parse("elbo/kl"))
        'elbo_terms/kl'
    """

    metric: str
    part: str = ""
    stage: int = 0
    labels: bool = True
    training: bool = False

    @classmethod
    def parse(cls, text: str) -> MetricKey:
        """The key that `str` writes as this text; older names are read as the newer ones."""
        training = text.startswith(TRAINING)
        text = text.removeprefix(TRAINING)
        labels = not text.startswith(WITHOUT)
        rest = text.removeprefix(WITHOUT)
        stage = 0
        first, _, after = rest.partition("/")
        number = first.removeprefix(STAGE)
        if first.startswith(STAGE) and number.isdigit() and after:
            stage, rest = int(number), after
        metric, _, part = rest.partition("/")
        return cls(OLDER.get(metric, metric) if part else metric, part, stage, labels, training)

    def __str__(self) -> str:
        stage = f"{STAGE}{self.stage}/" if self.stage else ""
        part = f"/{self.part}" if self.part else ""
        return f"{TRAINING if self.training else ''}{'' if self.labels else WITHOUT}{stage}{self.metric}{part}"

    @property
    def final(self) -> MetricKey:
        """The same score of the final output."""
        return replace(self, stage=0)

    @property
    def plain(self) -> MetricKey:
        """The same score, whatever became of labels."""
        return replace(self, labels=True)

    @property
    def reads_labels(self) -> bool:
        """Whether labels were read for the score, if the run's encoder can read them at all."""
        return self.labels and self.metric not in READ_NONE
