"""Replays recorded jobs on a pool of GPUs by plain rules, independently of Orrery.

replay_oracle.py TRACES: prints tests/validation/data/replays.json. A job is (submit, GPUs, run time); events of
one instant are processed together: ends, then arrivals, then starts.
"""
import csv
import gzip
import json
import math
import pathlib
import sys

Job = tuple[float, int, float]  # submission, GPUs, seconds


def helios(traces: pathlib.Path, vc: str) -> list[Job]:
    with open(traces / "helios/venus_2vc_sept_canonical.csv") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [(int(r["submit_time"]) / 1e6, int(r["num_chips"]), float(r["duration_s"]))
                for r in rows if r["tenant"] == vc]


def tiresias(traces: pathlib.Path) -> list[Job]:
    with open(traces / "tiresias/60_job.csv") as file:
        return [(float(r["submit_time"]), int(r["num_gpu"]), float(r["duration"]))
                for r in csv.DictReader(file)]


def gavel(traces: pathlib.Path) -> list[Job]:
    with gzip.open(traces / "gavel/simulation_throughputs.json.gz", "rt") as file:
        speeds = json.load(file)["v100"]
    jobs = []
    with open(traces / "gavel/msr_seed0/103959.trace") as file:
        for line in file:
            kind, _, _, _, steps, submit, gpus = line.rstrip("\n").split("\t")
            speed = speeds.get(f"('{kind}', {gpus})", {}).get("null", 0)
            if speed > 0:  # Orrery, too, leaves out jobs without a speed
                jobs.append((float(submit), int(gpus), int(steps) / speed))
    return jobs


def strict(jobs: list[Job], pool: int, by_length: bool, by_area: bool = False) -> list[float]:
    """Ends of the jobs. The first waiting job starts when it fits, and no other job may overtake it. Jobs
    wait in the order of submission, of run times (`by_length`) or of GPU-seconds (`by_area`)."""
    order = sorted(range(len(jobs)), key=lambda j: (jobs[j][0], j))
    ends, waiting, running, free, now = [0.0] * len(jobs), [], [], pool, 0.0
    while order or waiting:
        while order and jobs[order[0]][0] <= now:
            waiting.append(order.pop(0))
        waiting.sort(key=lambda j: (jobs[j][2] * (jobs[j][1] if by_area else 1)
                                    if by_length or by_area else 0, jobs[j][0], j))
        while waiting and jobs[waiting[0]][1] <= free:
            job = waiting.pop(0)
            free -= jobs[job][1]
            ends[job] = now + jobs[job][2]
            running.append(job)
        now = min([ends[j] for j in running] + [jobs[j][0] for j in order[:1]])
        free += sum(jobs[j][1] for j in running if ends[j] <= now)
        running = [j for j in running if ends[j] > now]
    return ends


def shared(jobs: list[Job], pool: int, limits: list[float] | None) -> list[float]:
    """Ends of the jobs under preemption without cost. At each event jobs run in their order; a job that
    does not fit is passed over. Without limits the order is that of the shortest remaining time. With
    limits it is that of Tiresias' queues: a job moves to the next queue when its GPU-seconds reach the
    limit of its queue. Within a queue running jobs precede waiting ones."""
    order = sorted(range(len(jobs)), key=lambda j: (jobs[j][0], j))
    done, ends, queue = [0.0] * len(jobs), [0.0] * len(jobs), [0] * len(jobs)
    active, running, now = [], [], 0.0
    while order or active:
        step = min([jobs[j][2] - done[j] for j in running]
                   + [jobs[j][0] - now for j in order[:1]]
                   + [(limits[queue[j]] / jobs[j][1] - done[j]) for j in running
                      if limits and queue[j] < len(limits)])
        now += step
        for j in running:
            done[j] += step
        for j in [j for j in active if jobs[j][2] - done[j] <= 1e-6]:
            ends[j] = now
            active.remove(j)
        while order and jobs[order[0]][0] <= now + 1e-6:
            active.append(order.pop(0))
        for j in sorted(active) if limits else []:
            while queue[j] < len(limits) and done[j] * jobs[j][1] >= limits[queue[j]] - 1e-6:
                queue[j] += 1
                active.remove(j)
                active.append(j)
        if limits:
            foremost = sorted(active, key=lambda j: queue[j])
        else:
            foremost = sorted(active, key=lambda j: (round(jobs[j][2] - done[j], 6),
                                                     j not in running, j))
        running, free = [], pool
        for j in foremost:
            if jobs[j][1] <= free:
                running.append(j)
                free -= jobs[j][1]
        active = running + [j for j in foremost if j not in running]
    return ends


