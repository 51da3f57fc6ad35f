"""Cases, each in a fork of a process that has all modules: one word says what happened.

`python -m tests.fuzz.runner MODULE READER SEED NUMBER ...` is that process. It runs nothing in
threads before it forks, reads the good files once, and writes one line of JSON for each case.
"""

import ctypes
import io
import json
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.mutations import BITE, damaged
from tests.fuzz.readers import Reader, path_in

from rhale.errors import RhaleError

ROOT = Path(__file__).parents[2]
GOOD = ("read", "refused", "held")
BAD = ("crashed", "memory", "hung", "raw", "ran")
LONGEST = 2000  # letters of a message
MEMORY, GROWTH = 3 * 2**30, 2**30  # bytes a case may ask for, and may fill
NEVER = re.compile(r"malloc of size \d{14,} failed|allocate [\d.]+ [PEZ]iB")  # 10 TB and more
OUTPUT = 2**26  # bytes that a case may print or write to one file
PROCESSOR_SECONDS = int(os.environ.get("RHALE_FUZZ_SECONDS", "30"))  # a case takes less than one
WALL_SECONDS = float(os.environ.get("RHALE_FUZZ_WALL", "300"))  # only for what waits for ever
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "NUMBA", "OPENBLAS", "MKL")}
PROCESSES = "os.system os.exec os.fork os.forkpty os.spawn os.posix_spawn subprocess.Popen"
NETWORK = "socket.connect socket.bind socket.sendto socket.getaddrinfo urllib.Request"
FORBIDDEN = {*PROCESSES.split(), *NETWORK.split(), "pickle.find_class"}
CHANGES = {
    f"os.{verb}"
    for verb in ["remove", "rename", "mkdir", "rmdir", "link", "symlink", "truncate", "chmod"]
}
PR_SET_PDEATHSIG = 1
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(frozen=True)
class Result:
    """What became of a case.

    Attributes
    ----------
    outcome : str
        "read": it worked. "refused": an error of ours, in one line that names the file. "held":
        it ends the process that reads it, and where users name it, that is a child of rhale. The
        others are faults: "crashed" by a signal; "memory" beyond the limit; "hung"; "raw" is any
        other error; "ran" is code, a written file or a connection.
    """

    reader: str
    seed: int
    number: int
    variant: str
    mutations: list[str]
    outcome: str
    detail: str

    def __str__(self) -> str:
        done = ", ".join(self.mutations) or "the good file"
        again = f"make fuzz READER={self.reader} SEED={self.seed} CASE={self.number}"
        return f"{self.outcome}: {self.variant}, {done}: {self.detail:.300}\n    again: {again}"


# --- the process that asks ------------------------------------------------------------------------


def run_cases(
    name: str,
    seed: int,
    numbers: Iterable[int],
    *,
    module: str = "tests.fuzz.readers",
    keep: str = "",
) -> Iterator[Result]:
    """Run cases of one reader in a process of its own; `keep` is a folder for the damaged files."""
    keep = keep and str(Path(keep).resolve())
    paths = os.pathsep.join([str(ROOT), *(path for path in sys.path if path)])
    env = {**os.environ, **ONE_THREAD, "PYTHONPATH": paths, "RHALE_FUZZ_KEEP": keep}
    command = [sys.executable, "-m", "tests.fuzz.runner", module, name, str(seed)]
    command += map(str, numbers)
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, cwd=ROOT) as process:  # noqa: S603
        for line in process.stdout or ():
            yield Result(**json.loads(line))
    if process.returncode:
        msg = f"the process that runs the cases of {name} ended with {process.returncode}"
        raise RuntimeError(msg)


# --- the process that forks -----------------------------------------------------------------------


