"""A call with a model file, made in a process of its own that closes itself off."""

from __future__ import annotations

import builtins
import json
import os
import pickle
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from glob import glob, has_magic
from inspect import signature
from pathlib import Path
from subprocess import DEVNULL, Popen, run
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import IO, Any, ParamSpec, TypeVar

from rhale import errors
from rhale.data.files.table import names_files
from rhale.errors import BadSettingError, ModelStoppedError, RhaleError, excerpt, warn_caller
from rhale.models.files.load import files_beside, is_named_object, require_file
from rhale.stability.result import restore_result
from rhale.system import LOG, closed
from rhale.system.processes import (
    ExitedError,
    NotUnderstoodError,
    SilentError,
    TooLongError,
    keep_last_output,
    read_messages,
    rebuilt,
    start_child,
    stream_of,
    usual_memory,
    write_child_request,
    written_size,
)

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
Hear = Callable[[dict[str, Any]], None]
MAX_SECONDS = 86_400.0  # of a call in Python; the command has an option
INTERRUPTED_REFIT_MESSAGE = "interrupted; finished retrainings are kept, Ctrl-C again ends at once"
TERMINAL_CONTROL_CHARACTERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)  # what a terminal does not take for text
UNCLOSED = "this system has no Landlock: a process that reads a model file may do what you may"
TREE_FILE_ENDINGS = (".txt", ".json", ".ubj", ".cbm", ".skops")
ENGINE_LIBRARIES = ("dask", "pyspark", "ray")
IS_CHILD_PROCESS = False  # whether this process is the one that may be ended


@dataclass(frozen=True)
class ChildLimits:
    """What a child may use, and what to tell those who reach a limit."""

    max_memory: int  # bytes
    max_seconds: float  # from now to its answer
    # more_memory, more_seconds: how more is allowed, for messages
    more_memory: str
    more_seconds: str
    model: str = "the model"  # what to call the model


# --- a child at work ------------------------------------------------------------------------------


def run_child(
    serve: str,  # the module whose `main` serves the request
    request: Mapping[str, Any],  # what to do, as plain values
    limits: ChildLimits,
    hear: Hear,  # gets the messages of the child: what it is doing, progress, notes
    *,
    # What the child may read, list and write, as `closed.close_off` takes it; None: all that we may
    opened: Mapping[str, Any] | None,
    rows: Callable[[IO[bytes]], object] = lambda _: None,  # writes what follows the request
    keeps: bool = False,  # whether the first Ctrl-C goes to the child, which returns what it has
    # Ending of the model file, and the call: which loops to compile again outside the sandbox
    compiles: tuple[str, str] = ("", ""),
    path: Sequence[str] = (),  # where the child finds modules, if not where Python does
    debug: bool = False,  # show what the child and its model print, and tracebacks
) -> dict[str, Any]:
    """Run a request in a process of its own; return its answer, which may be hostile."""
    # A frozen program would start itself again.
    if not sys.executable or getattr(sys, "frozen", False):
        msg = (
            f"{limits.model} cannot be read in a process of its own, because this Python does not know "
            "its program; load the model yourself (rhale.models.load_file) and pass that"
        )
        raise ModelStoppedError(msg)
    with ExitStack() as stack:
        usual, own = dict(os.environ), ""
        if path:
            usual["PYTHONPATH"] = os.pathsep.join(one or str(Path.cwd()) for one in path)
        surroundings = usual
        if opened is not None and not closed.can_close():
            opened = None
            LOG.debug("%s", UNCLOSED)
        if opened is not None:
            own = stack.enter_context(
                TemporaryDirectory(prefix="rhale-", ignore_cleanup_errors=True)
            )
            surroundings = {**usual, **own_places(own)}
            for folder in opened["writes"]:
                stack.enter_context(_folder_made(folder))
            opened = {**opened, "writes": [*opened["writes"], own]}
        # -P: imports nothing from this folder
        command = (sys.executable, "-P", str(closed.__file__))
        child = stack.enter_context(start_child(command, env=surroundings))
        stack.enter_context(_echoed(child, debug=debug))
        first = {"serve": serve, "open": opened}
        write_child_request(
            child, json.dumps(first).encode() + b"\n" + json.dumps(request).encode() + b"\n"
        )
        with suppress(BrokenPipeError):
            rows(stream_of(child.stdin))
            stream_of(child.stdin).flush()
        if not keeps:
            answer = _listen(child, limits, hear, debug=debug)
            if opened is not None:
                keep_compiled_tree_loops(own, *compiles, usual)
            return answer
        interrupts = stack.enter_context(_passing_on(child, hear))
        try:
            return _listen(child, limits, hear, debug=debug)
        except RhaleError as error:
            if interrupts:  # it had nothing to give yet
                raise KeyboardInterrupt from error
            raise


