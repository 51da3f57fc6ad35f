import os
import platform
import subprocess
import sys

import pytest

ALONE = """
import resource
import numpy as np
import rhale.kernels.moments

def count_faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        some = [np.ones(2**18) for _ in range(6)]  # 12 MiB: 3,072 pages
        del some
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

count_faults()
print(count_faults())
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc",
    reason="only glibc gives freed memory back early, and learns not to from a large block",
)
def test_memory_that_is_used_again_has_its_pages_still():
    own = {k: v for k, v in os.environ.items() if not k.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", ALONE], capture_output=True, text=True, check=True, env=own
    )
    assert int(done.stdout) < 100  # 15,360 without it
