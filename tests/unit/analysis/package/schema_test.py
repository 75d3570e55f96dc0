"""What an editor reports about scenarios and studies, by the JSON Schemas that the program writes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parents[4]
POOLS = "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
JOBS = "workload: {sources: [{kind: jobs, jobs: [{work: 1h}]}]}\n"


def validator(program: str, kind: str) -> Any:
    done = subprocess.run([program, "schema", kind], check=True, capture_output=True, text=True)
    schema = json.loads(done.stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@pytest.fixture(scope="module")
def scenario(program: str) -> Any:
    return validator(program, "scenario")


@pytest.fixture(scope="module")
def study(program: str) -> Any:
    return validator(program, "study")


def passes(schema: Any, text: str) -> bool:
    return bool(schema.is_valid(yaml.safe_load(text)))


def test_a_scenario_that_includes_another_needs_nothing_of_its_own(scenario: Any) -> None:
    assert passes(scenario, POOLS + JOBS)
    assert not passes(scenario, POOLS) and not passes(scenario, JOBS)
    assert passes(scenario, "include: base.yaml\n")
    assert passes(scenario, "include: [a.yaml, b.yaml]\nrun: {until: 1d}\n")
    assert passes(scenario, "include: base.yaml\ncluster: {}\nworkload: {training: {init: 1s}}\n")
    assert not passes(scenario, "include: base.yaml\nrun: {untl: 1d}\n")


def test_unknown_machines_fail(scenario: Any) -> None:
    wrong = POOLS.replace("dgx-a100", "dgx-a1000")
    assert not passes(scenario, wrong + JOBS)
    own = wrong.replace("{pools:", "{machines: [{name: dgx-a1000, base: dgx-a100}], pools:")
    assert passes(scenario, own + JOBS)
    assert not passes(scenario, own.replace("base: dgx-a100", "base: dgx") + JOBS)


def test_describe_explains_every_key_of_a_study(program: str, study: Any) -> None:
    done = subprocess.run([program, "describe", "study"], check=True, capture_output=True, text=True)
    explained = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    keys = set(study.schema["properties"]) - {"include"}
    assert {"base", "axes", "compare", "metrics"} <= keys <= explained


def test_every_study_that_ships_passes(study: Any) -> None:
    files = sorted((ROOT / "scenarios" / "studies").glob("*.yaml"))
    assert files
    for file in files:
        study.validate(yaml.safe_load(file.read_text(encoding="utf-8")))


def test_mistakes_of_studies_fail(study: Any) -> None:
    good = "base: s.yaml\nmetrics: [jct_mean]\nseeds: {count: 3}\n"
    assert passes(study, good)
    assert not passes(study, good.replace("jct_mean", "jct_men"))
    assert not passes(study, good.replace("count", "cuont"))
    assert not passes(study, "seeds: {count: 3}\n")
