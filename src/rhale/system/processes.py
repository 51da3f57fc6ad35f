"""Child processes: limited, read in bounded memory, ended with their parent."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import IO, Any

from rhale import errors
from rhale.errors import RhaleError

# --- An error on its way from another process: its kind, one sentence, and where it came from


@dataclass(frozen=True)
class ErrorRecord:
    """An error as plain text: others wrap exceptions, try again what cannot succeed, or run code."""

    kind: str  # name of its class, one of ours
    message: str  # one sentence
    trace: str = ""  # where it came from, for those who look for mistakes

    @staticmethod
    def of(error: RhaleError) -> ErrorRecord:
        """What to tell of an error."""
        trace = "".join(traceback.format_exception(error))
        return ErrorRecord(type(error).__name__, str(error), trace)

    @staticmethod
    def read(told: dict[str, Any]) -> ErrorRecord:
        """Read the message of another process, which may be anything."""
        return ErrorRecord(*(str(told.get(name)) for name in ("kind", "message", "trace")))

    def error(self) -> RhaleError:
        """The error, to be raised in this process; a kind that is not known here is still ours."""
        kind = getattr(errors, self.kind, RhaleError)
        is_ours = isinstance(kind, type) and issubclass(kind, RhaleError)
        return (kind if is_ours else RhaleError)(self.message)


KEPT_OUTPUT_BYTES = 2**16  # last bytes of what a child printed
PIPE_BLOCK_BYTES = 2**16  # bytes that are read at a time
MAX_CHILD_REPLY_BYTES = 2**30  # bytes of one answer; that of 10,000 features has a third of it
READER_TRY_SECONDS, READER_ENDS_IN_TRIES = 0.02, 100  # two seconds for the thread that reads a pipe
FAREWELL = 10.0  # seconds in which a child that says no more may end by itself
RESERVED = 2**34  # addresses beyond the memory itself: code, files and stacks that are only mapped
MIN_CHILD_MEMORY, CHILD_MEMORY_SHARE = 2**31, 0.75
PR_SET_PDEATHSIG = 1  # of Linux' prctl: the signal that a process gets when its parent ends
Say = Callable[..., None]


# --- the parent's side -------------------------------------------------------------------------


class SilentError(Exception):
    """A child ended, or closed its pipe, without an answer; the argument says how it ended."""


class ExitedError(SilentError):
    """A child ended by itself, with an exit code, without an answer."""


class TooLongError(Exception):
    """A child did not answer in time."""


class NotUnderstoodError(Exception):
    """A child wrote something else than lines of JSON."""


@contextmanager
def start_child(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A child in a group of its own: Ctrl-C reaches this process, which ends the whole group."""
    child = subprocess.Popen(  # noqa: S603 - our own modules
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **options,
    )
    try:
        yield child
    finally:
        end(child)
        with suppress(BrokenPipeError):  # what was not sent is of no use any more
            stream_of(child.stdin).close()
        at_work = {thread.name for thread in threading.enumerate()}
        for stream in map(stream_of, (child.stdout, child.stderr)):
            # Ctrl-C may come before one is read
            if not stream.closed and _reader_of(stream) not in at_work:
                stream.close()


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child and all that it has started, if it has not ended before."""
    if child.returncode is not None:
        return
    if hasattr(os, "killpg"):
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            child.kill()
    else:
        child.kill()
    child.wait()


def write_child_request(child: subprocess.Popen[bytes], line: bytes) -> None:
    """Write the one line that a child reads; if it has ended already, `read_messages` raises SilentError."""
    with suppress(BrokenPipeError):
        stream_of(child.stdin).write(line)
        stream_of(child.stdin).flush()


@contextmanager
def keep_last_output(child: subprocess.Popen[bytes]) -> Iterator[bytearray]:
    """The last bytes that a child prints, however much that is."""
    words = bytearray()

    def keep(block: bytes) -> None:
        words.extend(block)
        del words[:-KEPT_OUTPUT_BYTES]

    stream = stream_of(child.stderr)
    with read_aside(
        stream, lambda: os.read(stream.fileno(), PIPE_BLOCK_BYTES), keep, lambda: end(child)
    ):
        yield words


def read_messages(child: subprocess.Popen[bytes], seconds: float) -> Iterator[dict[str, Any]]:
    """What a child says, line by line, for as long as one listens.

    Raise `SilentError` if it says no more; `TooLongError` if it is still silent after so many
    seconds from now; `NotUnderstoodError` if it says something that is no JSON, or far too much.
    """
    lines: queue.Queue[bytes] = queue.Queue(maxsize=1)
    deadline = time.monotonic() + seconds

    def stop() -> None:
        end(child)
        while not lines.empty():  # so that the reader, who may wait for a place, sees the end
            lines.get_nowait()

    stream = stream_of(child.stdout)
    with read_aside(stream, lambda: stream.readline(MAX_CHILD_REPLY_BYTES), lines.put, stop):
        while True:
            try:
                line = lines.get(timeout=max(deadline - time.monotonic(), 0.001))
            except queue.Empty:
                raise TooLongError from None
            if not line:
                raise _ending_of(child)
            try:
                words = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise NotUnderstoodError from error
            yield words if isinstance(words, dict) else {}


@contextmanager
def read_aside(
    stream: IO[bytes],
    read: Callable[[], bytes],
    take: Callable[[bytes], None],
    stop: Callable[[], None],
) -> Iterator[None]:
    """Read pieces of a stream in a thread of its own; the last one is empty."""
    over = threading.Event()

    def read_all() -> None:
        try:
            while piece := read():
                take(piece)
            take(b"")
        finally:
            over.set()

    reader = threading.Thread(target=read_all, daemon=True, name=_reader_of(stream))
    try:
        reader.start()  # which Ctrl-C may interrupt, while the thread begins
        yield
    finally:
        # A reader that waits for a place in a queue sees the end only when `stop` has emptied it,
        # and may wait for a second place then.
        for _ in range(READER_ENDS_IN_TRIES):
            stop()
            if over.wait(READER_TRY_SECONDS):
                stream.close()
                break  # else someone beyond our reach holds the other end


def _reader_of(stream: IO[bytes]) -> str:
    """Name of the thread that reads a stream."""
    return f"reads {stream.fileno()}"


def _ending_of(child: subprocess.Popen[bytes]) -> SilentError:
    """How a child ended: a signal's name or an exit code; empty if it lives on and says nothing."""
    try:
        code = child.wait(timeout=FAREWELL)
    except subprocess.TimeoutExpired:
        return SilentError("")
    return SilentError(signal.Signals(-code).name) if code < 0 else ExitedError(f"exit code {code}")


