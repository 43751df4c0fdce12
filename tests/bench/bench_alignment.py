"""How long the alignment bootstrap takes, beside a loop that writes resamples out and calls SciPy on each.

    python tests/bench/bench_alignment.py [--rows 280] [--resamples 1000] [--loop 100] [--threads 1]

`--loop` resamples are timed and scaled up; both make percentile intervals. Then everything of one metric with BCa
intervals, and the alignment of a million pairs without intervals. Processor time of one thread each by default, which
is what a loop over SciPy uses.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def seconds(act: Callable[[], object], times: int = 1) -> float:
    """Processor time, the best of some: on a machine that has other work, too."""
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        act()
        best = min(best, time.process_time() - began)
    return best


def show(title: str, own: float, loop: float) -> None:
    print(f"{title:<34} {1000 * own:10.1f} {1000 * loop:10.0f} {loop / own:7.0f}×")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("rows", 280), ("resamples", 1000), ("loop", 100), ("threads", 1)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = str(asked.threads)  # read when NumPy is imported

    import numpy as np
    from scipy import stats
    from sklearn.metrics import roc_auc_score

    from annotators.alignment import Pairs, association
    from annotators.alignment.statistics import coefficients as ours
    from annotators.alignment.statistics.concordance import Tau, kendall_tau_b
    from annotators.alignment.tables.levels import Levels
    from annotators.alignment.tables.sample import DrawnRows
    from annotators.intervals.bootstrap import Resampling

    rng = np.random.default_rng(1)
    how = Resampling(asked.resamples, kind="percentile")
    print(f"{asked.rows:,} rows, {asked.resamples:,} resamples, {asked.threads} thread(s)")
    print(f"{'':<34} {'ours, ms':>10} {'loop, ms':>10} {'ratio':>8}")

    def compared(title: str, pairs: Pairs, wanted: tuple[str, ...]) -> None:
        sample = DrawnRows.of([pairs.metric, pairs.human], pairs.cluster)
        metric, human = (np.ascontiguousarray(column) for column in sample.columns.T)
        x, y = Levels.of(metric), Levels.of(human)
        tau = Tau.of(x, y)
        formulas = {
            "pearson": lambda weights: ours.pearson(metric, human, weights),
            "spearman": lambda weights: ours.spearman(x, y, weights),
            "kendall_tau_b": lambda weights: kendall_tau_b(tau, weights),
            "auroc": lambda weights: ours.auroc(x, human, weights),
        }
        scipys = {
            "pearson": lambda a, b: stats.pearsonr(a, b).statistic,
            "spearman": lambda a, b: stats.spearmanr(a, b).statistic,
            "kendall_tau_b": lambda a, b: stats.kendalltau(a, b).statistic,
            "auroc": lambda a, b: roc_auc_score(b, a),
        }

        def loop(name: str) -> float:
            def run() -> None:
                for _ in range(asked.loop):
                    drawn = rng.integers(pairs.n, size=pairs.n)
                    scipys[name](pairs.metric[drawn], pairs.human[drawn])

            return seconds(run) * asked.resamples / asked.loop

        looped = {name: loop(name) for name in wanted}
        for name in wanted:
            made = seconds(lambda formula=formulas[name]: sample.resampled(formula, how), 5)
            print(
                f"{title + ', ' + name:<34} {1000 * made:10.1f} {1000 * looped[name]:10.0f} {looped[name] / made:7.0f}×"
            )
        chosen = [formulas[name] for name in wanted]
        every = seconds(lambda: sample.resampled(lambda w: np.stack([name(w) for name in chosen]), how), 5)
        show(f"{title}, together", every, sum(looped.values()))

    truth = rng.normal(size=asked.rows)
    score = truth + rng.normal(size=asked.rows)
    three = ("pearson", "spearman", "kendall_tau_b")
    compared("grades 1 to 5", Pairs.of(np.clip(np.round(truth) + 3, 1, 5), score), three)
    compared("numbers", Pairs.of(truth, score), three)
    compared("yes or no", Pairs.of((truth > 0).astype(float), score), (*three, "auroc"))
    for rows in (asked.rows, 10 * asked.rows):
        truth = rng.normal(size=rows)
        pairs = Pairs.of((truth > 0).astype(float), truth + rng.normal(size=rows), clusters=list(range(rows // 2)) * 2)
        everything = seconds(lambda given=pairs: association(given, Resampling(asked.resamples)))
        print(f"{f'all of one metric, {rows:,} clustered':<34} {1000 * everything:10.1f}")
    truth = rng.normal(size=1_000_000)
    million = Pairs.of(np.clip(np.round(truth) + 3, 1, 5), truth + rng.normal(size=1_000_000))
    none = Resampling(resamples=0)
    print(f"{'a million pairs, no intervals':<34} {1000 * seconds(lambda: association(million, none)):10.1f}")


if __name__ == "__main__":
    main()
