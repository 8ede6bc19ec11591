"""Where a random walk is found that starts at a few nodes and ends after each step with the same chance.

p = (1−d)·Σ_{k ≤ K} d^k·(Pᵀ)^k·s, the K-th iterate of Personalized PageRank (Haveliwala, WWW 2002). Walks mix: what they
do after some steps is soon nearly a linear recurrence of what they did in the last few. Where a bound is given, the
rest of the sum is extrapolated by it (minimal polynomial extrapolation: Cabay and Jackson, SIAM J. Numer. Anal. 1976)
as soon as that is proved to lie within the bound, which takes half of the products.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

_TERMS = 4
"""Steps that the recurrence looks back: with three it took one product more on three estates, with five none less."""

_FIRST_TRIED, _TRIED_EVERY = 8, 3
"""After how many steps an extrapolation is tried: a try costs about as much as a product does."""

_PRECISION = 1e-7
"""Of a sum of products in single precision: directions that differ by less are one."""


def walk(
    transposed: Any, sources: Floats, *, damping: float, iterations: int, bound: float = 0.0
) -> tuple[Floats, float]:
    """The iterate, and what it may lie off in L1; within `bound` of its sum, 0 for the iterate itself.

    transposed: Pᵀ, whose columns sum to one at most. sources: what the walks start with, 0 or more each.
    """
    step = sources
    last: deque[Floats] = deque([step], maxlen=_TERMS + 1)
    scores = (1 - damping) * sources
    for taken in range(1, iterations + 1):
        step = transposed @ step
        scores = scores + (1 - damping) * damping**taken * step
        last.append(step)
        if not bound or taken < _FIRST_TRIED or (taken - _FIRST_TRIED) % _TRIED_EVERY or taken == iterations:
            continue
        found = _extrapolation(last, [(1 - damping) * damping**k for k in range(taken + 1, iterations + 1)])
        if found.error <= bound * float(scores.sum(dtype=np.float64)):
            return np.maximum(scores + found.rest(), 0), found.error
    return scores, 0.0


class _Extrapolation(NamedTuple):
    """Σ w_j·(the j-th step after the last), estimated as a sum of the last steps, and the L1 bound of its error."""

    shares: Doubles
    steps: Floats
    error: float

    def rest(self) -> Floats:
        return self.shares.astype(np.float32) @ self.steps


def _extrapolation(last: Sequence[Floats], ahead: Sequence[float]) -> _Extrapolation:
    """The last step is fitted as Σ a_i·(the i-th before it), with r left over.

    A step f = Σ c_i·(the i-th before the last) is followed by what the recurrence says, which differs from Pᵀ·f by
    c_0·Pᵀ·r; and Pᵀ makes nothing larger. So the error of an estimate is ‖r‖₁·(the sum of |c_0| of all before it).

    ahead: w_j.
    """
    steps = np.stack(last)
    products = (steps @ steps.T).astype(np.float64)
    recurrence = np.linalg.pinv(products[:-1, :-1], rcond=_PRECISION, hermitian=True) @ products[:-1, -1]
    left_over = float(np.abs(steps[-1] - recurrence.astype(np.float32) @ steps[:-1]).sum(dtype=np.float64))
    now = np.zeros(len(recurrence))  # oldest first, as the steps
    now[-1] = 1.0
    shares, error, error_now = np.zeros_like(now), 0.0, 0.0
    for weight in ahead:
        error_now += abs(now[-1]) * left_over
        now = np.append(0.0, now[:-1]) + now[-1] * recurrence
        shares += weight * now
        error += weight * error_now
    return _Extrapolation(shares, steps[1:], error)