def _listen(child: Popen[bytes], limits: ChildLimits, hear: Hear, *, debug: bool) -> dict[str, Any]:
    """Hear a child until it answers, fails or ends."""
    try:
        for words in read_messages(child, limits.max_seconds):
            if isinstance(words.get("result"), dict):
                return dict(words["result"])
            if isinstance(words.get("error"), dict):
                raise rebuild_child_error(words["error"], debug=debug)
            hear(words)
    except (SilentError, TooLongError, NotUnderstoodError) as error:
        raise describe_child_end(error, limits) from error
    raise AssertionError  # the loop ends with an answer or an error


@contextmanager
def _passing_on(child: Popen[bytes], hear: Hear) -> Iterator[list[int]]:
    """Let the child, which keeps what is done, have the first Ctrl-C; the next one ends all.

    Gives a list of the signals that came.
    """
    came, former = list[int](), signal.getsignal(signal.SIGINT)

    def pass_on(number: int, _frame: object) -> None:
        came.append(number)
        signal.signal(signal.SIGINT, former)
        if sys.platform != "win32":  # where the console tells both
            child.send_signal(signal.SIGINT)
        with suppress(RuntimeError):  # of a stream that was being written to
            hear({"note": INTERRUPTED_REFIT_MESSAGE})

    is_ours = threading.current_thread() is threading.main_thread()
    if former in (signal.SIG_IGN, None) or not is_ours:  # of nohup, or of a program around Python
        yield came
        return
    signal.signal(signal.SIGINT, pass_on)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, former)


@contextmanager
def _echoed(child: Popen[bytes], *, debug: bool) -> Iterator[None]:
    """Show the last words of a child, once it has ended, to those who look for mistakes."""
    printed = bytearray()
    try:
        with keep_last_output(child) as printed:
            yield
    finally:
        if debug:
            sys.stderr.write(
                TERMINAL_CONTROL_CHARACTERS.sub("", bytes(printed).decode(errors="replace"))
            )


def describe_child_end(error: Exception, limits: ChildLimits) -> ModelStoppedError:
    """Say in one sentence how a child ended without an answer."""
    model = limits.model
    if isinstance(error, TooLongError):
        msg = f"{model} took longer than {limits.max_seconds:g} seconds and was stopped; {limits.more_seconds}"
    elif isinstance(error, NotUnderstoodError):
        msg = f"the process of {model} returned something that rhale does not understand"
    elif not (how := str(error)):
        msg = f"{model} closed the pipe to rhale, so its results cannot be read; it was stopped"
    elif isinstance(error, ExitedError):
        msg = f"{model} ended its process with {how}"
    elif how == "SIGXCPU":
        msg = f"{model} used up its processor time; {limits.more_seconds}"
    else:
        msg = (
            f"{model} crashed: its process was ended by {how}. It may be damaged, or need more "
            f"than {written_size(limits.max_memory)} of memory ({limits.more_memory})"
        )
    return ModelStoppedError(msg)


def rebuild_child_error(told: dict[str, Any], *, debug: bool) -> Exception:
    """The child's error, with its traceback for those who look for mistakes."""
    parts = [told.get(name) for name in ("errno", "message", "filename")]
    error: Exception = rebuilt(told)
    if told.get("kind") == "OSError" and list(map(type, parts)) == [int, str, str]:
        error = OSError(*parts)
    if debug:
        error.add_note(str(told.get("trace")))
    return error


# --- what a child may touch -----------------------------------------------------------------------


