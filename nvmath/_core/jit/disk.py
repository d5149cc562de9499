"""A folder of compiled code that processes share."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path

__all__ = ["DiskCache", "cache_folder"]

_MAGIC = b"nvmath-jit-1\n"
_SUFFIX = ".bin"
_TEMPORARY = ".tmp"
_STALE_SECONDS = 3600.0
_DEFAULT_LIMIT = 256 << 20


def cache_folder() -> Path | None:
    """Where compiled code is kept: ``NVMATH_CACHE_DIR``, else the user's cache folder; None when there is none.

    ``NVMATH_DISABLE_DISK_CACHE=1`` switches it off.
    """
    if os.environ.get("NVMATH_DISABLE_DISK_CACHE", "0") not in ("", "0"):
        return None
    chosen = os.environ.get("NVMATH_CACHE_DIR")
    if chosen:
        return Path(chosen) / "jit"
    try:
        return _user_cache_folder() / "nvmath-anywhere" / "jit"
    except RuntimeError:  # no home folder
        return None


def _user_cache_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


class DiskCache:
    """Byte strings by key in a folder, safe with any number of processes.

    A file is written under a temporary name and renamed, so a reader sees all of it or nothing. It carries a
    checksum: a file that fails it counts as absent and is removed. A folder that cannot be used only means that
    nothing is kept.

    Parameters
    ----------
    folder
        Where the files lie; made when the first one is written. None keeps nothing.
    limit_nbytes
        When a write makes the files exceed this size, the least recently used ones go until three quarters of it are
        left.
    """

    def __init__(self, folder: Path | None, limit_nbytes: int = _DEFAULT_LIMIT) -> None:
        self._folder = folder
        self._limit = limit_nbytes

    def get(self, key: str) -> bytes | None:
        """The bytes stored under `key`, or None."""
        if self._folder is None:
            return None
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        payload = _unseal(content)
        with contextlib.suppress(OSError):
            if payload is None:
                path.unlink()
            else:
                os.utime(path)  # the last use, for `_evict`
        return payload

    def put(self, key: str, payload: bytes) -> bool:
        """Store `payload` under `key`; False when the folder does not allow it."""
        if self._folder is None:
            return False
        temporary = ""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(_TEMPORARY, dir=self._folder)
            with os.fdopen(handle, "wb") as file:
                file.write(_seal(payload))
            os.replace(temporary, self._path(key))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            return False
        self._evict()
        return True

    def _path(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / (hashlib.sha256(key.encode()).hexdigest() + _SUFFIX)

    def _evict(self) -> None:
        """Bound the size and remove what interrupted writers left; other processes may do so at the same time."""
        assert self._folder is not None
        entries: list[tuple[float, int, str]] = []
        with contextlib.suppress(OSError), os.scandir(self._folder) as found:
            for entry in found:
                with contextlib.suppress(OSError):
                    status = entry.stat()
                    if entry.name.endswith(_SUFFIX):
                        entries.append((status.st_mtime, status.st_size, entry.path))
                    elif entry.name.endswith(_TEMPORARY) and time.time() - status.st_mtime > _STALE_SECONDS:
                        os.unlink(entry.path)
        total = sum(size for _, size, _ in entries)
        if total <= self._limit:
            return
        for _, size, path in sorted(entries):
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size
            if total <= self._limit * 3 // 4:
                return


def _seal(payload: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(payload).digest() + payload


def _unseal(content: bytes) -> bytes | None:
    start = len(_MAGIC) + hashlib.sha256().digest_size
    if not content.startswith(_MAGIC) or len(content) < start:
        return None
    payload = content[start:]
    return payload if hashlib.sha256(payload).digest() == content[len(_MAGIC) : start] else None
