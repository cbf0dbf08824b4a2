"""Freed memory is used again: the system is asked for pages once, not at every step."""

import subprocess
import sys

import pytest

from unbraid.util.allocator import keep_freed_memory

FAULTS = """
import resource, sys
import torch
from unbraid.util.allocator import keep_freed_memory

def faults(steps):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(steps):
        maps = [torch.ones(size << 18) for size in (1, 2, 4, 8, 36)]  # 1 to 36 MB, as a step's activations
        del maps
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if sys.argv[1] == "keep":
    keep_freed_memory()
faults(5)  # until every size has its place
print(faults(20))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator")
def test_steps_after_the_first_ask_for_no_pages():
    if not keep_freed_memory():
        pytest.skip("not glibc's allocator")
    kept, returned = (
        int(subprocess.run([sys.executable, "-c", FAULTS, how], check=True, capture_output=True, text=True).stdout)
        for how in ("keep", "return")
    )
    assert kept < 100  # pages of 4 kB: nothing
    assert returned > 20 * 1000  # else there was nothing to mend
