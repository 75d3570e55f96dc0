#!/usr/bin/env bash
# Builds Orrery and runs its tests. Missing Debian packages are installed first, with apt-get.
#   tests/run.sh               the optimised build and its tests
#   tests/run.sh --quick       the optimised build, but only its fast tests
#   tests/run.sh --all         also a build with sanitizers and its fast tests; a check that both builds
#                              write the same bytes; fuzzing; random scenarios. The unit and property
#                              tests then run only in the build with sanitizers.
#   tests/run.sh --bench       also builds the benchmarks, but does not run them
#   ORRERY_BATCHES=OFF         compiles each source by itself, which is quicker only after small changes
#   ORRERY_FUZZ_SECONDS=N      seconds for each fuzz target (default: 10) and for random scenarios (default: 30)
#   ORRERY_FUZZ_SEED=N         the seed of random scenarios (default: 1)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scenarios/setup.sh

long=true
sanitize=false
bench=OFF
for argument in "$@"; do
  case "$argument" in
    --quick) long=false sanitize=false ;;
    --all) long=true sanitize=true ;;
    --bench) bench=ON ;;
    -h | --help) sed -n '2,11s/^# \?//p' "$0"; exit 0 ;;
    *) echo "tests/run.sh: unknown argument '$argument'; see --help" >&2; exit 2 ;;
  esac
done
jobs="$(nproc)"
# addr2line, of binutils, translates the addresses in sanitizer reports to source lines. The tool of clang for
# this is in a separate package.
symbolizer="external_symbolizer_path=$(command -v addr2line)"
export ASAN_OPTIONS="$symbolizer${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1:$symbolizer${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
fuzz_seconds="${ORRERY_FUZZ_SECONDS:-10}"
scenario_seconds="${ORRERY_FUZZ_SECONDS:-30}"
results=()
failures=0

# stage NAME COMMAND...: runs the command under a heading. A failure is recorded, and later stages
# still run.
stage() {
  local name="$1" start=$SECONDS verdict=passed
  shift
  printf '\n== %s\n' "$name"
  "$@" || { verdict=FAILED; failures=$((failures + 1)); }
  printf -- '-- %s: %s after %d s\n' "$name" "$verdict" $((SECONDS - start))
  results+=("$(printf '%-52s %-7s %5d s' "$name" "$verdict" $((SECONDS - start)))")
  [ "$verdict" = passed ]
}

skip() {
  results+=("$(printf '%-52s skipped, %s' "$1" "$2")")
}

run_tests() {  # PRESET LABEL [OPTION...]
  local preset="$1" label="$2"
  shift 2
  # Runs up to cores + 1 tests in parallel, because some tests mostly wait for other processes.
  ORRERY_TESTS_BUILT=1 ctest --test-dir "build/$preset" -L "$label" "$@" -j $((jobs + 1)) --output-on-failure --no-tests=error |
    grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .* Passed )'
  local status="${PIPESTATUS[0]}"
  # Prints the skipped tests, because a shard passes even if it skips some of its tests.
  grep -hE '^\[  SKIPPED \] [A-Z][^ ]*$' "build/$preset/Testing/Temporary/LastTest.log" | sort -u
  return "$status"
}

same_bytes() {
  "$ORRERY_PYTHON" tests/determinism/same_bytes.py \
    --binary build/release/bin/orrery --binary build/sanitize/bin/orrery tests/determinism/*.yaml
}

fuzz_one() {  # NAME
  local folder="build/sanitize/fuzz/$1"
  mkdir -p "$folder/corpus"
  if "build/sanitize/bin/fuzz_$1" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048 \
    -artifact_prefix="$folder/" -print_final_stats=1 "$folder/corpus" "tests/fuzz/corpus/$1" \
    >"$folder/log" 2>&1; then
    echo "$1: no finding in $(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log") inputs"
  else
    echo "$1: a finding; the input is in $folder"
    grep -A25 -E '^==[0-9]+==|runtime error|SUMMARY' "$folder/log" | head -60
    return 1
  fi
}
export -f fuzz_one
export fuzz_seconds

fuzz_all() { ls tests/fuzz/corpus | xargs -P 0 -I{} bash -c 'fuzz_one {}'; }

random_scenarios() {
  "$ORRERY_PYTHON" -B tests/fuzz/random_scenarios.py --binary build/sanitize/bin/orrery \
    --seconds "$scenario_seconds" --seed "${ORRERY_FUZZ_SEED:-1}" --limit 60 \
    --findings build/sanitize/fuzz/scenarios
}

start=$SECONDS
groups=(build python test)
# Unit and property tests run once: in the sanitized build, if there is one.
unit_tests=ON
if $sanitize; then
  groups+=(sanitize)
  unit_tests=OFF
fi
stage "Packages" orrery_setup "${groups[@]}"
if stage "Optimised build" orrery_build release -DORRERY_TESTS=ON -DORRERY_BENCH=$bench \
  -DORRERY_UNIT_TESTS=$unit_tests -DORRERY_BATCHES="${ORRERY_BATCHES:-ON}"; then
  stage "Fast tests" run_tests release fast
  $long && stage "Long tests" run_tests release long
else
  skip "Tests" "there is nothing to run"
fi
if $sanitize; then
  if stage "Build with sanitizers and fuzz targets" orrery_build sanitize -DORRERY_TESTS=ON \
    -DORRERY_UNIT_TESTS=ON -DORRERY_BATCHES="${ORRERY_BATCHES:-TESTS}"; then
    stage "Fast tests under the sanitizers" run_tests sanitize fast -E '^analysis'  # leaves out tests of Python code
    stage "Same bytes from both builds" same_bytes
    stage "Fuzzing, $fuzz_seconds s for each input format" fuzz_all
    stage "Random scenarios, $scenario_seconds s" random_scenarios
  else
    skip "Tests under the sanitizers, and fuzzing" "there is nothing to run"
  fi
fi

printf '\n== Summary\n'
printf '%s\n' "${results[@]}"
printf '%d of %d stages failed, %d s in all\n' "$failures" "${#results[@]}" $((SECONDS - start))
[ "$failures" -eq 0 ]
