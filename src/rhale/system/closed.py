"""The start of a child process that closes itself off (Landlock, seccomp) before it reads a file.

Run as a script by our own processes. It imports nothing but Python's own library before it is
closed off, because Landlock holds for threads that start later, and NumPy starts some.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import struct
import sys
from collections.abc import Iterable
from importlib import import_module

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # Linux, on all processors
CAPABILITIES, OPEN_FILES = 0x20080522, 0b110  # version of capset; override and read_search
NO_NEW_PRIVS, SET_SECCOMP, SECCOMP_FILTER_MODE = 38, 22, 2  # of prctl
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_FILE, TRUNCATE = 1 << 4, 1 << 5, 1 << 7, 1 << 8, 1 << 14
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
# neither links nor devices, which root could open
WRITE = (
    READ_FILE | READ_DIR | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_FILE | TRUNCATE
)
RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}  # by version of Landlock: so many rights on files
TCP_FROM, SCOPES_FROM = 4, 6
# what libraries read of the system; no folder of a user, no list of processes
SYSTEM = (
    *("/usr", "/lib", "/lib64", "/lib32", "/bin", "/nix/store", "/gnu/store", "/sys/devices"),
    *("/sys/fs/cgroup", "/sys/kernel/mm", "/proc/self", "/proc/cpuinfo", "/proc/meminfo"),
    *("/proc/stat", "/proc/filesystems", "/proc/sys/vm", "/dev/urandom", "/dev/random"),
    *("/dev/zero", "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/ssl/openssl.cnf"),
)
# Calls that are refused, by processor: those that Landlock does not know. In this order: socket,
# io_uring (which opens files and sockets by itself), ptrace and memory of other processes, groups
# of its own (which would outlive this one), modes, owners, times and attributes of files,
# priorities, namespaces.
REFUSED = {
    "x86_64": (
        0xC000003E,
        *(41, 425, 426, 427, 101, 310, 311, 109, 112, 90, 91, 268, 452, 92, 93, 94, 260),
        *(132, 235, 261, 280, 188, 189, 190, 197, 198, 199, 463, 466, 141, 251, 272),
    ),
    "aarch64": (
        0xC00000B7,
        *(198, 425, 426, 427, 117, 270, 271, 154, 157, 52, 53, 452, 54, 55, 88),
        *(5, 6, 7, 14, 15, 16, 463, 466, 140, 30, 97),
    ),
}
LIMITS_OF = {"x86_64": 302, "aarch64": 261}  # prlimit64: of no process but this one
X32 = 0x40000000  # calls of another kind that the same processor takes
LOAD, JUMP_IF_EQUAL, JUMP_IF_NOT_LESS, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 13  # the latter: "permission denied"


def main() -> None:
    """Read who is to serve and what may be touched, close this process off, and go to work."""
    request = json.loads(sys.stdin.buffer.readline())
    if request["open"] is not None:
        for what in close_off(**request["open"]):
            sys.stderr.write(f"this process is not closed off: {what}\n")
    import_module(request["serve"]).main()


def can_close() -> bool:
    """Whether this system has Landlock."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, 1) > 0)


def close_off(reads: Iterable[str], lists: Iterable[str], writes: Iterable[str]) -> list[str]:
    """Take all rights from this process but those to read some files and to write to some folders.

    Parameters
    ----------
    reads, writes : iterable of str
        Files and folders, with all below them; Python's own and those of the system can be read.
    lists : iterable of str
        Folders whose names of files may be seen.

    Returns
    -------
    list of str
        What this system could not do.
    """
    if sys.platform != "linux":
        return ["this system has no Landlock"]
    call = ctypes.CDLL(None, use_errno=True)
    call.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
    _drop_powers(call)
    found = [_limit_files(call, (*reads, *python_folders(), *SYSTEM), lists, writes)]
    return [what for what in (*found, _refuse_calls(call)) if what]


def python_folders() -> list[str]:
    """Where Python, its packages and their libraries are."""
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return [path for path in (*sys.path, sys.prefix, sys.base_prefix, *libraries) if path]


def _drop_powers(call: ctypes.CDLL) -> None:
    """Leave root no power but to open files that others own; nobody else has any."""
    with open("/proc/self/status") as status:  # noqa: PTH123 - no pathlib yet
        has = next((int(line.split()[1], 16) for line in status if line.startswith("CapPrm")), 0)
    kept = has & OPEN_FILES
    call.capset(struct.pack("Ii", CAPABILITIES, 0), struct.pack("6I", kept, kept, 0, 0, 0, 0))


def _limit_files(
    call: ctypes.CDLL, reads: Iterable[str], lists: Iterable[str], writes: Iterable[str]
) -> str:
    """Have Landlock hold for this thread and all that it starts; say why where it cannot."""
    version = call.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return "Landlock is not there, or switched off"
    known = (1 << RIGHTS[max(v for v in RIGHTS if v <= version)]) - 1
    network, scopes = 3 if version >= TCP_FROM else 0, 3 if version >= SCOPES_FROM else 0
    asked = struct.pack("QQQ", known, network, scopes)
    size = 24 if scopes else 16 if network else 8
    rules = call.syscall(CREATE_RULESET, asked, size, 0)
    granted = [(reads, READ), (lists, READ_DIR), (writes, WRITE)]
    for path, rights in [(path, rights) for paths, rights in granted for path in paths]:
        _grant(call, rules, path, rights & known)
    _grant(call, rules, os.devnull, READ_FILE | WRITE_FILE)
    failed = call.syscall(RESTRICT_SELF, rules, 0)
    os.close(rules)
    return "Landlock refused" if failed else ""


def _grant(call: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    """Allow something below a path; what is not there needs no right."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    rights = rights if os.path.isdir(path) else rights & OF_FILES  # noqa: PTH112 - no pathlib yet
    call.syscall(ADD_RULE, rules, 1, struct.pack("=Qi", rights, place), 0)
    os.close(place)


def _refuse_calls(call: ctypes.CDLL) -> str:
    """Refuse calls by a filter that the kernel runs; they fail as without permission."""
    if platform.machine() not in REFUSED:
        return f"calls of {platform.machine()} are not known"
    processor, *numbers = REFUSED[platform.machine()]
    last = len(numbers) + 8  # the step that refuses; jumps count from the step after their own
    steps = [
        (LOAD, 0, 0, 4),  # the processor that the call is for
        (JUMP_IF_EQUAL, 0, last - 2, processor),
        (LOAD, 0, 0, 0),  # the call's number
        (JUMP_IF_NOT_LESS, last - 4, 0, X32),
        *((JUMP_IF_EQUAL, last - i, 0, number) for i, number in enumerate(numbers, start=5)),
        (JUMP_IF_EQUAL, 0, 2, LIMITS_OF[platform.machine()]),
        (LOAD, 0, 0, 16),  # the call's first argument: a process, or 0 for this one
        (JUMP_IF_EQUAL, 0, 1, 0),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    held = ctypes.create_string_buffer(code)
    program = struct.pack("HP", len(steps), ctypes.addressof(held))
    return (
        "the kernel takes no filter"
        if call.prctl(SET_SECCOMP, SECCOMP_FILTER_MODE, program, 0, 0)
        else ""
    )


if __name__ == "__main__":
    main()
