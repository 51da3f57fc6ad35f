import json
import platform
import subprocess
import sys

import pytest

ALONE = """
import json, resource
import numpy as np
from rhale.system.memory import keep_freed_memory

def count_faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        some = [np.ones(2**18) for _ in range(6)]  # 12 MiB: 3,072 pages
        del some
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first = count_faults()
keep_freed_memory()
count_faults()
print(json.dumps([first, count_faults()]))
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="other memories are no business of ours"
)
def test_memory_that_is_used_again_has_its_pages_still():
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", ALONE], capture_output=True, text=True, check=True
    )
    before, after = json.loads(done.stdout)
    assert before > 3_000
    assert after < 100
