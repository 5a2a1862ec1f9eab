"""A disk that fails on demand: an SQLite file system whose writes and syncs can be refused.

SQLite reaches the disk through a table of functions. ``FaultyDisk`` registers a copy of the usual
table in which ``xWrite`` and ``xSync`` first ask whether they may; everything else is real.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools

FULL = 13  # SQLITE_FULL: no space left on the device
WRITE_ERROR = 10 | (3 << 8)  # SQLITE_IOERR_WRITE: EIO on write
SYNC_ERROR = 10 | (4 << 8)  # SQLITE_IOERR_FSYNC: EIO on fsync

_pointer = ctypes.c_void_p
_OPEN = ctypes.CFUNCTYPE(
    ctypes.c_int, _pointer, _pointer, _pointer, ctypes.c_int, ctypes.POINTER(ctypes.c_int)
)
_WRITE = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer, ctypes.c_int, ctypes.c_int64)
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, ctypes.c_int)


class _Vfs(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("file_size", ctypes.c_int),
        ("max_path", ctypes.c_int),
        ("next", _pointer),
        ("name", ctypes.c_char_p),
        ("data", _pointer),
        ("open", _pointer),
        ("rest", _pointer * 17),
    ]


class _Methods(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("close", _pointer),
        ("read", _pointer),
        ("write", _pointer),
        ("truncate", _pointer),
        ("sync", _pointer),
        ("rest", _pointer * 13),
    ]


_numbers = itertools.count()
_alive = []  # SQLite keeps pointers to these for as long as the process lives


class FaultyDisk:
    """``name`` goes to ``SqliteStore(vfs=...)``; ``fail_writes`` and ``fail_syncs`` break it.

    ``after`` counts calls that still succeed.
    """

    def __init__(self):
        library = ctypes.CDLL(ctypes.util.find_library("sqlite3"))
        library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
        self.name = f"faulty{next(_numbers)}"
        self.calls = {"write": 0, "sync": 0}
        self._broken = {}
        usual = library.sqlite3_vfs_find(None).contents
        self._vfs = _Vfs.from_buffer_copy(usual)
        self._vfs.name = self.name.encode()
        self._vfs.next = None
        self._usual_open = _OPEN(usual.open)
        self._own_open = _OPEN(self._open)
        self._vfs.open = ctypes.cast(self._own_open, _pointer)
        self._tables = {}
        _alive.append(self)
        assert library.sqlite3_vfs_register(ctypes.byref(self._vfs), 0) == 0

    def fail_writes(self, code=FULL, after=0):
        self._broken["write"] = [after, code]

    def fail_syncs(self, code=SYNC_ERROR, after=0):
        self._broken["sync"] = [after, code]

    def heal(self):
        self._broken.clear()

    def _verdict(self, kind):
        self.calls[kind] += 1
        broken = self._broken.get(kind)
        if broken is None:
            return 0
        if broken[0] > 0:
            broken[0] -= 1
            return 0
        return broken[1]

    def _open(self, vfs, name, file, flags, out):
        result = self._usual_open(vfs, name, file, flags, out)
        if result == 0:
            slot = ctypes.cast(file, ctypes.POINTER(_pointer))
            slot[0] = self._table(slot[0])
        return result

    def _table(self, address):
        if address not in self._tables:
            usual = _Methods.from_address(address)
            own = _Methods.from_buffer_copy(usual)
            write, sync = _WRITE(usual.write), _SYNC(usual.sync)

            def faulty_write(file, data, amount, offset):
                return self._verdict("write") or write(file, data, amount, offset)

            def faulty_sync(file, flags):
                return self._verdict("sync") or sync(file, flags)

            kept = _WRITE(faulty_write), _SYNC(faulty_sync)
            own.write = ctypes.cast(kept[0], _pointer)
            own.sync = ctypes.cast(kept[1], _pointer)
            self._tables[address] = (own, kept)
        return ctypes.addressof(self._tables[address][0])