def open_for(models: Sequence[str], tables: Any, checkpoint: Any = None) -> dict[str, list[str]]:
    """What a child may read, list and write: what was named, and weights beside an ONNX graph."""
    reads, lists = [str(_user_cache() / "rhale")], list[str]()
    for model in map(Path, models):
        reads += [str(model), *(str(model.parent / name) for name in files_beside(model))]
    for table in _patterns(tables):
        if os.path.lexists(table) or not has_magic(table):
            reads.append(table)
            continue
        root = Path(table)
        while has_magic(str(root)):
            root = root.parent
        lists.append(str(root))
        reads += glob(table, recursive=True)  # noqa: PTH207 - the pattern has its folder
    writes = [] if checkpoint is None else [os.fspath(checkpoint)]
    return {"reads": reads, "lists": lists, "writes": writes}


def _user_cache() -> Path:
    """Where rhale keeps what numba has compiled, one folder below."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return given if given.is_absolute() else Path.home() / ".cache"


def own_places(folder: str) -> dict[str, str]:
    """Variables of a child that may write to one folder only.

    What numba has compiled is read through links, and what it compiles anew is not kept: a child
    must not write code that other processes run. joblib need not try whether it may share memory.
    """
    found = {"TMPDIR": folder, "JOBLIB_MULTIPROCESSING": "0", "XDG_CACHE_HOME": f"{folder}/cache"}
    compiled = Path("rhale", "compiled")
    for there in _newest(_user_cache() / compiled):
        _link(there, Path(folder, "cache", compiled, there.name))
    if own := os.environ.get("NUMBA_CACHE_DIR"):
        _link(Path(own), Path(folder, "numba"))
        found["NUMBA_CACHE_DIR"] = f"{folder}/numba"
    return found


def _newest(folder: Path, n: int = 2) -> list[Path]:
    """Folders in a folder that were written to last: those of older sources are not read any more."""
    places = [one for one in folder.glob("*") if one.is_dir()]
    written = {one: max(p.stat().st_mtime for p in (one, *one.glob("*/"))) for one in places}
    return sorted(places, key=written.__getitem__, reverse=True)[:n]


def _link(there: Path, here: Path) -> None:
    """Make the same folders with links to the files in them."""
    here.mkdir(parents=True)
    for place, folders, names in os.walk(there):
        mine = here / Path(place).relative_to(there)
        for name in folders:
            (mine / name).mkdir()
        for name in names:
            (mine / name).symlink_to(Path(place, name).absolute())


def keep_compiled_tree_loops(folder: str, ending: str, call: str, env: Mapping[str, str]) -> None:
    """Have what a child compiled compiled once more, and kept, by a process that reads no file."""
    new = [one for one in Path(folder, "cache", "rhale").rglob("*.nbi") if not one.is_symlink()]
    if not new or ending not in TREE_FILE_ENDINGS:
        return
    kept = _user_cache() / new[0].parent.relative_to(Path(folder, "cache"))
    try:
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        (kept / f"again-{call}").touch(exist_ok=False)
    except OSError:  # it was done before, or nothing can be kept
        return
    LOG.info("saving compiled code for later calls (some seconds)")
    work = f"from rhale.child import compile_tree_loops; compile_tree_loops({ending!r}, {call!r})"
    command = [sys.executable, "-P", "-c", work]
    with suppress(OSError):
        run(command, check=False, env=dict(env), stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)  # noqa: S603


def _patterns(tables: Any) -> list[str]:
    """Paths and patterns of tables; files of a dataset of pyarrow."""
    if isinstance(tables, str | Path):
        return [str(tables)]
    if isinstance(tables, list | tuple):
        return [str(one) for one in tables]
    return list(getattr(tables, "files", ()))


@contextmanager
def _folder_made(folder: str) -> Iterator[None]:
    """Make the folder of a checkpoint, which the child cannot make; not kept if nothing is in it."""
    is_new = not os.path.lexists(folder)
    if is_new:
        with suppress(OSError):  # the child says what is wrong with it
            Path(folder).mkdir(parents=True)
    try:
        yield
    finally:
        if is_new:
            with suppress(OSError):
                Path(folder).rmdir()


# --- calls of Python ------------------------------------------------------------------------------


def containing(call: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Do a call whose `model` or `models` are files in a child; others as they are."""
    takes = signature(call)

    @wraps(call)
    def asked(*given: Asked.args, **options: Asked.kwargs) -> Answer:
        if IS_CHILD_PROCESS:
            return call(*given, **options)
        try:
            named = dict(takes.bind(*given, **options).arguments)
        except TypeError:  # the call itself says what is missing
            return call(*given, **options)
        named |= named.pop("options", {})
        several = named.get("models")
        models = [named.get("model"), *(several if isinstance(several, list | tuple) else ())]
        paths = [model for model in models if isinstance(model, str | Path)]
        files = [str(path) for path in paths if not is_named_object(str(path))]
        return _contained(call.__name__, files, named) if files else call(*given, **options)

    return asked