def rebuilt(told: dict[str, Any]) -> RhaleError:
    """The error of a child (its kind and one sentence) as an error of this process."""
    return ErrorRecord.read(told).error()


def stream_of(stream: IO[bytes] | None) -> IO[bytes]:
    """One of a child's three pipes."""
    assert stream is not None  # noqa: S101 - all three are pipes
    return stream


# --- the child's side --------------------------------------------------------------------------


def end_with_parent() -> None:
    """End this process when its parent is gone, even while a model holds Python's lock."""
    # Linux sends a signal. Elsewhere, and for a parent that is gone already, a thread sees that
    # the input ends: the parent holds its other end and never writes again.
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_end_with_input, daemon=True).start()


def _end_with_input() -> None:
    while os.read(0, 2**12):
        continue
    os._exit(1)


def claim_output() -> IO[bytes]:
    """Keep standard output for answers; what models print goes to standard error."""
    mine = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return mine


def make_speaker(stream: IO[bytes]) -> Say:
    """A function that writes its arguments as one line of JSON."""

    def say(**words: Any) -> None:
        stream.write(json.dumps(words).encode() + b"\n")
        stream.flush()

    return say


def usual_memory() -> int:
    """Three quarters of the machine's memory, at least 2 GiB."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**33
    return max(int(CHILD_MEMORY_SHARE * memory), MIN_CHILD_MEMORY)


def written_size(size: int) -> str:
    """Write a size for people.

    Examples
    --------
    >>> written_size(2**29), written_size(3 * 2**29)
    ('512 MiB', '1.5 GiB')
    """
    return f"{size / 2**20:.3g} MiB" if size < 2**30 else f"{size / 2**30:.3g} GiB"


def can_limit() -> bool:
    """Whether this system lets a process limit its memory."""
    return find_spec("resource") is not None


def limit_this_process(max_memory: int, max_seconds: float) -> None:
    """Limit memory and processor time of this process, where the system can."""
    # Data is what a process really writes to. Addresses also count what it only maps, of which
    # large libraries have gigabytes, so their limit is wider; it holds where data has none.
    if not can_limit():
        return
    import resource

    cores = os.cpu_count() or 1
    _lower(resource.RLIMIT_CPU, int(max_seconds * cores) + 60)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_DATA, max_memory)
    _lower(resource.RLIMIT_AS, max_memory + RESERVED)


def _lower(which: int, limit: int) -> None:
    """Set a limit, unless a stricter one holds already."""
    import resource

    _, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY or limit < hard:
        try:
            resource.setrlimit(which, (limit, limit))
        except (ValueError, OSError):  # macOS knows the name of some limits only
            return


def is_about_memory(error: BaseException | None) -> bool:
    """Tell whether an error, or one behind it, says that memory ran out."""
    while error is not None:
        if isinstance(error, MemoryError) or "std::bad_alloc" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
