"""What the operating system does for us: processes, files and memory.

| here | what it holds |
| --- | --- |
| `closed` | The start of a child process that closes itself off (Landlock, seccomp) before it reads a file |
| `files` | Files written whole or not at all; strict JSON |
| `flatbuffers` | Tables of FlatBuffers, read within their bytes whatever they say of themselves |
| `processes` | Child processes: limited, read in bounded memory, ended with their parent |
"""

import logging

LOG = logging.getLogger("rhale")
