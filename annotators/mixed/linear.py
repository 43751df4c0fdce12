"""A linear mixed model with crossed raters, fitted by REML, with Satterthwaite's degrees of freedom.

y = X β + question + answer + rater (+ rater × system) + error, all but X β independent and normal. Answers are nested
in questions, so that both are eliminated in closed form, and what is left to factor has a column a rater: a study of
7,000 labels takes milliseconds an evaluation. The criterion is that of Bates, Mächler, Bolker & Walker (2015), Journal
of Statistical Software 67(1), eq. 39-42; degrees of freedom as in Giesbrecht & Burns (1985), Biometrics 41, 477-486.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, optimize, sparse

from annotators.arrays import FloatArray, IntArray

ZERO = 1e-3
"""A standard deviation below this part of the error's is none."""
MOST_SD = 1e3
"""Above this many times the error's there is no error to speak of."""
STEP = 1e-3
"""The step of numerical derivatives, in logarithms of variances."""
MOST_COLUMNS = 1_500
"""Of more raters, and raters × systems, each step of the search would take seconds."""
DENSE_CELLS = 4_000_000
"""Labels × columns of raters from which on these are kept without their zeros."""
ROUNDING = 1e-10
"""Of the variance of the labels: what is left of them below this is no error."""


_Rows = Any
"""Rows of numbers, as an array or as a sparse one where most are 0."""


