"""Fetch a file over HTTP: with progress, resumed where it was cut off, and checked."""

from __future__ import annotations

import errno
import http.client
import os
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from clubcascade.datasets.checksums import md5
from clubcascade.datasets.watching import Progress, silent
from clubcascade.errors import DownloadFailed, InvalidArgument

TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut off."""
TRIES = 4
"""How often a connection is taken up again that brought something before it was cut off."""
PAUSE = 1.0
"""Seconds before it is taken up again."""

_PIECE = 1 << 18
_CUT = (URLError, http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLError)


def fetch(
    url: str, path: Path, *, checksum: str | None = None, progress: Progress = silent
) -> Path:
    """Fetch a file to a path, unless it is there already.

    What has come is kept beside it as ``.part``; the next call goes on from there. The file gets
    its name only when it is whole and its MD5 is right.

    Parameters
    ----------
    url, path
        From where, to where.
    checksum
        The MD5 that it must have; by default the one that lies beside it (``url`` + ``.md5``).
        Without either, its length alone is checked.
    progress
        Told what is being done, how many bytes of how many.
    """
    if not url.startswith(("https://", "http://")):
        raise InvalidArgument(f"url must start with https:// or http://, got {url!r}")
    if path.is_file():
        return path
    part = path.with_name(f"{path.name}.part")
    _fetch_all(url, part, progress)
    wanted = checksum or _published(f"{url}.md5")
    if wanted is not None and (found := md5(part)) != wanted:
        part.unlink()
        raise DownloadFailed(
            f"{url} came with a wrong checksum: its MD5 must be {wanted}, got {found}; "
            f"what came was deleted, the same command fetches it anew"
        )
    os.replace(part, path)
    return path


def _fetch_all(url: str, part: Path, progress: Progress) -> None:
    """Fetch until all is there; go on after a cut as long as each connection brings something."""
    for attempt in range(TRIES + 1):
        before = _size(part)
        try:
            return _fetch_rest(url, part, progress)
        except HTTPError as error:
            raise _refused(url, error) from None
        except _CUT as error:
            came = _size(part)
            if came == before or attempt == TRIES:
                raise _cut_off(url, came, error) from None
            time.sleep(PAUSE)


def _fetch_rest(url: str, part: Path, progress: Progress) -> None:
    start = _size(part)
    headers = {"User-Agent": "clubcascade", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        answer = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not start:
            raise
        error.close()
        if _total(error.headers) == start:
            return  # it was all there
        part.unlink()
        return _fetch_rest(url, part, progress)
    with answer:
        resumed = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        if resumed and _first(answer.headers) != start:
            raise DownloadFailed(f"{url} was not resumed where it was cut off; delete {part}")
        total = _total(answer.headers) if resumed else _length(answer.headers)
        done = start if resumed else 0
        part.parent.mkdir(parents=True, exist_ok=True)
        with _named(part), part.open("ab" if resumed else "wb") as stream:
            while piece := answer.read(_PIECE):
                stream.write(piece)
                done += len(piece)
                progress("fetching", done, total or done)
            stream.flush()
            os.fsync(stream.fileno())
    if total is not None and done < total:
        raise ConnectionError(f"{done:,} of {total:,} bytes came")


@contextmanager
def _named(part: Path) -> Iterator[None]:
    """Name the file where the disk is full: what came stays, to go on from."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(part)) from error


def _published(url: str) -> str | None:
    """Return the MD5 that is published in a small file; None where there is no such file."""
    request = Request(url, headers={"User-Agent": "clubcascade"})
    try:
        with urlopen(request, timeout=TIMEOUT) as answer:
            text = answer.read(4096).decode("utf-8", errors="replace")
    except HTTPError as error:
        refused = _refused(url, error)
        if error.code in (403, 404, 410):
            return None
        raise refused from None
    except _CUT as error:
        raise _cut_off(url, 0, error) from None
    found = re.search(r"\b[0-9a-fA-F]{32}\b", text)
    return found[0].lower() if found else None


def _refused(url: str, error: HTTPError) -> DownloadFailed:
    error.close()
    return DownloadFailed(f"{url} cannot be fetched: {error.code} {error.reason}")


def _cut_off(url: str, came: int, error: Exception) -> DownloadFailed:
    reason = getattr(error, "reason", None) or error
    words = " ".join(str(reason).split()) or type(error).__name__
    if came:
        return DownloadFailed(
            f"{url} was cut off after {came:,} bytes ({words}); the same command goes on from there"
        )
    return DownloadFailed(f"{url} cannot be reached ({words})")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _length(headers: Any) -> int | None:
    text = headers.get("Content-Length")
    return int(text) if text and text.isdigit() else None


def _total(headers: Any) -> int | None:
    found = re.fullmatch(r"bytes (?:\d+-\d+|\*)/(\d+)", headers.get("Content-Range") or "")
    return int(found[1]) if found else None


def _first(headers: Any) -> int | None:
    found = re.match(r"bytes (\d+)-", headers.get("Content-Range") or "")
    return int(found[1]) if found else None