def main(module: str, name: str, seed: int, numbers: list[int]) -> None:
    """Make good files, read them, and run the cases."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    reader: Reader = import_module(module).READERS[name]
    for library in reader.libraries:
        import_module(library)
    with tempfile.TemporaryDirectory(prefix="rhale-fuzz-") as scratch:
        good = Path(scratch) / "good"
        if in_fork(lambda _: reader.make(good)).signal:
            msg = f"the good files of {name} could not be made"
            raise RuntimeError(msg)
        warm_up(reader, good, Path(scratch) / "warm")
        for number in numbers:
            folder = Path(scratch) / f"case-{number}"
            result = run_case(reader, Case(name, seed, number), good, folder)
            answers.write(json.dumps(asdict(result)) + "\n")
            answers.flush()
            shutil.rmtree(folder)


def warm_up(reader: Reader, good: Path, folder: Path) -> None:
    """Read every good file here, so that forks have all modules and all compiled loops."""
    shutil.copytree(good, folder)
    os.chdir(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in sorted(p for p in folder.iterdir() if p.name not in reader.cold):
            reader.use(reader.load(path_in(reader, sample)), sample.name)


@dataclass(frozen=True)
class Case:
    """A number that stands for a damaged file; the first numbers stand for the good ones."""

    reader: str
    seed: int
    number: int

    def write(self, reader: Reader, good: Path, folder: Path) -> tuple[Path, list[str]]:
        """Write the files of a variant, one of them damaged."""
        variants = sorted(good.iterdir())
        rng = Random(f"{self.reader} {self.seed} {self.number}")
        is_good = self.number < len(variants)
        sample = variants[self.number] if is_good else rng.choice(variants)
        shutil.copytree(sample, folder / sample.name)
        if is_good:
            return folder / sample.name, []
        victim = rng.choice(sorted((folder / sample.name).iterdir()))
        content, names = damaged(victim.read_bytes(), reader.mutations, rng)
        victim.write_bytes(content)
        return folder / sample.name, names


def run_case(reader: Reader, case: Case, good: Path, folder: Path) -> Result:
    """Damage a file, and have a fork read it."""
    sample, names = case.write(reader, good, folder)
    if keep := os.environ.get("RHALE_FUZZ_KEEP"):
        shutil.copytree(sample, Path(keep) / f"{case.reader}-{case.seed}-{case.number}")
    found = outcome(in_fork(lambda say: read_sample(reader, sample, say)))
    if found[0] in ("crashed", "memory", "hung", "raw") and reader.has_child:
        tried = outcome(in_fork(lambda say: read_sample(reader, sample, say, contained=False)))
        held = tried[0] in ("refused", "read")
        found = ("held", found[1]) if held else (found[0], f"{found[1]}; {tried}")
    return Result(*asdict(case).values(), sample.name, names, *found)


@dataclass(frozen=True)
class End:
    """How a fork ended: the lines that it wrote, and the signal or exit code."""

    lines: list[str]
    signal: int


def in_fork(work: Callable[[Callable[[str, str], None]], None]) -> End:
    """Run something in a fork with limits; it may say things, in lines."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # none is left behind
            os.close(reading)
            limit()
            work(lambda *words: write_line(writing, words))
        except BaseException as error:  # noqa: BLE001 - of the suite itself
            write_line(writing, ("raw", f"{type(error).__name__}: {error}"))
        os._exit(0)
    os.close(writing)
    said, in_time = read_all(reading)
    if not in_time:
        end_all(child)
    status = os.waitpid(child, 0)[1]
    ended = signal.SIGXCPU if not in_time else os.waitstatus_to_exitcode(status)
    return End(said.decode(errors="replace").splitlines(), abs(ended))


