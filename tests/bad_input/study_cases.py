"""Studies with mistakes, and studies with warnings: cases for cases.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

AXIS = "  - {name: nodes, parameter: 'cluster.pools[0].count', values: [2, 4]}\n"
STUDY = "base: s.yaml\naxes:\n" + AXIS


def study_cases(case: Callable[..., Any], good: str) -> list[Any]:
    """Cases of studies. `good` is a scenario without mistakes."""
    run = ("study", "run", "study.yaml", "-o", "out")

    def study(name: str, text: str, *says: str, arguments: tuple[str, ...] = run) -> Any:
        return case(name, {"s.yaml": good, "study.yaml": text}, arguments, 2, says)

    flow = good.replace("workload:\n", "network: {level: flow, routing: {engine: ecmp}}\nworkload:\n"
                        "  training: {step: {compute: 1s, exchanges: [{bytes: 1GB}]}}\n")
    levels = "base: s.yaml\naxes:\n  - {name: level, parameter: network.level, values: ["

    def idle(name: str, values: str, *says: str, status: int = 0, plan: bool = True,
             never_says: tuple[str, ...] = ()) -> Any:
        """A study over levels of the network. The base sets `engine`, which has no effect at some of the
        levels."""
        files = {"s.yaml": flow, "study.yaml": f"{levels}{values}]}}\n"}
        return case(name, files, ("study", "plan", "study.yaml") if plan else run, status, says,
                    never_says=never_says, prints=("cell,seed,label",) if status == 0 else ())

    one = "base: s.yaml\nseeds: {count: 1}\n"

    def damaged(name: str, arguments: tuple[str, ...], status: int, *says: str, leaves: tuple[str, ...] = ()) -> Any:
        files = {"s.yaml": good, "study.yaml": one, "out/runs/study.yaml": one, "out/runs/00000-s1.json": '[{"key": 5}]'}
        return case(name, files, arguments, status, says, leaves=leaves)

    return [
        damaged("damaged .json of a run", run, 0, "1 runs, 0 of them kept, 0 failed",
                leaves=("out/runs/00000-s1.h5", "out/study.h5")),
        damaged("damaged .json of a run, verified", ("study", "report", "study.yaml", "-o", "out", "--verify"), 2,
                "out/runs/00000-s1.json: is not as its run wrote it", "1 damaged run", "holds no run of this study"),
        idle("study plan: idle in one cell", "flow, alpha_beta", "s.yaml:4:33: warning: network.routing: has "
             "no effect: network.level is not flow (in the cell level=alpha_beta)", never_says=("mistake",)),
        idle("study plan: idle in most cells", "none, flow, alpha_beta", "s.yaml:4:33: warning: network.routing: "
             "has no effect: network.level is not flow (in 2 of 3 cells, the first is level=none)",
             "s.yaml:6:20: warning: workload.training.step: has no effect: network.level "
             "is none (in the cell level=none)"),
        idle("idle in all cells", "none, alpha_beta", "s.yaml:4:33: warning: network.routing: has no effect: "
             "network.level is not flow (in all 2 cells)", "warning: workload.training.step",
             never_says=("mistake",)),
        case("mistakes that only nodes show, before a run", {"s.yaml": good + "faults: {list: [{node: gpu-3, at: "
             "1min, repair: 1min}]}\n", "study.yaml": STUDY}, run, 2, ("s.yaml:10:24: ", "'gpu-3'",
             "(in the cell nodes=2)")),
        case("study without its list of nodes", {"s.yaml": "cluster: {openb_nodes: [{file: n.csv}]}\n"
             + good.split("\n", 3)[3], "study.yaml": "base: s.yaml\naxes:\n  - {name: jobs, parameter: "
             "'workload.sources[0].jobs[0].count', values: [1, 2]}\n"}, run, 2,
             ("s.yaml:1:10: cluster.openb_nodes: n.csv: ", "(in all 2 cells)")),
        study("no study", STUDY, "no.yaml", arguments=("study", "run", "no.yaml")),
        study("unknown study command", STUDY, "no study command 'runn'; did you mean 'run'?",
              arguments=("study", "runn", "study.yaml")),
        study("shard without a part", STUDY, "study shard needs FILE and I/N",
              arguments=("study", "shard", "study.yaml")),
        study("part beyond the parts", STUDY, "a whole number from 1 to 3, got '4'",
              arguments=("study", "shard", "study.yaml", "4/3")),
        study("no runs at once", STUDY, "--jobs needs a whole number from 1", arguments=(*run, "-j", "0")),
        study("unknown format of a report", STUDY, "--format is markdown, csv or latex, not 'html'",
              arguments=("study", "report", "study.yaml", "-o", "out", "--format", "html")),
        study("report of nothing", STUDY, "out: holds no run of this study",
              arguments=("study", "report", "study.yaml", "-o", "out")),
        study("study without a base", "axes:\n" + AXIS, "study.yaml:1:1: missing required key 'base'"),
        study("base that is not there", STUDY.replace("s.yaml", "t.yaml"),
              "study.yaml:1:7: base: no file 't.yaml'"),
        case("a study on standard output", {"study.yaml": STUDY, "s.yaml": good},
             arguments=("study", "run", "study.yaml", "-o", "-"),
             says=("--output -: a study is a folder of files",)),
        study("unknown key in a study", STUDY + "seed: {count: 2}\n", "study.yaml:4:1: unknown key 'seed'",
              "did you mean 'seeds'?"),
        study("unknown parameter of an axis", STUDY.replace("].count", "].cuont"),
              "study.yaml:3:65: cluster.pools[0]: unknown key 'cuont'", "did you mean 'count'?", "(in the cell nodes=2)"),
        study("value out of range", STUDY.replace("[2, 4]", "[2, -4]"), "study.yaml:3:68:",
              "cluster.pools[0].count", "(in the cell nodes=-4)"),
        study("value that is no number", STUDY.replace("[2, 4]", "[2, four]"), "study.yaml:3:68:", "'four'"),
        study("axis without arms", STUDY.replace(", values: [2, 4]", ""), "study.yaml:3:5: axes[0]",
              "needs either `arms` or `parameter` with `values`"),
        study("value with a long name", STUDY.replace("[2, 4]", "[2, 0x" + 50 * "0" + "4]"),
              "study.yaml:3:", "axes[0].values[1]: the arm's name must have 1 to 48 bytes"),
        study("arm without a name", "base: s.yaml\naxes: [{name: p, arms: [{name: ''}]}]\n",
              "study.yaml:2:", "axes[0].arms[0]: the arm's name must have 1 to 48 bytes"),
        study("too many runs", STUDY.replace("[2, 4]", "[" + ", ".join(map(str, range(1, 13))) + "]")
              + "seeds: {count: 100000}\n", "study.yaml:4:8: seeds: make more than 1000000 runs"),
        study("seeds beyond the last", STUDY + "seeds: {first: 18446744073709551615}\n",
              "study.yaml:4:16: seeds.first: out of range"),
        study("axis twice", STUDY + AXIS, "study.yaml:4:12: axes[1].name: is there twice: 'nodes'"),
        study("value twice", STUDY.replace("[2, 4]", "[2, 2]"), "study.yaml:3:68: axes[0].values[1]",
              "is there twice: '2'"),
        study("unknown arm to compare with", STUDY + "compare: {axis: nodes, against: '3'}\n",
              "study.yaml:4:33: compare.against: no arm of this axis is called '3'"),
        study("unknown axis to compare", STUDY + "compare: {axis: node, against: '2'}\n",
              "study.yaml:4:17: compare.axis", "did you mean 'nodes'?"),
        study("unknown metric", STUDY + "metrics: [jct_men]\n", "study.yaml:4:11: metrics[0]: no run has a figure called "
              "'jct_men'; did you mean 'jct_mean'?", "`orrery describe metrics` lists them"),
        study("unknown metric to stop by, in a plan", STUDY + "until: {metric: jct}\n", "study.yaml:4:17: until.metric: no run "
              "has a figure called 'jct'", arguments=("study", "plan", "study.yaml")),
        study("metric of a feature that is off", STUDY + "metrics: [etcd_elections]\n", "study.yaml:4:11: metrics[0]: no run of "
              "this study has 'etcd_elections'"),
        study("arms that are equal", "base: s.yaml\naxes:\n  - name: p\n    arms:\n      - {name: a, set: {run.until: 2h}}\n"
              "      - {name: b, set: {run.until: 120min}}\n", "study.yaml:6:9: axes[0].arms[1]: cannot differ from 'a': the "
              "runs are the same"),
        study("arms that are equal, in a plan", "base: s.yaml\naxes: [{name: end, parameter: run.until, values: [1h, 60min]}]\n",
              "study.yaml:2:55: axes[0].values[1]: cannot differ from '1h'", arguments=("study", "plan", "study.yaml")),
        case("cells that cannot differ", {"s.yaml": flow, "study.yaml": levels + "flow, alpha_beta]}\n  - {name: engine, parameter: "
             "network.routing.engine, values: [ecmp, dmodk]}\n"}, ("study", "plan", "study.yaml"), 2,
             ("axes[1].values[1]: cannot differ from 'ecmp': the runs are the same (in the cell level=alpha_beta engine=dmodk)",)),
        case("validate knows a study", {"s.yaml": good, "study.yaml": STUDY}, ("validate", "study.yaml", "s.yaml"), 0, (),
             prints=("study.yaml: ok (2 cells, 10 seeds)", "s.yaml: ok (")),
        case("validate: a study's mistake", {"s.yaml": good, "study.yaml": STUDY.replace("[2, 4]", "[2, -4]")},
             ("validate", "study.yaml"), 2, ("study.yaml:3:68: ", "study.yaml: 1 mistake")),
        case("a study is run as a scenario", {"s.yaml": good, "study.yaml": STUDY}, ("run", "study.yaml"), 2,
             ("study.yaml:1:1: ", "is a study, not a scenario: `orrery study run` runs it")),
        study("bca of few seeds", STUDY + "compare: {axis: nodes, against: '2', estimator: bca}\n",
              "study.yaml:4:49: compare.estimator: bca needs seeds.count of at least 20, got 10"),
        case("pairs of one column", {"t.csv": "a\n1\n"}, ("study", "pairs", "t.csv"), 2, ("t.csv:1: expected the names of two",)),
        case("pairs of a text", {"t.csv": "a,b\n1,2\n1,x\n"}, ("study", "pairs", "t.csv"), 2, ("t.csv:3: expected a number, got 'x'",)),
        case("unknown schema", {}, ("schema", "stud"), 2, ("no schema of 'stud'; did you mean 'study'?",)),
        study("seed that the study sets itself", STUDY + "set: {run.seed: 3}\n", "study.yaml:4:17: run.seed: is what `seeds` sets"),
        study("setting of an arm", "base: s.yaml\naxes:\n  - name: p\n    arms:\n      - {name: a}\n"
              "      - {name: b, set: {policy.base: strickt_gang}}\n", "study.yaml:6:38: policy.base",
              "did you mean 'strict_gang'?", "(in the cell p=b)"),
        study("fork of no policy", STUDY + "run: {fork_at: 1min}\n", "study.yaml:4:16: run.fork_at: no axis"),
        study("fork after the end", "base: s.yaml\naxes: [{name: p, parameter: policy.base, "
              "values: [default, strict_gang]}]\nrun: {fork_at: 3h}\n", "study.yaml:3:16:",
              "must be before run.until, 1h"),
        study("fork with a job queue", "base: s.yaml\naxes: [{name: p, parameter: policy.job_queue, "
              "values: ['{}', '{policies: [{name: SJF}]}']}]\nrun: {fork_at: 3min}\n", "study.yaml:3:16:",
              "cannot come while the run goes on"),
    ]
