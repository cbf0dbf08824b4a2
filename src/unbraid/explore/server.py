"""The explorer with the model on this machine: the same page, whose worker asks a small server instead of computing."""

from __future__ import annotations

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.core import Encodes
from unbraid.errors import InputError
from unbraid.explore.builder import assemble
from unbraid.explore.description import code_table, describe
from unbraid.explore.graphs import StageGraphs, examples
from unbraid.explore.material import gather_material
from unbraid.runs.chain import Codes, decodes, flat, knows_prior_only, means, unflat, with_earlier_codes
from unbraid.runs.decoding import decode_part
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import write_json
from unbraid.util.names import FILE, check_names

HOST = "127.0.0.1"
MOST = 1 << 28  # bytes of a request


class ServedModel:
    """A run that answers what the page's worker asks: observations for codes, and codes for an observation.

    Questions and answers are float32 numbers, one after another; the page knows how many belong to each stage.
    """

    def __init__(self, run: RunDirectory) -> None:
        self.run, self.lock = run, threading.Lock()
        table = code_table(run)
        material = gather_material(run, table)
        given = examples(run.chain, material.inputs(run, 1), None)
        self.likes: list[Codes] = [example.codes for example in given]
        self.widths = [sum(group.shape[1] for group in like.values()) for like in self.likes]
        graphs = [StageGraphs(None, None, {key: v.shape[1] for key, v in like.items()}) for like in self.likes]
        self.page = assemble(run, graphs, table, material, describe(run, graphs, table))

    @torch.inference_mode()
    def decode(self, numbers: NDArray[np.float32]) -> NDArray[np.float32]:
        """What every stage makes of the codes of all stages."""
        with self.lock:
            made = decode_part(self.run, self.split(numbers), self.likes)
        return np.concatenate([output.float().cpu().numpy().ravel() for output in made])

    @torch.inference_mode()
    def encode(self, numbers: NDArray[np.float32]) -> NDArray[np.float32]:
        """The codes of an observation in every stage; codes that no encoder finds stay as they were."""
        shape, device = self.run.plan.data["shape"], self.run.device
        size = int(np.prod(shape))
        x = torch.from_numpy(numbers[:size].reshape(1, *shape).copy()).to(device)
        y, before = None, cast(Codes, {})
        found = []
        with self.lock:
            for stage, own, like in zip(self.run.chain.stages, self.split(numbers[size:]), self.likes, strict=True):
                if knows_prior_only(stage) or stage.config.codes_are_labels:
                    codes = unflat(own.to(device), like)
                else:
                    codes = means(cast(Encodes, stage).encode(x, y, None))
                y = decodes(stage).decode(with_earlier_codes(stage, codes, before), y)
                before = codes
                found.append(flat(codes).float().cpu().numpy().ravel())
        return np.concatenate(found)

    def split(self, numbers: NDArray[np.float32]) -> list[torch.Tensor]:
        """One row of codes for each stage."""
        if len(numbers) != sum(self.widths):
            raise InputError(f"there must be {sum(self.widths)} codes, not {len(numbers)}.")
        ends = np.cumsum(self.widths)[:-1]
        return [torch.from_numpy(part[None].copy()) for part in np.split(numbers, ends)]

    def save_names(self, content: bytes) -> None:
        """Write names.json, which pages and reports of the run read."""
        try:
            names = json.loads(content)
        except ValueError as error:
            raise InputError(f"names must come as JSON ({error}).") from error
        check_names(names, "names")
        write_json(self.run.folder / FILE, names)


class Handler(BaseHTTPRequestHandler):
    """Answers this machine's browser, and nobody who does not know the secret in the address."""

    server: ExplorerServer

    def do_GET(self) -> None:
        """The page."""
        if self.place() == "":
            self.reply(200, self.server.model.page.encode(), "text/html; charset=utf-8")
        else:
            self.reply(404, b"there is nothing here: take the address that unbraid printed.", "text/plain")

    def do_POST(self) -> None:
        """What the worker asks."""
        model, place = self.server.model, self.place()
        length = int(self.headers.get("Content-Length") or 0)
        if place not in ("decode", "encode", "names") or length > MOST:
            self.reply(404, b"there is nothing here: take the address that unbraid printed.", "text/plain")
            return
        content = self.rfile.read(length)
        try:
            if place == "names":
                model.save_names(content)
                self.reply(200, b"", "text/plain")
                return
            if len(content) % 4:
                raise InputError("numbers must come as float32.")
            numbers = np.frombuffer(content, "<f4")
            made = model.decode(numbers) if place == "decode" else model.encode(numbers)
        except InputError as error:
            self.reply(400, str(error).encode(), "text/plain; charset=utf-8")
            return
        self.reply(200, made.astype("<f4").tobytes(), "application/octet-stream")

    def place(self) -> str | None:
        """What is asked for, behind the secret; None for whoever does not know it, or comes by another name."""
        host, start = self.headers.get("Host", "").rpartition(":")[0], f"/{self.server.secret}/"
        if host not in (HOST, "localhost") or not self.path.startswith(start):
            return None
        return self.path.removeprefix(start)

    def reply(self, status: int, content: bytes, kind: str) -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: Any) -> None:
        """Nothing: a line for every move of a slider would hide what matters."""


class ExplorerServer(ThreadingHTTPServer):
    """Serves the explorer of a run to this machine alone.

    Args:
        run: a run whose stages are trained.
        port: 0 for any that is free.
    """

    daemon_threads = True

    def __init__(self, run: RunDirectory, port: int = 0) -> None:
        self.model, self.secret = ServedModel(run), secrets.token_urlsafe(12)
        try:
            super().__init__((HOST, port), Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"port {port} cannot be used ({reason}): choose another --port, or leave it out."
            ) from error

    @property
    def address(self) -> str:
        """Where a browser on this machine finds the page."""
        return f"http://{HOST}:{self.server_port}/{self.secret}/"