def end_all(child: int) -> None:
    """End a fork and what it started; one that hung before it had a group of its own has none."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)


def write_line(place: int, words: tuple[str, ...]) -> None:
    os.write(place, json.dumps([word[:LONGEST] for word in words]).encode() + b"\n")


def read_all(place: int) -> tuple[bytes, bool]:
    """Read to the end of a pipe, which is the end of the fork; False where it never comes."""
    said, end = b"", time.monotonic() + WALL_SECONDS
    with os.fdopen(place, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
            block = pipe.read(2**16)
            if not block:
                return said, True
            said += block
    return said, False


def outcome(end: End) -> tuple[str, str]:
    """One word, and some more; what ran counts most, then how it ended."""
    said = [tuple(json.loads(line)) for line in end.lines]
    ran = next((words for words in said if words[0] == "ran"), None)
    if ran is not None:
        return ran
    if end.signal == signal.SIGXCPU:
        return "hung", "no end"
    if end.signal == signal.SIGKILL:
        return "memory", "ended by the system"
    if end.signal:
        return "crashed", signal.Signals(end.signal).name
    return said[-1] if said else ("crashed", "it ended its process")


# --- the fork -------------------------------------------------------------------------------------


def limit() -> None:
    """Limits above what this process has already: modules map gigabytes."""
    pages = [int(n) * resource.getpagesize() for n in Path("/proc/self/statm").read_text().split()]
    limits = {
        resource.RLIMIT_AS: pages[0] + MEMORY,
        resource.RLIMIT_DATA: pages[5] + MEMORY,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: PROCESSOR_SECONDS,
        resource.RLIMIT_FSIZE: OUTPUT,
    }
    for which, most in limits.items():
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (most if hard == -1 else min(most, hard), hard))


def read_sample(reader: Reader, sample: Path, say: Any, *, contained: bool = True) -> None:
    """Read a file and say what happened; nothing may be written but beside it."""
    os.chdir(sample.parent)
    os.environ["TMPDIR"] = tempfile.tempdir = str(sample.parent)
    for place in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), place)
    sys.stdout, sys.stderr, sys.dont_write_bytecode = io.StringIO(), io.StringIO(), True
    warnings.simplefilter("ignore")
    if contained:
        watch(sample.parent, say)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    word, detail = judged(reader, sample, contained=contained)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    if grown > GROWTH:
        word, detail = "memory", f"{grown / 2**30:.1f} GiB more; {word}: {detail}"
    say(word, detail)


def judged(reader: Reader, sample: Path, *, contained: bool) -> tuple[str, str]:
    """Read and use a file; say how that went."""
    path, is_loaded = path_in(reader, sample), False
    try:
        found = reader.load(path, contained=contained)
        is_loaded = True
        reader.use(found, sample.name)
    except BaseException as error:  # noqa: BLE001 - whatever it is
        text = f"{type(error).__name__}: {error}".replace(f"{sample.parent}{os.sep}", "")
        if is_about_memory(error):
            return "memory", text
        if not isinstance(error, RhaleError):
            return "raw", text
        flaw = flaw_of(str(error), "" if is_loaded else path.name)
        return ("raw", f"{flaw}: {text}") if flaw else ("refused", text)
    return "read", ""


def flaw_of(message: str, name: str) -> str:
    """What is wrong with a message, if anything."""
    if len(message.splitlines()) != 1:
        return f"{len(message.splitlines())} lines"
    if len(message) >= LONGEST:
        return f"{len(message)} letters"
    return "" if name in message else "the file is not named"


def is_about_memory(error: BaseException | None) -> bool:
    """Tell whether memory was the reason; a request that no machine can grant does no harm."""
    while error is not None:
        if isinstance(error, MemoryError) or "bad_alloc" in str(error):
            return NEVER.search(str(error)) is None
        error = error.__cause__ or error.__context__
    return False


def watch(folder: Path, say: Any) -> None:
    """From now on, tell what no reader may do: run, connect, write elsewhere, unpickle."""
    here, mapped = str(folder.resolve()) + os.sep, Path("/proc/self/maps").read_text()

    def is_here(path: Any) -> bool:
        if isinstance(path, int):
            return True
        text = os.path.realpath(os.fsdecode(path))
        return text.startswith(here) or text == os.devnull

    def forbidden(event: str, args: tuple[Any, ...]) -> bool:
        if event == "open":
            return bool(args[2] & WRITING) and not is_here(args[0])
        if event in CHANGES:
            return not is_here(args[0])
        if event == "ctypes.dlopen":
            return args[0] is not None and str(args[0]) not in mapped
        if event == "exec":
            return BITE in words_of(args[0])
        return event in FORBIDDEN

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if forbidden(event, args):
            say("ran", f"{event}{args!r:.200}")

    sys.addaudithook(hook)


def words_of(code: types.CodeType) -> str:
    """Names and constants of code, and of code in it."""
    inner = (words_of(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts)
    return " ".join([*code.co_names, *code.co_varnames, *inner])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), [int(n) for n in sys.argv[4:]])
