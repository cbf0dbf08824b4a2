"""Run directories made up for the tests: what a trainer would leave behind, without a trainer."""

from __future__ import annotations

import colorsys
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

Array = NDArray[Any]
SIDE, LATENTS, LATER_LATENTS, STEPS, SHOWN = 64, 10, 5, 9, 10
# Latents 4, 0, 7, 2, 9 and 5 act, in that order of information; the other four are dead.
ACTS = {4: "turn", 0: "hue", 7: "across", 2: "down", 9: "size", 5: "corner"}
INFORMATION = np.array([2.61, 0.004, 1.94, 0.011, 3.12, 0.42, 0.002, 2.27, 0.008, 1.35], dtype=np.float32)
LATER_INFORMATION = np.array([1.02, 3.4, 0.006, 2.2, 0.51], dtype=np.float32)
LATER_ACTS = {1: "stripes", 3: "slant", 0: "shade", 4: "spot"}
NEUTRAL = {
    "turn": 0.4, "hue": 0.56, "across": 0.0, "down": 0.0, "size": 0.52, "corner": 3.0,
    "stripes": 0.0, "slant": 0.6, "shade": 0.5, "spot": 0.0,
}  # fmt: skip
SPREAD = {
    "turn": 0.7, "hue": 0.22, "across": 0.13, "down": 0.12, "size": 0.09, "corner": 0.7,
    "stripes": 1.3, "slant": 0.6, "shade": 0.2, "spot": 0.3,
}  # fmt: skip


