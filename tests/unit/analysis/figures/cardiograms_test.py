"""Figures of three shipped scenarios: a rank dies, snapshots, power."""

from __future__ import annotations

from collections.abc import Callable

import orrery
import pandas as pd
import pytest
from orrery import figures
from orrery.cardiogram import by_rank, cardiogram, means

Made = Callable[..., orrery.Run]


def test_seven_gpus_at_100_percent_and_one_at_0_until_the_time_out(made: Made, saved) -> None:
    runs = [made("dead-rank"), made("dead-rank-timeout")]
    reported = [by_rank(cardiogram(run, "train"), "reported") for run in runs]
    for frame in reported:
        assert sorted(frame.loc[600.0]) == [0.0] + [100.0] * 7
    assert sorted(reported[0].iloc[-1]) == [0.0] + [100.0] * 7
    assert sorted(reported[1].iloc[-1]) == [100.0] * 8
    figure = figures.dead_rank(runs)
    assert "hung when the run ends" in figure.axes[0].get_title(loc="left")
    assert "completed" in figure.axes[2].get_title(loc="left")
    labels = figure.axes[1].get_legend().get_texts()
    assert "reported, the 7 others" in [label.get_text() for label in labels]
    saved(figure)


def test_half_of_the_time_goes_into_synchronous_snapshots(made: Made, saved) -> None:
    run = made("sync-snapshot")
    shares = pd.Series({job: means(cardiogram(run, job))["computing"]
                        for job in ("sync", "async", "one-node")})
    assert shares["sync"] == pytest.approx(0.5, abs=1e-9)
    assert shares["async"] > 0.98
    assert shares["one-node"] > 0.98
    saved(figures.sync_snapshot(run))


def test_power_of_a_cluster_is_spread_as_published(made: Made, saved) -> None:
    run = made("gpu-power")
    samples = figures.gpu_power_data(run)
    assert samples["watts"].is_monotonic_increasing
    assert samples["percent"].iloc[-1] == pytest.approx(100)
    figure = figures.gpu_power(run)
    title = figure.axes[0].get_title(loc="left")
    assert title.split("at most ")[1].split(" points")[0] in map(str, range(10))
    saved(figure)


def test_a_job_without_a_cardiogram_is_an_error(made: Made) -> None:
    with pytest.raises(orrery.RunError, match="no job is called nobody"):
        cardiogram(made("dead-rank"), "nobody")