# Mean seconds from submission to the end of a job in Tiresias' own simulator. The keys are the set of jobs
# (see main) and (GPUs, schedule). The simulator ran as run_sim.py with --scheme=count --schedule=..., with
# all GPUs under one switch.
ARTIFACT = {
    "tiresias60": {
        (16, "fifo"): 200.81666666666666, (16, "fjf"): 190.68333333333334,
        (16, "shortest"): 192.11666666666667, (16, "dlas"): 190.68333333333334,
        (16, "dlas-gpu"): 190.68333333333334,
        (8, "fifo"): 1556.4833333333333, (8, "fjf"): 715.2666666666667,
        (8, "shortest"): 519.8666666666667, (8, "dlas"): 715.2666666666667,
        (8, "dlas-gpu"): 715.2666666666667,
    },
    "vcvlY": {
        (16, "fifo"): 9667.019277108433, (16, "fjf"): 9667.019277108433,
        (16, "shortest"): 9658.040963855421, (16, "dlas"): 9636.12530120482,
    },
    "vcvlY.copies": {
        (16, "fifo"): 1315419.8662650601, (16, "fjf"): 1293612.2771084337,
        (16, "shortest"): 59667.23975903614, (16, "dlas"): 174192.37469879517,
    },
}
SCHEDULES = {
    "fifo": [{"name": "FIFO"}], "fjf": [{"name": "Skip"}], "shortest": [{"name": "SRTF"}],
    "dlas": [{"name": "Tiresias", "args": {"by": "dlas"}}], "dlas-gpu": [{"name": "Tiresias"}],
}


def case_of(name: str, trace: dict, gpus: int, policies: list, expected: float, source: str,
            kind: str) -> dict:
    return {"id": name, "function": "mean time from submission to the end, s",
            "input": {"quantity": "jct_mean", "trace": trace, "gpus": gpus, "policies": policies},
            "expected": expected, "tolerance": 1e-6, "source": source, "kind": kind}


def main() -> None:
    traces = pathlib.Path(sys.argv[1])
    sets = {
        "vcvlY": (helios(traces, "vcvlY"), 16, "helios/venus_2vc_sept_canonical.csv",
                  {"queues": ["vcvlY"]}, "Helios Venus, virtual cluster vcvlY, September 2020"),
        "vcvlY.twice": ([(s / 2, n, t) for s, n, t in helios(traces, "vcvlY")], 16,
                        "helios/venus_2vc_sept_canonical.csv",
                        {"queues": ["vcvlY"], "time_scale": 0.5}, "vcvlY at twice the load"),
        "vcvlY.copies": ([job for job in helios(traces, "vcvlY") for _ in range(2)], 16,
                         "helios/venus_2vc_sept_canonical.csv", {"queues": ["vcvlY"], "copies": 2},
                         "vcvlY, every job twice"),
        "tiresias60": (tiresias(traces), 16, "tiresias/60_job.csv", {},
                       "Tiresias 60_job.csv"),
        "gavel103959": (gavel(traces), 24, "gavel/msr_seed0/103959.trace", {},
                        "Gavel msr_seed0/103959 on 24 V100"),
    }
    policies = {
        "FIFO": ([{"name": "FIFO"}], lambda jobs, pool: strict(jobs, pool, False)),
        "SJF": ([{"name": "SJF"}], lambda jobs, pool: strict(jobs, pool, True)),
        "QSSF": ([{"name": "QSSF"}], lambda jobs, pool: strict(jobs, pool, False, True)),
        "SRTF": ([{"name": "SRTF"}], lambda jobs, pool: shared(jobs, pool, None)),
        "Tiresias": ([{"name": "Tiresias"}],
                     lambda jobs, pool: shared(jobs, pool, [3250, 7200])),
    }
    cases = []
    for name, (jobs, pool, file, trace, what) in sets.items():
        for policy, (entry, replay) in policies.items():
            ends = replay(jobs, pool)
            jct = math.fsum(e - j[0] for e, j in zip(ends, jobs)) / len(jobs)
            cases.append(case_of(f"{name}.{policy}.jct_mean", {"file": file, **trace}, pool, entry,
                                 jct, f"{what}: replayed by tests/validation/replay_oracle.py",
                                 "derived"))
        for (gpus, schedule), jct in ARTIFACT.get(name, {}).items():
            cases.append(case_of(f"{name}.{gpus}.artifact.{schedule}", {"file": file, **trace},
                                 gpus, SCHEDULES[schedule], jct,
                                 f"{what}: Tiresias' own simulator, schedule {schedule}",
                                 "independent"))
    print("[\n" + ",\n".join("  " + json.dumps(case) for case in cases) + "\n]")


if __name__ == "__main__":
    main()
