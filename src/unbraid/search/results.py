"""A search as a directory: its plan, its trials, its table, and what can be said of them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from unbraid import api
from unbraid.api import Run
from unbraid.data.factor_data import FactorData
from unbraid.data.optional import need
from unbraid.errors import InputError
from unbraid.evaluation.pictures import write_pictures
from unbraid.report import write_search_page
from unbraid.search.agreement import agreement
from unbraid.search.choice import recommendation
from unbraid.search.effects import effects
from unbraid.search.ranking import Ranked, Row, best_rows, ordered, plain, sign, summarise, title
from unbraid.search.trial import Trial, read_result
from unbraid.util.files import complete_file, read_json, write_json, write_text
from unbraid.util.schema import to_json

PLAN, TABLE, RANKING, TRIALS = "search.json", "table", "ranking.json", "trials"


class Search:
    """A search: what was tried, what came of it, and which run to take.

    Args:
        folder: the search's directory.
        trials: all that belong to it, with those that could not be.
        by: the figure to choose by.
        data: the data set, for runs whose data did not come from `load`.
        errors: sentences of trials that failed, by their names.
        stopped: trials that halving has left, each with the step at which it did.
    """

    def __init__(
        self,
        folder: Path,
        trials: Sequence[Trial],
        by: str,
        data: FactorData | None = None,
        errors: Mapping[str, str] | None = None,
        stopped: Mapping[str, int] | None = None,
    ) -> None:
        self.folder, self.trials, self.by, self.data = folder, tuple(trials), by, data
        self.errors, self.stopped = dict(errors or {}), dict(stopped or {})
        self.more = tuple({type(stage) for trial in self.trials for stage in trial.setting.stages})

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each trial."""
        return [self._row(trial) for trial in self.trials]

    def _row(self, trial: Trial) -> Row:
        setting = trial.setting
        if setting.error:
            return Row("", setting, trial.seed, "failed", {}, setting.error)
        if trial.name in self.errors:
            return Row(trial.name, setting, trial.seed, "failed", {}, self.errors[trial.name])
        result = read_result(self.trial_folder(trial))
        if result is None:
            step = self.stopped.get(trial.name)
            return Row(trial.name, setting, trial.seed, "waiting" if step is None else f"left at step {step}", {})
        return Row(trial.name, setting, trial.seed, "finished", result.figures, seconds=result.seconds)

    def trial_folder(self, trial: Trial) -> Path:
        """The run directory of a trial."""
        return self.folder / TRIALS / trial.name

    @cached_property
    def settings(self) -> list[Ranked]:
        """Settings from the best to the worst by the figure that the search chooses by."""
        groups: dict[str, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row.setting.name, []).append(row)
        found = []
        for rows in groups.values():
            finished = [row for row in rows if row.status == "finished"]
            agreed = agreement([self.folder / TRIALS / row.name for row in finished])
            found.append(summarise(rows[0].setting, rows, agreed))
        return ordered(found, self.by)

    def best(self, number: int = 1) -> Run:
        """The best run: of the best setting the seed with the best value; or the second best trial, and so on."""
        rows = best_rows(self.settings, self.by)
        if number > len(rows):
            raise InputError(f"{str(self.folder)!r} has {len(rows)} trials with a value of {title(self.by)}.")
        chosen = self._first_choice() if number == 1 else rows[number - 1]
        return api.open(self.folder / TRIALS / chosen.name, self.data, self.more)

    def _first_choice(self) -> Row:
        """Of the best setting the seed with the best value: one lucky seed of another setting does not count."""
        best = self.settings[0]
        return best_rows([best], self.by)[0]

    @property
    def recommendation(self) -> list[str]:
        """What to take and how sure that is, in sentences."""
        return recommendation(self.settings, self.by)

    @property
    def shown(self) -> dict[str, str]:
        """The trials whose pictures the page shows, by setting: the best one's best and the worst one's worst."""
        known = [one for one in self.settings if best_rows([one], self.by)]
        if len(known) < 2:
            return {}
        best, worst = best_rows([known[0]], self.by)[0], best_rows([known[-1]], self.by)[-1]
        return {best.setting.name: best.name, worst.setting.name: worst.name}

    def report(self) -> Path:
        """Write report.html, with pictures of the best and the worst run, and return its path."""
        for name in self.shown.values():
            run = api.open(self.folder / TRIALS / name, self.data, self.more)
            with suppress(InputError):  # weights that were dropped have no new pictures
                run.codes(show=False)
                write_pictures(run)
        return write_search_page(self.folder)

    def table(self) -> list[dict[str, Any]]:
        """A plain row for each trial: setting, seed, what was varied, status, figures."""
        agreed = {(one.setting.name, name): one.figures[name].seeds for one in self.settings for name in one.figures}
        varied = dict.fromkeys(name for row in self.rows for name in row.setting.values)
        figures = dict.fromkeys(name for one in self.settings for name in one.figures)
        made = []
        for row in self.rows:
            plain_row: dict[str, Any] = {"trial": row.name, "setting": row.setting.name, "method": row.setting.method}
            plain_row |= {name: row.setting.values.get(name) for name in varied}
            plain_row |= {"seed": row.seed, "status": row.status}
            plain_row |= {name: agreed.get((row.setting.name, name), {}).get(row.seed) for name in figures}
            made.append(
                plain_row | {"seconds": row.seconds if math.isfinite(row.seconds) else None, "error": row.error}
            )
        return made

    def to_pandas(self) -> Any:
        """The table as a DataFrame."""
        return need("pandas").DataFrame(self.table())

    def write(self) -> None:
        """Write table.csv, table.parquet where pyarrow is there, and ranking.json."""
        rows = self.table()
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text(self.folder / f"{TABLE}.csv", text.getvalue())
        try:
            frame = self.to_pandas()
            with complete_file(self.folder / f"{TABLE}.parquet") as place:
                frame.to_parquet(place)
        except (InputError, ImportError):  # the csv file says the same
            (self.folder / f"{TABLE}.parquet").unlink(missing_ok=True)
        write_json(
            self.folder / RANKING,
            {
                "format": 1,
                "by": self.by,
                "titles": {name: title(name) for one in self.settings for name in one.figures},
                "better": {name: sign(name) for one in self.settings for name in one.figures},
                "settings": [one | {"shown": self.shown.get(one["name"])} for one in plain(self.settings)],
                "effects": [to_json(effect) for effect in effects(self.settings, self.by)],
                "recommendation": self.recommendation,
            },
        )

    def drop_weights(self, keep: int) -> list[str]:
        """Remove what the weights of all but the best trials take; their figures, logs and codes for UDR stay.

        Args:
            keep: how many to keep, the best by the figure of the search. The recommended run is always among them.

        Returns:
            Names of the trials that lost theirs.
        """
        rows = best_rows(self.settings, self.by)
        first = [self._first_choice()] if rows else []
        kept = {row.name for row in [*first, *(row for row in rows if row not in first)][:keep]}
        dropped = []
        for row in rows:
            if row.name in kept:
                continue
            folder = self.folder / TRIALS / row.name
            stages = [stage for stage in folder.glob("stage-*") if (stage / "stage.json").exists()]
            for stage in stages:
                (stage / "stage.json").unlink()  # first: a stage without weights must not count as finished
                for file in [*stage.glob("*.safetensors"), *stage.glob("*.npy")]:
                    file.unlink()
            for name in ("codes.npz", "pictures.npz"):
                (folder / name).unlink(missing_ok=True)
            dropped += [row.name] if stages else []
        return dropped


def check_search(folder: Path, data: Mapping[str, Any]) -> None:
    """Refuse the directory of a search on other data."""
    path = folder / PLAN
    if path.is_file():
        there = (read_json(path) or {}).get("data", {})
        if there.get("fingerprint") != data["fingerprint"]:
            raise InputError(
                f"{str(folder)!r} holds a search on other data ({there.get('name')}): choose another --out."
            )
    elif (folder / "config.json").is_file():
        raise InputError(f"{str(folder)!r} is a run: choose another --out for the search.")