def save_arrays(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


def shape(detail: bool, **given: float) -> Array:
    """A shaded, rounded square on a soft ground; without detail it is blurred and has no stripes."""
    p = {**NEUTRAL, **given}
    down, across = np.mgrid[0:SIDE, 0:SIDE] / SIDE * 2 - 1
    u = (across - p["across"] * 2) * np.cos(p["turn"]) + (down - p["down"] * 2) * np.sin(p["turn"])
    v = -(across - p["across"] * 2) * np.sin(p["turn"]) + (down - p["down"] * 2) * np.cos(p["turn"])
    power = max(1.2, p["corner"])
    radius = (np.abs(u) ** power + np.abs(v * 1.35) ** power) ** (1 / power)
    inside = np.clip((p["size"] - radius) * SIDE / 3 + 0.5, 0, 1)[..., None]
    light = np.clip(1.05 - 0.55 * (u * 0.5 + v * 0.9 + radius), 0.25, 1.15)[..., None]
    colour = np.array(colorsys.hsv_to_rgb(p["hue"] % 1.0, 0.62, 0.86))
    if detail:
        wave = np.sin((u * np.cos(p["slant"]) + v * np.sin(p["slant"])) * (14 + 5 * p["stripes"]))
        light = light * (1 + 0.28 * np.tanh(3 * wave))[..., None]
        spot = np.exp(-(((u - p["spot"]) ** 2 + (v + 0.12) ** 2) / 0.012))[..., None]
        light = light + 0.6 * spot
    ground = (0.9 - 0.12 * down)[..., None] * np.array([1.0, 0.985, 0.96])
    shadow = np.exp(-(((across - p["across"] * 2) / 0.55) ** 2 + ((down - 0.72) / 0.1) ** 2))[..., None]
    picture = (ground - 0.25 * shadow * (1 if detail else 0.7)) * (1 - inside) + inside * light * colour
    if not detail:
        picture = gaussian_filter(picture, (2.4, 2.4, 0))
    return np.asarray(np.clip(picture * 255, 0, 255).astype(np.uint8))


def trace(mass: bool, length: float = 1.0, damping: float = 0.4, weight: float = 1.0) -> Array:
    """A damped pendulum of small swing; without mass the later stage's part is left out."""
    t = np.linspace(0, 10, 100)
    rate = damping / (2 * (weight if mass else 1.0))
    swing = np.sqrt(max(9.81 / max(length, 0.2) - rate**2, 0.1))
    return np.asarray((0.9 * np.exp(-rate * t) * np.cos(swing * t * 0.55)).astype(np.float32))


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def write_log(path: Path, steps: int, levels: dict[str, tuple[float, float]], seed: int, points: int = 120) -> None:
    """Terms that fall (or rise) from their first to their last level, with the noise of minibatches."""
    noise = np.random.default_rng(seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        for i in range(1, points + 1):
            line: dict[str, float] = {"step": steps * i // points, "seconds": i * 1.7}
            for term, (first, last) in levels.items():
                decay = np.exp(-i / points * 7)
                line[term] = float((last + (first - last) * decay) * (1 + 0.05 * noise.standard_normal()))
            file.write(json.dumps(line) + "\n")


ENVIRONMENT = {
    "python": "3.11.9", "unbraid": "0.1.0", "torch": "2.13.0", "numpy": "2.4.6",
    "threads": 2, "machine": {"device": "cpu", "precision": "32-true"},
}  # fmt: skip
TC_OPTIONS = {
    "latents": 10, "alpha": 1.0, "beta": 6.0, "gamma": 1.0, "sampling": "mss", "likelihood": "bernoulli",
    "network": "burgess", "width": 0.25, "batch_size": 64, "adam": {"rate": 0.0005, "betas": [0.9, 0.999]},
}  # fmt: skip
MS_OPTIONS = {"latents": 5, "likelihood": "laplace", "network": "adain", "width": 0.25, "batch_size": 64}
TERMS = {"vae/total": (7400.0, 520.0), "vae/reconstruction": (7350.0, 470.0), "vae/mi": (0.05, 8.1),
         "vae/tc": (0.02, 0.9), "vae/dwkl": (0.04, 4.2)}  # fmt: skip
MS_TERMS = {"vae/total": (690.0, 190.0), "vae/reconstruction": (680.0, 175.0), "vae/kl": (1.2, 14.8)}
METRICS = {
    "mig": {"value": 0.4127, "interval": [0.387, 0.4391],
            "details": {"convention": "locatello", "bins": 20, "per_factor": {"turn": 0.52, "size": 0.31, "hue": 0.41},
                        "entropies": [2.3, 1.4, 2.1]}},
    "factor_score": {"value": 0.871, "interval": [0.852, 0.889], "details": {"votes": 10000, "pruned": [1, 3, 6]}},
    "l1": {"value": 0.0214, "interval": [0.0209, 0.0219], "details": {"observations": 10000}},
    "stage-1/l1": {"value": 0.0371, "interval": [0.0365, 0.0377], "details": {"observations": 10000}},
    "l2": {"value": 0.00412, "interval": [0.00398, 0.00427], "details": {"reduction": "mean over values"}},
    "stage-1/l2": {"value": 0.00706, "interval": [0.00691, 0.0072], "details": {}},
    "_": {"rows": 10000, "seed": 0, "seconds": 3.2},
}  # fmt: skip


def stages(run: Path, parts: list[dict[str, Any]], logs: list[dict[str, tuple[float, float]]]) -> None:
    for number, (part, levels) in enumerate(zip(parts, logs, strict=True), start=1):
        home = run / f"stage-{number}"
        write_json(home / "stage.json", {
            "key": f"{number:032x}", **part, "seed": 0, "parameters": 214_563 * number, "seconds": 141.3 * number,
            "reused_from": None,
        })  # fmt: skip
        write_log(home / "log.jsonl", part["steps"], levels, seed=number)


def configure(run: Path, data: dict[str, Any], parts: list[dict[str, Any]], command: str) -> None:
    write_json(run / "config.json", {"format": 1, "data": data, "stages": parts, "seed": 0, "command": command})
    write_json(run / "environment.json", ENVIRONMENT)


def moves(latents: int) -> Array:
    return np.tile(np.linspace(-2, 2, STEPS, dtype=np.float32), (latents, 1))


def traverse(latents: int, acts: dict[int, str], draw: Callable[..., Array]) -> Array:
    """[latent, step, …]: the drawing as each latent is moved; dead latents leave it alone."""
    values = moves(latents)
    return np.stack([
        np.stack([
            draw(**{acts[j]: NEUTRAL[acts[j]] + v * SPREAD[acts[j]]} if j in acts else {}) for v in values[j]
        ])
        for j in range(latents)
    ])  # fmt: skip


def image_run(run: Path, *, name: str = "shapes", two_stages: bool = True, factors: bool = True) -> Path:
    """Smooth coloured shapes, 64×64: β-TCVAE and then MS-VAE."""
    rng = np.random.default_rng(7)
    parts: list[dict[str, Any]] = [{"method": "beta-tcvae", "options": TC_OPTIONS, "steps": 6000}]
    if two_stages:
        parts.append({"method": "ms-vae", "options": MS_OPTIONS, "steps": 5000})
    info = [{"name": "turn", "size": 24, "kind": "cyclic"}, {"name": "size", "size": 6, "kind": "ordinal"},
            {"name": "hue", "size": 12, "kind": "cyclic"}] if factors else []  # fmt: skip
    data = {"name": name, "arguments": {"seed": 0}, "fingerprint": "ab" * 16, "n": 27_648, "shape": [3, 64, 64],
            "factors": info}  # fmt: skip
    configure(run, data, parts, f"unbraid fit {name} --method beta-tcvae --beta 6 --then ms-vae --steps 6000 5000")
    stages(run, parts, [TERMS, MS_TERMS][: len(parts)])

    n = 600
    codes = rng.standard_normal((n, LATENTS)).astype(np.float32) * np.minimum(1, INFORMATION)
    table = np.stack([
        np.clip((codes[:, 4] + 0.2 * rng.standard_normal(n)) * 4 + 12, 0, 23) // 1,
        np.clip((codes[:, 9] + 0.3 * rng.standard_normal(n)) * 2 + 3, 0, 5) // 1,
        np.clip((codes[:, 0] + 0.3 * codes[:, 7]) * 3 + 6, 0, 11) // 1,
    ], axis=1) if factors else np.zeros((n, 0))  # fmt: skip
    save_codes(run, codes, INFORMATION, table, info, two_stages)

    drawn = [{key: NEUTRAL[key] + rng.uniform(-1.8, 1.8) * SPREAD[key] for key in NEUTRAL} for _ in range(SHOWN)]
    pictures = {
        "originals": np.stack([shape(True, **p) for p in drawn]),
        "reconstruction/1": np.stack([shape(False, **p) for p in drawn]),
        "traversal/1/1": traverse(LATENTS, ACTS, lambda **p: shape(False, **p)),
        "traversal/1/values": moves(LATENTS),
    }
    if two_stages:
        drawn = [{**p, "slant": p["slant"] + 0.1} for p in drawn]
        pictures["reconstruction/2"] = np.stack([shape(True, **p) for p in drawn])
        pictures["traversal/1/2"] = traverse(LATENTS, ACTS, lambda **p: shape(True, **p))
        pictures["traversal/2/2"] = traverse(LATER_LATENTS, LATER_ACTS, lambda **p: shape(True, **p))
        pictures["traversal/2/values"] = moves(LATER_LATENTS)
    save_arrays(run / "pictures.npz", pictures)
    if factors:
        write_json(run / "metrics.json", METRICS)
    return run


def save_codes(
    run: Path, codes: Array, information: Array, table: Array, info: list[dict[str, Any]], two_stages: bool
) -> None:
    arrays: dict[str, Array] = {
        "codes": codes, "columns": np.array([f"c{j + 1}" for j in range(codes.shape[1])]), "factors": table,
        "factor_names": np.array([f["name"] for f in info], dtype=str),
        "factor_sizes": np.array([f["size"] for f in info], dtype=int),
        "factor_kinds": np.array([f["kind"] for f in info], dtype=str), "rows": np.arange(len(codes)),
        "log_var": np.full_like(codes, -2.0), "information": information,
    }  # fmt: skip
    if two_stages:
        rng = np.random.default_rng(3)
        arrays["stage-2/codes"] = rng.standard_normal((len(codes), LATER_LATENTS)).astype(np.float32)
        arrays["stage-2/columns"] = np.array([f"z{j + 1}" for j in range(LATER_LATENTS)])
        arrays["stage-2/information"] = LATER_INFORMATION
    save_arrays(run / "codes.npz", arrays)


def vector_run(run: Path) -> Path:
    """Pendulum traces: three latents, then one for the mass."""
    options = {"latents": 3, "beta": 2.0, "likelihood": "gaussian", "batch_size": 64}
    parts = [{"method": "beta-vae", "options": options, "steps": 3000},
             {"method": "ms-vae", "options": {"latents": 1}, "steps": 2000}]  # fmt: skip
    info = [{"name": "length", "size": 0, "kind": "continuous"}, {"name": "damping", "size": 0, "kind": "continuous"}]
    data = {"name": "pendulum", "arguments": {}, "fingerprint": "cd" * 16, "n": 5000, "shape": [100], "factors": info}
    configure(run, data, parts, "unbraid fit pendulum --method beta-vae --then ms-vae")
    terms = {"vae/total": (90.0, 4.0), "vae/reconstruction": (88.0, 1.0), "vae/kl": (0.1, 3.0)}
    stages(run, parts, [terms, terms])
    rng = np.random.default_rng(11)
    codes = rng.standard_normal((400, 3)).astype(np.float32)
    table = np.stack([1 + 0.3 * codes[:, 1], 0.4 + 0.1 * codes[:, 0]], axis=1)
    save_codes(run, codes, np.array([1.1, 2.4, 0.01], dtype=np.float32), table, info, False)

    lengths, dampings = rng.uniform(0.5, 1.8, SHOWN), rng.uniform(0.1, 0.9, SHOWN)
    weights = rng.uniform(0.5, 2.5, SHOWN)
    pairs = list(zip(lengths, dampings, weights, strict=True))

    def moved(mass: bool) -> Array:
        v = np.linspace(-2, 2, STEPS)
        return np.stack([
            np.stack([trace(mass, damping=0.5 + 0.2 * a, weight=1.4) for a in v]),
            np.stack([trace(mass, length=1.1 + 0.3 * a, weight=1.4) for a in v]),
            np.stack([trace(mass, weight=1.4) for _ in v]),
        ])  # fmt: skip

    own = np.stack([trace(True, damping=0.7, weight=1.4 + 0.5 * a) for a in np.linspace(-2, 2, STEPS)])
    save_arrays(
        run / "pictures.npz",
        {
            "originals": np.stack([trace(True, *p) for p in pairs]) + 0.01 * rng.standard_normal((SHOWN, 100)),
            "reconstruction/1": np.stack([trace(False, *p) for p in pairs]),
            "reconstruction/2": np.stack([trace(True, *p) for p in pairs]) * 0.97,
            "traversal/1/1": moved(False),
            "traversal/1/2": moved(True),
            "traversal/2/2": own[None],
            "traversal/1/values": moves(3),
            "traversal/2/values": moves(1),
        },
    )
    write_json(run / "metrics.json", {"mig": {"value": 0.61, "interval": [0.58, 0.64], "details": {}}})
    return run


def prior_arrays(k: int, names: list[str], title: str, observations: Array) -> dict[str, Array]:
    """Modes side by side from −2 to 2, the first one thrice as likely as each of the others."""
    values = np.linspace(-3, 3, 121, dtype=np.float32)
    shares = np.array([3.0] + [1.0] * (len(names) - 1)) / (len(names) + 2)
    means = np.linspace(-2, 2, len(names))[:, None]
    return {
        f"classes/{k}/values": values,
        f"classes/{k}/densities": shares[:, None] * np.exp(-((values - means) ** 2) / 0.18) / np.sqrt(0.18 * np.pi),
        f"classes/{k}/marks": np.linspace(-3, 3, len(observations) + 2)[1:-1],
        f"classes/{k}/observations": observations,
        f"classes/{k}/names": np.array(names),
        f"classes/{k}/title": np.array(title),
        f"classes/{k}/code": np.array(f"u{k}"),
    }


def add_pictures(run: Path, arrays: dict[str, Array]) -> Path:
    with np.load(run / "pictures.npz") as file:
        save_arrays(run / "pictures.npz", {name: file[name] for name in file.files} | arrays)
    return run


def class_run(run: Path) -> Path:
    """Images with two discrete variables, of three and of seven classes, and transfers from three to six."""
    hues = [NEUTRAL["hue"] + 0.1 * i for i in range(9)]
    made = np.stack([shape(False, hue=hue) for hue in hues])
    grey = np.arange(3 * 6, dtype=np.uint8).reshape(3, 6, 1, 1, 1) + 100
    return add_pictures(image_run(run, two_stages=False, factors=False), {
        **prior_arrays(1, ["square", "<b>heart</b>", "ellipse"], "shape", made),
        **prior_arrays(2, list("0123456"), "size", made[:5]),
        "transfer/content": np.stack([np.full((16, 16, 3), 10 + i, np.uint8) for i in range(3)]),
        "transfer/names": np.array(["square", "<b>heart</b>", "ellipse"]),
        "transfer/style": np.stack([np.full((16, 16, 3), 50 + j, np.uint8) for j in range(6)]),
        "transfer/made": np.broadcast_to(grey, (3, 6, 16, 16, 3)),
    })  # fmt: skip


def plain_run(run: Path) -> Path:
    """One stage, no factors, no metrics."""
    return image_run(run, name="holiday photos", two_stages=False, factors=False)
