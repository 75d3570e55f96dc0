#!/usr/bin/env bash
# Installs missing packages, builds Orrery, runs 7,500 nodes for 30 days and draws the result.
# Leaves quickstart.h5 and quickstart.png in the current folder. Needs Debian 12 and no trace file.
#   ORRERY_BATCHES=OFF   compiles each source by itself
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$here/setup.sh"

echo "== 1/4 Packages"
orrery_setup build python
echo "== 2/4 Optimised build (a few minutes the first time)"
orrery_build release -DORRERY_TESTS=OFF -DORRERY_BENCH=OFF \
  -DORRERY_BATCHES="${ORRERY_BATCHES:-ON}" orrery
echo "== 3/4 Run: scenarios/openai-7500.yaml, 7,500 nodes x 8 GPUs, 30 days"
orrery="$ORRERY_ROOT/build/release/bin/orrery"
"$orrery" run "$here/openai-7500.yaml" -o quickstart.h5
echo "== 4/4 Picture"
"$orrery" plot overview quickstart.h5 -o quickstart.png
echo "Done: quickstart.h5 (open it with h5py or analysis/orrery), quickstart.png"