@dataclass(frozen=True, eq=False)
class Terms:
    """What a model is made of: labels `y` (n), fixed columns `x` (n × p), and random effects by their codes.

    `answer` and `question` (codes from 0, answers nested in questions; None: no such effect) and any number of
    `crossed` effects by name → codes.
    """

    y: FloatArray
    x: FloatArray
    answer: IntArray | None
    question: IntArray | None
    crossed: dict[str, IntArray]

    @property
    def names(self) -> tuple[str, ...]:
        """The random effects in the order of the parameters."""
        nested = [name for name, there in (("answer", self.answer), ("question", self.question)) if there is not None]
        return (*nested, *self.crossed)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Labels and columns summed up so that the criterion costs nothing that grows with the number of labels."""

    n: int
    p: int
    widths: tuple[int, ...]
    cross: FloatArray
    sizes: FloatArray
    sums: _Rows
    of_question: sparse.csr_array | None
    with_answer: bool

    @classmethod
    def of(cls, terms: Terms) -> _Sums:
        n, p = terms.x.shape
        dummies = [
            sparse.csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, int(codes.max()) + 1))
            for codes in terms.crossed.values()
        ]
        columns = sparse.csr_array(np.column_stack([terms.x, terms.y]))
        table: _Rows = sparse.hstack([*dummies, columns], format="csr")
        # Without an effect of answers each label is one of its own, of which question it may be.
        answer = np.arange(n) if terms.answer is None else terms.answer
        k = int(answer.max()) + 1
        member = sparse.csr_array((np.ones(n), (answer, np.arange(n))), shape=(k, n))
        sums = sparse.csr_array(member @ table)
        of_question = None
        if terms.question is not None:
            first = np.zeros(k, dtype=np.int64)
            first[answer] = terms.question
            of_question = sparse.csr_array(
                (np.ones(k), (first, np.arange(k))), shape=(int(terms.question.max()) + 1, k)
            )
        return cls(
            n=n,
            p=p,
            widths=tuple(columns.shape[1] for columns in dummies),
            cross=(table.T @ table).toarray(),
            sizes=np.asarray(member.sum(axis=1), dtype=np.float64),
            sums=sums if n * sums.shape[1] > DENSE_CELLS else sums.toarray(),
            of_question=of_question,
            with_answer=terms.answer is not None,
        )

    def reduced(self, ratios: FloatArray) -> tuple[FloatArray, float]:
        """[X'V⁻¹X, X'V⁻¹y; y'V⁻¹X, y'V⁻¹y] in units of the error's variance, and log |V|, of variance ratios."""
        place, logdet = 0, 0.0
        left = self.cross
        shrunk = np.ones(len(self.sizes))
        if self.with_answer:
            shrunk = 1 / (1 + self.sizes * ratios[0])
            left = left - _products(self.sums, ratios[0] * shrunk)
            logdet -= float(np.log(shrunk).sum())
            place = 1
        if self.of_question is not None:
            per: _Rows = self.of_question @ _weighed(self.sums, shrunk)
            weight = 1 + ratios[place] * np.asarray(self.of_question @ (self.sizes * shrunk))
            left = left - _products(per, ratios[place] / weight)
            logdet += float(np.log(weight).sum())
            place += 1
        z = sum(self.widths)
        if not z:
            return left, logdet
        scale = np.repeat(np.sqrt(ratios[place:]), self.widths)
        inner = np.eye(z) + scale[:, None] * left[:z, :z] * scale
        root = linalg.cholesky(inner, lower=True, check_finite=False)
        half = linalg.solve_triangular(root, scale[:, None] * left[:z, z:], lower=True, check_finite=False)
        return left[z:, z:] - half.T @ half, logdet + 2 * float(np.log(np.diag(root)).sum())

    def solved(self, ratios: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
        """β, (X'V⁻¹X)⁻¹, the residual sum of squares, and log |V| + log |X'V⁻¹X|."""
        left, logdet = self.reduced(ratios)
        root = linalg.cholesky(left[:-1, :-1], lower=True, check_finite=False)
        half = linalg.solve_triangular(root, left[:-1, -1], lower=True, check_finite=False)
        inverse = linalg.cho_solve((root, True), np.eye(self.p))
        beta = linalg.cho_solve((root, True), left[:-1, -1])
        logdet += 2 * float(np.log(np.diag(root)).sum())
        return beta, inverse, float(left[-1, -1] - half @ half), logdet

    def profiled(self, ratios: FloatArray) -> float:
        """-2 log restricted likelihood at the best error variance."""
        _, _, squares, logdet = self.solved(ratios)
        freedom = self.n - self.p
        return float(logdet + freedom * (1 + np.log(2 * np.pi * max(squares, 1e-300) / freedom)))


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fitted model: `beta` (p), the variances of its random effects by name, and that of the error.

    `none` are the effects whose variance is estimated as 0. `converged` is False where the search did not end.
    """

    beta: FloatArray
    variances: dict[str, float]
    error: float
    converged: bool
    _sums: _Sums

    @property
    def none(self) -> tuple[str, ...]:
        """The random effects without any variance."""
        return tuple(name for name, variance in self.variances.items() if variance == 0)

    def contrast(self, weights: FloatArray) -> tuple[float, float, float]:
        """The value of w'β, its standard error, and Satterthwaite's degrees of freedom: 2 v² / (g' A g).

        v is the variance of w'β, g its gradient by the variances, and A their covariance: twice the inverse of the
        second derivatives of -2 log restricted likelihood.
        """
        logs, covariance = self._uncertain
        value = float(weights @ self.beta)

        def variance(at: FloatArray) -> float:
            return float(weights @ self._covariance(at) @ weights)

        v = variance(logs)
        slope = np.array([(variance(logs + step) - variance(logs - step)) / (2 * STEP) for step in _steps(len(logs))])
        spread = float(slope @ covariance @ slope)
        return value, float(np.sqrt(v)), 2 * v * v / spread if spread > 0 else float(self._sums.n - self._sums.p)

    @cached_property
    def _active(self) -> list[int]:
        return [place for place, variance in enumerate(self.variances.values()) if variance > 0]

    def _ratios(self, logs: FloatArray) -> FloatArray:
        found = np.zeros(len(self.variances))
        found[self._active] = np.exp(logs[1:] - logs[0])
        return found

    def _covariance(self, logs: FloatArray) -> FloatArray:
        return np.asarray(np.exp(logs[0]) * self._sums.solved(self._ratios(logs))[1])

    def _deviance(self, logs: FloatArray) -> float:
        _, _, squares, logdet = self._sums.solved(self._ratios(logs))
        freedom = self._sums.n - self._sums.p
        return float(logdet + freedom * logs[0] + squares / np.exp(logs[0]))

    @cached_property
    def _uncertain(self) -> tuple[FloatArray, FloatArray]:
        """The logarithms of the variances that are not 0, the error's first, and their covariance."""
        values = np.array(list(self.variances.values()))
        logs = np.log(np.r_[self.error, values[self._active]])
        return logs, 2 * _inverse(_hessian(self._deviance, logs))

    def variance_interval(self, name: str, level: float) -> tuple[float, float] | None:
        """An interval of a variance (or of "error"): χ² with the degrees of freedom that its own error gives.

        2 v² / var(v) degrees of freedom: Satterthwaite (1946), Biometrics Bulletin 2, 110-114. None at 0, or with less
        than one degree of freedom.
        """
        from scipy import stats  # noqa: PLC0415 - what asks for no interval need not load it

        logs, covariance = self._uncertain
        names = ["error", *(list(self.variances)[place] for place in self._active)]
        if name not in names:
            return None
        place = names.index(name)
        spread = float(covariance[place, place])
        freedom = 2 / spread if spread > 0 else 0.0
        if freedom < 1:
            return None
        value = float(np.exp(logs[place]))
        ends = [float(stats.chi2.ppf(share, freedom)) for share in ((1 + level) / 2, (1 - level) / 2)]
        return value * freedom / ends[0], value * freedom / ends[1]


def fit_linear(terms: Terms) -> LinearFit | str:
    """Fit the model by REML; or why it cannot be fitted."""
    columns = sum(int(codes.max()) + 1 for codes in terms.crossed.values())
    if columns > MOST_COLUMNS:
        return f"raters have {columns:,} effects with their views of systems, more than {MOST_COLUMNS:,}: compare fewer"
    sums = _Sums.of(terms)
    k = len(terms.names)
    if sums.n - sums.p < 2:
        return "there are too few labels"
    if float(np.var(terms.y)) <= 0:
        return "all labels are alike"

    def criterion(sds: FloatArray) -> float:
        try:
            return sums.profiled(sds**2)
        except linalg.LinAlgError:
            return 1e12

    best: optimize.OptimizeResult | None = None
    for start in (0.5, 0.1) if k else ():
        if best is not None and best.success and best.x.min() > 10 * ZERO:
            break  # an end inside is the maximum; one at 0 may be where a search that began too far away stopped
        found = optimize.minimize(
            criterion, np.full(k, start), method="L-BFGS-B", bounds=[(0.0, MOST_SD)] * k,
            options={"maxiter": 200, "ftol": 1e-10, "gtol": 1e-5},
        )  # fmt: skip
        if best is None or found.fun < best.fun - 1e-6:
            best = found
    sds = np.zeros(0) if best is None else np.where(best.x < ZERO, 0.0, best.x)
    try:
        beta, _, squares, _ = sums.solved(sds**2)
    except linalg.LinAlgError:
        return "the labels do not tell the systems apart from the raters: some were judged by nobody in common"
    if squares <= ROUNDING * sums.n * float(np.var(terms.y)) or (sds >= MOST_SD / 2).any():
        return "the labels leave no error: every label is what its question and its rater say"
    error = float(squares / (sums.n - sums.p))
    variances = {name: float(ratio * error) for name, ratio in zip(terms.names, sds**2, strict=True)}
    return LinearFit(beta, variances, error, best is None or bool(best.success), sums)


def _weighed(rows: _Rows, weights: FloatArray) -> Any:
    """Each row times its weight."""
    if isinstance(rows, np.ndarray):
        return rows * weights[:, None]
    return sparse.csr_array(rows.multiply(weights[:, None]))


def _products(rows: _Rows, weights: FloatArray) -> FloatArray:
    """Sums over rows of the products of every two columns, each row counting by its weight."""
    found = _weighed(rows, weights).T @ rows
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray(), dtype=np.float64)


# Derivatives ----------------------------------------------------------------------------------------------------------


def _steps(k: int) -> Sequence[FloatArray]:
    return list(STEP * np.eye(k))


def _hessian(function: Callable[[FloatArray], float], at: FloatArray) -> FloatArray:
    """Second derivatives by central differences."""
    k, steps = len(at), [10 * step for step in _steps(len(at))]
    h, middle = 10 * STEP, function(at)
    found = np.zeros((k, k))
    for i in range(k):
        found[i, i] = (function(at + steps[i]) - 2 * middle + function(at - steps[i])) / h**2
        for j in range(i):
            up = function(at + steps[i] + steps[j]) + function(at - steps[i] - steps[j])
            down = function(at + steps[i] - steps[j]) + function(at - steps[i] + steps[j])
            found[i, j] = found[j, i] = (up - down) / (4 * h**2)
    return found


def _inverse(hessian: FloatArray) -> FloatArray:
    """The inverse, with directions in which hardly anything changes left out."""
    values, vectors = np.linalg.eigh(hessian)
    kept = values > 1e-8 * max(1e-8, float(values.max()))
    inverse: FloatArray = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse
