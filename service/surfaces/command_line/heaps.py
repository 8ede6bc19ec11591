"""The heaps that glibc gives to threads, fewer of them.

By itself it makes up to eight a core. Engines that publish free much of what they took, each thread into a heap of its
own, where the next thread can't take it: a server that published again and again held three times what it used.
"""

import ctypes

_M_ARENA_MAX = -8
"""Of glibc's malloc.h."""


def share_heaps(most: int) -> bool:
    """Have all threads of this process share `most` heaps from here on; 0 leaves it as it is. False where the C library
    has no such thing."""
    if most == 0:
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 another C library's mallopt may mean something else
        return bool(library.mallopt(_M_ARENA_MAX, most))
    except (AttributeError, OSError, TypeError):
        return False
