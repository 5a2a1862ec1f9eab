"""A small HTTP server for downloads: with ranges, and with every trouble a server can make."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Files:
    """What the server has, and how it behaves.

    ``cut_after`` breaks that many answers off after so many bytes; ``ranges`` says whether it can
    resume; ``asked`` keeps the ``Range`` header of every request for a file.
    """

    def __init__(self, content):
        self.content = dict(content)
        self.ranges = True
        self.cuts = 0
        self.cut_after = 0
        self.shift = 0
        self.asked: list[str | None] = []

    def with_md5(self, name):
        digest = hashlib.md5(self.content[name], usedforsecurity=False).hexdigest()
        self.content[f"{name}.md5"] = f"MD5 ({name}) = {digest}\n".encode()
        return self


@contextmanager
def serving(files: Files) -> Iterator[str]:
    """Serve the files; yields the address of their folder."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            name = self.path.rpartition("/")[2]
            if name not in files.content:
                return self.send_error(404)
            body = files.content[name]
            wanted = self.headers.get("Range")
            if not name.endswith(".md5"):
                files.asked.append(wanted)
            start = 0
            if wanted and files.ranges:
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                if start >= len(body):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(body)}")
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                self.send_response(206)
                first = start + files.shift
                self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
            else:
                self.send_response(200)
            rest = body[start:]
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            if files.cuts and not name.endswith(".md5"):
                files.cuts -= 1
                rest = rest[: files.cut_after]
                self.close_connection = True
            self.wfile.write(rest)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/data/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
