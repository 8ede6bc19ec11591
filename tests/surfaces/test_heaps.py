"""A server's threads share a few of glibc's heaps."""

import ctypes
import subprocess
import sys

import pytest

# Each thread takes many small pieces, gives them back, and is followed by the next; malloc_info tells of every heap.
_COUNTED = """
import ctypes, re, sys, threading
from service.surfaces.command_line.heaps import share_heaps

library = ctypes.CDLL(None)
library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
library.open_memstream.restype = ctypes.c_void_p
library.open_memstream.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_size_t)]
library.malloc_info.argtypes, library.fclose.argtypes = [ctypes.c_int, ctypes.c_void_p], [ctypes.c_void_p]
assert share_heaps(int(sys.argv[1])) is (sys.argv[1] != "0")
together = threading.Barrier(8)

def take() -> None:
    together.wait()
    held = [library.malloc(500) for _ in range(100)]
    together.wait()
    for piece in held:
        library.free(piece)

threads = [threading.Thread(target=take) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = library.open_memstream(text, size)
library.malloc_info(0, stream)
library.fclose(stream)
print(len(re.findall(rb"<heap nr", text.value)))
"""


def heaps(most: int) -> int:
    done = subprocess.run([sys.executable, "-c", _COUNTED, str(most)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="the C library is not glibc")
def test_threads_share_as_many_heaps_as_the_setting_says():
    assert heaps(2) <= 2 < heaps(0)
