#!/usr/bin/env bash
#SBATCH --job-name=orrery-study
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
#
# Runs a study as an array of Slurm jobs: task I of N runs every N-th run from the I-th on.
#
#   export ORRERY=$PWD/build/release/bin/orrery
#   array=$(sbatch --parsable --array=1-N scenarios/studies/slurm_array.sh STUDY.yaml DIR)
#   sbatch --dependency=afterany:$array scenarios/studies/slurm_array.sh STUDY.yaml DIR
#
# The second job is no array: it writes DIR/study.h5, and prints the report. N is a number from 2 to
# the number of runs; `orrery study plan STUDY.yaml` lists the runs. --array=1-N%M runs M tasks at a
# time. Time limit, memory and partition are options of sbatch, as for any job.
#
# Each finished run is kept in DIR. A task that is requeued, after a node failure, a preemption or
# `scontrol requeue`, continues with its missing runs. A new array, of any N, also executes only the
# missing runs. If runs are still missing after the array, the second job executes them on its own
# cores (--cpus-per-task). It fails with status 2 if a run has failed. STUDY.yaml, DIR and the
# program must be on a file system that the nodes share.
set -euo pipefail

program="${ORRERY:-$(command -v orrery || true)}"
if [ $# -ne 2 ] || [ ! -x "$program" ]; then
  echo "usage: sbatch [--array=1-N] slurm_array.sh STUDY.yaml DIR" >&2
  echo "with the program orrery on the PATH, or its path in the environment variable ORRERY" >&2
  exit 2
fi
study="$1" folder="$2"
# With exec the program itself gets Slurm's signals, and stops properly.
if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
  exec "$program" study run "$study" -o "$folder" --jobs "${SLURM_CPUS_PER_TASK:-1}"
fi
parts="$SLURM_ARRAY_TASK_MAX"
if [ "$SLURM_ARRAY_TASK_MIN" -ne 1 ] || [ "$SLURM_ARRAY_TASK_COUNT" -ne "$parts" ] ||
  [ "$parts" -lt 2 ]; then
  echo "the array must be 1-N with N of at least 2: all N parts together are the study" >&2
  exit 2
fi
exec "$program" study shard "$study" "$SLURM_ARRAY_TASK_ID/$parts" -o "$folder" \
  --jobs "${SLURM_CPUS_PER_TASK:-1}"
