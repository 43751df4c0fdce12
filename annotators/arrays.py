"""NumPy and SciPy, imported when something of them is first used, and the arrays of figures.

The rooms of agreement are entered without them, so that a wrong name is refused before half a second of imports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotators.later import Later

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from scipy import optimize, sparse, special, stats

    IntArray = npt.NDArray[np.int64]
    FloatArray = npt.NDArray[np.float64]
    BoolArray = npt.NDArray[np.bool_]
else:
    np, npt = Later("numpy"), Later("numpy.typing")
    optimize, sparse, special, stats = (
        Later(f"scipy.{module}") for module in ("optimize", "sparse", "special", "stats")
    )
    IntArray = FloatArray = BoolArray = Any

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "np",
    "npt",
    "optimize",
    "ratio",
    "sparse",
    "special",
    "stats",
]


def ratio(above: FloatArray, below: FloatArray, *, cut: bool = True) -> FloatArray:
    """above / below, elementwise, NaN where below is 0 (or either is NaN).

    No coefficient of agreement is above 1: what rounding leaves there is cut to 1, unless `cut` is false.
    """
    found = np.full(np.shape(below), np.nan)
    np.divide(above, below, out=found, where=below != 0)
    if cut:
        np.minimum(found, 1.0, out=found)
    return found
