"""Whole questions by PipelineDP on a list of rows. Each function loads and returns the work to time."""

import operator

import pandas as pd
import pipeline_dp

METRICS = pipeline_dp.Metrics


def _ask(rows, keys, epsilon, metrics, *, high, max_groups, max_rows):
    """Laplace noise, public keys: the whole of epsilon goes to the numbers."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=0)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=operator.itemgetter(0),
        partition_extractor=operator.itemgetter(1),
        value_extractor=operator.itemgetter(2),
    )
    wanted = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        metrics=metrics,
        max_partitions_contributed=max_groups,
        max_contributions_per_partition=max_rows,
        min_value=0,
        max_value=high,
    )
    found = engine.aggregate(rows, wanted, extractors, public_partitions=keys)
    accountant.compute_budgets()
    return dict(found)


def _rows(path, key):
    frame = pd.read_parquet(path)
    groups = [key] * len(frame) if key else frame.grp.tolist()
    return list(zip(frame.person.tolist(), groups, frame.amount.tolist(), strict=True))


def count_and_sum(path, epsilon, keys, *, max_groups=5, max_rows=3, high=100.0):
    rows = _rows(path, None)

    def work():
        found = _ask(
            rows,
            keys,
            epsilon,
            [METRICS.COUNT, METRICS.SUM],
            high=high,
            max_groups=max_groups,
            max_rows=max_rows,
        )
        return [(found[key].count, found[key].sum) for key in keys]

    return work


def _single(path, epsilon, metric, name, **limits):
    rows = _rows(path, "all")
    return lambda: getattr(_ask(rows, ["all"], epsilon, [metric], max_groups=1, **limits)["all"], name)


def average(path, epsilon, high, max_rows=1):
    return _single(path, epsilon, METRICS.MEAN, "mean", high=high, max_rows=max_rows)


def variance(path, epsilon, high, max_rows=1):
    return _single(path, epsilon, METRICS.VARIANCE, "variance", high=high, max_rows=max_rows)


def median(path, epsilon, high, max_rows=1):
    return _single(path, epsilon, METRICS.PERCENTILE(50), "percentile_50", high=high, max_rows=max_rows)


def mode(path, epsilon, keys):
    """It has no mode: the largest of noisy counts, by its position among the keys."""
    frame = pd.read_parquet(path)
    rows = list(zip(frame.person.tolist(), frame.grp.tolist(), [0] * len(frame), strict=True))

    def work():
        found = _ask(rows, keys, epsilon, [METRICS.COUNT], high=1, max_groups=1, max_rows=1)
        return max(range(len(keys)), key=lambda place: found[keys[place]].count)

    return work


def whole(work, **parameters):
    """One whole question, to be timed."""
    return globals()[work](**parameters)


def repeated(work, times, **parameters):
    """So many answers to one question."""
    ask = whole(work, **parameters)
    return [ask() for _ in range(times)]
