"""Files from the network: mirrors in turn, broken transfers resumed, nothing used before its checksum is right."""

from __future__ import annotations

import errno
import hashlib
import http.client
import shutil
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid._version import __version__
from unbraid.data import cache
from unbraid.data.published.recorded import compare
from unbraid.errors import InputError

TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 4  # of one mirror in a row without progress
PAUSE = 1.0  # seconds between them
CHUNK = 1 << 20


@dataclass(frozen=True)
class RemoteFile:
    """A file, where it can be had, and how to know that it is the right one."""

    name: str
    urls: tuple[str, ...]
    bytes: int | None = None
    sha256: str | None = None
    md5: str | None = None
    fixed: bool = False  # it never changes: without a SHA-256, later copies must be like the first download


class Refused(Exception):
    """A mirror that does not give the file, in a few words."""


def fetch(file: RemoteFile, folder: Path) -> Path:
    """The file in `folder`, downloaded and verified if it is not there yet.

    A broken transfer leaves `NAME.part`, from which the next call goes on; anything wrong is removed.

    Args:
        file: what to fetch, from where, and how to know that it is right.
        folder: where it goes.

    Returns:
        Its path.
    """
    target = folder / file.name
    if target.exists():
        verify(file, target)
        return target
    part = folder / f"{file.name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reasons = []
        # A part left by an earlier call may be of another version: its address is tried a second time afresh.
        for url in [*file.urls[:1]] * part.exists() + [*file.urls]:
            try:
                transfer(file, url, part)
                check(file, part)
                part.replace(target)
                return target
            except Refused as refusal:
                reasons.append(f"{url}: {refusal}")
    except OSError as error:
        if error.errno == errno.ENOSPC:
            part.unlink(missing_ok=True)
        raise cache.write_error(folder, error) from error
    raise InputError(
        f"{file.name} could not be downloaded ({'; '.join(reasons)}); repeat the command later, "
        f"or put the file into {str(folder)!r} yourself."
    )


def transfer(file: RemoteFile, url: str, part: Path) -> None:
    """Bring `part` to its full length, resuming as often as the connection breaks while there is progress."""
    failures = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            if receive(file, url, part):
                return
            reason = "the connection broke"
        except urllib.error.HTTPError as error:
            if error.code == 416 and before:  # nothing left to send, or a stale part
                if file.bytes in (None, before):
                    return
                part.unlink()
                reason = "the partial file did not fit"
            elif error.code < 500 and error.code not in (408, 429):
                raise Refused(f"HTTP {error.code} {error.reason}") from error
            else:
                reason = f"HTTP {error.code} {error.reason}"
        except urllib.error.URLError as error:
            reason = str(error.reason)
        except (TimeoutError, http.client.HTTPException, ConnectionError) as error:
            reason = str(error) or type(error).__name__
        now = part.stat().st_size if part.exists() else 0
        failures = 0 if now > before else failures + 1
        if failures >= ATTEMPTS:
            raise Refused(reason)
        time.sleep(PAUSE * failures)


def receive(file: RemoteFile, url: str, part: Path) -> bool:
    """Append what the server sends to `part`; False if it stopped early."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"unbraid/{__version__}"} | ({"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as answer:
        if answer.status != 206:
            have = 0  # the server starts again from the beginning
        elif not str(answer.headers.get("Content-Range", "")).startswith(f"bytes {have}-"):
            raise Refused("it resumes at the wrong place")
        length = answer.headers.get("Content-Length")
        total = have + int(length) if length else file.bytes
        if file.bytes and total != file.bytes:
            refuse_html(answer.headers, answer.read(512) if have == 0 else b"")
            raise Refused(f"it offers {total:,} bytes instead of {file.bytes:,}")
        if total and shutil.disk_usage(part.parent).free < total - have:
            raise OSError(errno.ENOSPC, f"{cache.readable_size(total - have)} are needed and not free")
        chunk = answer.read(CHUNK)
        if have == 0:
            refuse_html(answer.headers, chunk)
        with part.open("ab" if have else "wb") as out, cache.progress(f"fetching {file.name}", total, "bytes") as step:
            step(have)
            while chunk:
                out.write(chunk)
                step(len(chunk))
                chunk = answer.read(CHUNK)
            size = out.tell()
    return total is None or size == total


def refuse_html(headers: Any, start: bytes) -> None:
    """Raise `Refused` for a web page in place of the file: a login, a quota, an error that pretends to be fine."""
    opening = start.lstrip()[:15].lower()
    if opening.startswith((b"<!doctype html", b"<html")) or (not start and "html" in str(headers.get_content_type())):
        raise Refused("it sent a web page instead of the file")


def check(file: RemoteFile, part: Path) -> None:
    """Remove what is not the published file, and raise `Refused`."""
    wrong = mismatch(file, part, downloaded=True)
    if wrong:
        part.unlink()
        raise Refused(wrong)


def verify(file: RemoteFile, path: Path) -> None:
    """Refuse a file that somebody put there and that is not the published one; it is named, not removed.

    Args:
        file: the published one.
        path: of the file that is there.
    """
    try:
        wrong = mismatch(file, path)
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error
    if wrong:
        raise InputError(f"{str(path)!r} is not the published file ({wrong}); remove it and fetch it again.")


def mismatch(file: RemoteFile, path: Path, *, downloaded: bool = False) -> str:
    """What is wrong with a file, or ''. Where no SHA-256 is published, that of the first download is recorded."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        opening = stream.read(64).lstrip()[:15].lower()
    if opening.startswith((b"<!doctype html", b"<html")):
        return "it is a web page"
    if file.bytes is not None and size != file.bytes:
        return f"it has {size:,} bytes instead of {file.bytes:,}"
    wanted = [(name, value) for name, value in (("sha256", file.sha256), ("md5", file.md5)) if value]
    if wanted:
        name, value = wanted[0]
        found = digest(path, name)
        if found != value:
            return f"{name} {found[:12]}… instead of {value[:12]}…"
    return "" if file.sha256 or not file.fixed else compare(file.name, digest(path, "sha256"), record=downloaded)


def digest(path: Path, name: str) -> str:
    """Checksum of a file; large ones show progress."""
    # MD5 guards against damage here, not against malice; it is what some authors publish.
    state = hashlib.new(name, usedforsecurity=False)
    with path.open("rb") as stream, cache.progress(f"checking {path.name}", path.stat().st_size / 1e6) as step:
        while chunk := stream.read(CHUNK):
            state.update(chunk)
            step(len(chunk) / 1e6)
    return state.hexdigest()