def _contained(call: str, files: Sequence[str], named: dict[str, Any]) -> Any:
    """Do a call in a child, and read what comes back as `rhale.load` reads files."""
    for file in files:
        require_file(Path(file))
    name = ", ".join(files) if len(files) <= 3 else f"{len(files)} models"
    load_it = "load the model yourself (rhale.models.load_file) and pass that"
    data, checkpoint = named["data"], named.get("checkpoint")
    if type(data).__module__.partition(".")[0] in ENGINE_LIBRARIES:
        msg = (
            f"{name} is read in a process of its own, which cannot reach where the rows of a "
            f"{type(data).__module__.partition('.')[0]} table are; {load_it}"
        )
        raise BadSettingError(msg)
    limits = ChildLimits(
        usual_memory(),
        MAX_SECONDS,
        f"the model and the rows may have three quarters of the machine's; {load_it} to have all",
        f"n_rows= uses fewer rows; or {load_it}",
        name,
    )
    progress, tables = named.get("progress"), data if names_files(data) else ()
    request = {"call": call, "max_memory": limits.max_memory, "max_seconds": limits.max_seconds}
    sent = {**named, "progress": bool(progress)}
    with _hearing(progress, "training" if call == "refit" else "row") as hear:
        answer = run_child(
            "rhale.child",
            {**request, "model": name},
            limits,
            hear,
            opened=open_for(files, tables, checkpoint),
            rows=lambda stream: _send(sent, stream, name, load_it),
            keeps=call in ("refit", "refits"),
            compiles=(Path(files[0]).suffix.lower(), call),
            path=sys.path,
        )
    return restore_result(answer, f"the output of the process of {name}")


class _Sender(pickle.Pickler):
    """Writes arguments for another process; what only this program has cannot go there."""

    def reducer_override(self, held: Any) -> Any:
        if isinstance(held, type | FunctionType) and held.__module__ == "__main__":
            msg = f"{held.__qualname__} is of this program alone"
            raise pickle.PicklingError(msg)
        return NotImplemented


def _send(arguments: Mapping[str, Any], stream: IO[bytes], model: str, advice: str) -> None:
    """Write arguments one by one: name, value, ..., None."""
    for name, value in arguments.items():
        pickle.dump(name, stream)
        try:
            _Sender(stream, protocol=5).dump(value)
        except BrokenPipeError:
            raise
        except Exception as error:
            msg = (
                f"{name}={excerpt(repr(value), 60)} cannot be passed to the process that reads "
                f"{model} ({type(error).__name__}: {excerpt(error)}); {advice}"
            )
            raise BadSettingError(msg) from error
    pickle.dump(None, stream)


@contextmanager
def _hearing(progress: Any, unit: str) -> Iterator[Hear]:
    """Give the handler of a child's messages: progress bar or callback, notes to the log, warnings."""
    with ExitStack() as stack:
        tell = progress
        if progress and not callable(progress):
            from tqdm.auto import tqdm

            bar = stack.enter_context(tqdm(unit=unit, unit_scale=True, desc="rhale"))

            def tell(done: int, of: int) -> None:
                bar.total = of
                bar.update(done - bar.n)

        def hear(words: dict[str, Any]) -> None:
            done, of, note, warning = map(words.get, ("done", "of", "note", "warning"))
            if progress and type(done) is int and type(of) is int:
                tell(done, of)
            if isinstance(note, str):
                LOG.warning("%s", excerpt(note, 1000))
            if isinstance(warning, list) and list(map(type, warning)) == [str, str]:
                kind, text = warning
                found = getattr(errors, kind, getattr(builtins, kind, None))
                if not (isinstance(found, type) and issubclass(found, Warning)):
                    found = UserWarning
                warn_caller(excerpt(text, 2000), found)

        yield hear
