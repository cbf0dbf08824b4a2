from __future__ import annotations

import contextlib
import errno
import hashlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from unbraid.data import cache
from unbraid.data.published import download
from unbraid.data.published.download import RemoteFile, fetch
from unbraid.errors import InputError

CONTENT = bytes(range(256)) * 4096


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.0)
    monkeypatch.setattr(download, "TIMEOUT", 5.0)
    monkeypatch.setenv("no_proxy", "*")


class Server:
    """A local server that behaves as badly as a test wants; requests are kept."""

    def __init__(self, *, break_after=None, ranges=True, body=CONTENT, kind="application/octet-stream", status=200):
        self.requests: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                wanted = self.headers.get("Range")
                outer.requests.append(wanted)
                start = int(wanted.split("=")[1].rstrip("-")) if wanted and ranges else 0
                if status != 200:
                    self.send_error(status)
                    return
                if start >= len(body):
                    self.send_error(416)
                    return
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body) - start))
                self.end_headers()
                end = len(body) if break_after is None else min(len(body), start + break_after)
                with contextlib.suppress(ConnectionError):  # the client may have seen enough
                    self.wfile.write(body[start:end])

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/file.bin"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def serve():
    servers = []

    def start(**behaviour):
        servers.append(Server(**behaviour))
        return servers[-1]

    yield start
    for server in servers:
        server.http.shutdown()
        server.http.server_close()


def remote(*urls, content=CONTENT, **fields):
    given: dict[str, Any] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()} | fields
    return RemoteFile("file.bin", urls, **given)


def dead_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/file.bin"


def left(folder):
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


def test_a_file_is_fetched_once(serve, tmp_path):
    server = serve()
    assert fetch(remote(server.url), tmp_path).read_bytes() == CONTENT
    fetch(remote(server.url), tmp_path)
    assert len(server.requests) == 1
    assert left(tmp_path) == ["file.bin"]


def test_a_breaking_connection_is_resumed_where_it_broke(serve, tmp_path):
    server = serve(break_after=300_000)
    assert fetch(remote(server.url), tmp_path).read_bytes() == CONTENT
    assert server.requests[0] is None
    assert server.requests[1:] == [f"bytes={k * 300_000}-" for k in range(1, len(server.requests))]


def test_a_later_call_goes_on_from_the_part(serve, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(CONTENT[:1000])
    server = serve()
    assert fetch(remote(server.url), tmp_path).read_bytes() == CONTENT
    assert server.requests == ["bytes=1000-"]


def test_a_part_of_another_version_is_fetched_afresh(serve, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(b"x" * 1000)
    server = serve()
    assert fetch(remote(server.url), tmp_path).read_bytes() == CONTENT
    assert server.requests == ["bytes=1000-", None]


def test_a_server_without_ranges_starts_again(serve, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(b"x" * 1000)
    assert fetch(remote(serve(ranges=False).url), tmp_path).read_bytes() == CONTENT


def test_a_complete_part_is_checked_and_used(serve, tmp_path):
    (tmp_path / "file.bin.part").write_bytes(CONTENT)
    assert fetch(remote(serve().url), tmp_path).read_bytes() == CONTENT


def test_a_dead_mirror_gives_way_to_the_next(serve, tmp_path):
    server = serve()
    assert fetch(remote(dead_address(), serve(status=404).url, server.url), tmp_path).read_bytes() == CONTENT
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("behaviour", "fields", "message"),
    [
        ({"body": CONTENT[::-1]}, {}, "sha256 .* instead of"),
        ({"body": CONTENT[::-1]}, {"sha256": None, "md5": hashlib.md5(CONTENT).hexdigest()}, "md5 .* instead of"),
        ({"body": b"<!DOCTYPE html><p>quota", "kind": "text/html"}, {}, "web page instead of the file"),
        ({"body": b"<html><p>quota", "kind": "text/html"}, {"bytes": None}, "web page instead of the file"),
        ({"body": CONTENT[:-7]}, {}, "instead of 1,048,576"),
        ({"status": 403}, {}, "HTTP 403"),
        ({"status": 503}, {}, "HTTP 503"),
    ],
)  # fmt: skip
def test_what_is_not_the_file_is_named_and_removed(serve, tmp_path, behaviour, fields, message):
    with pytest.raises(InputError, match=message) as caught:
        fetch(remote(serve(**behaviour).url, **fields), tmp_path)
    assert str(tmp_path) in str(caught.value)  # where to put the file by hand
    assert left(tmp_path) == []


def test_no_mirror_at_all_says_why(tmp_path):
    with pytest.raises(InputError, match="refused"):
        fetch(remote(dead_address()), tmp_path)
    assert left(tmp_path) == []


def test_no_space_is_known_before_and_noticed_during(serve, tmp_path, monkeypatch):
    class Full:
        free = 10

    server = serve()
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda path: Full)
        with pytest.raises(InputError, match="UNBRAID_DATA"):
            fetch(remote(server.url), tmp_path)
    assert left(tmp_path) == []

    def full(*args):
        (tmp_path / "file.bin.part").write_bytes(b"some")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download, "receive", full)
    with pytest.raises(InputError, match="No space left"):
        fetch(remote(server.url), tmp_path)
    assert left(tmp_path) == []


def test_a_wrong_file_put_there_by_hand_is_named_and_kept(tmp_path):
    (tmp_path / "file.bin").write_bytes(b"something else")
    with pytest.raises(InputError, match="not the published file"):
        fetch(remote(), tmp_path)
    assert left(tmp_path) == ["file.bin"]


def test_sizes_are_readable():
    assert cache.readable_size(5) == "5 B"
    assert cache.readable_size(1_048_576) == "1.0 MB"
    assert cache.readable_size(12_740_198_762) == "12.7 GB"


def test_a_file_without_a_published_digest_is_compared_with_its_first_copy(serve, tmp_path, cache_folder, caplog):
    unknown = remote(serve().url, sha256=None, fixed=True)
    fetch(unknown, tmp_path / "a")
    assert "no SHA-256 of file.bin is published" in caplog.text
    caplog.clear()
    fetch(unknown, tmp_path / "b")
    assert not caplog.text
    changed = remote(serve(body=CONTENT[::-1]).url, sha256=None, fixed=True)
    with pytest.raises(InputError, match=r"sha256 .* instead of .* which the first download had"):
        fetch(changed, tmp_path / "c")
    assert left(tmp_path / "c") == []
    (tmp_path / "a" / "file.bin").write_bytes(CONTENT[::-1])
    with pytest.raises(InputError, match=r"a/file\.bin' is not the published file"):
        fetch(unknown, tmp_path / "a")


def test_a_broken_record_of_digests_is_begun_again(serve, tmp_path, cache_folder):
    cache_folder.mkdir()
    (cache_folder / "checksums.json").write_text("[")
    fetch(remote(serve().url, sha256=None, fixed=True), tmp_path / "a")
    assert hashlib.sha256(CONTENT).hexdigest() in (cache_folder / "checksums.json").read_text()


def test_a_file_that_may_change_is_not_held_to_its_first_copy(serve, tmp_path, cache_folder):
    fetch(remote(serve().url, sha256=None), tmp_path / "a")
    fetch(remote(serve(body=CONTENT[::-1]).url, sha256=None), tmp_path / "b")
    assert not (cache_folder / "checksums.json").exists()
