# For scripts that source this file (quickstart.sh, tests/run.sh): functions that install missing
# packages and build. The functions do not change the caller's working directory.

ORRERY_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
ORRERY_PYTHON=/usr/bin/python3  # Debian's modules belong to this Python; another may come first on PATH

# Prints the packages of one group, one per line, as "package: purpose".
orrery_packages() {
  case "$1" in
    build) cat <<'EOF'
g++: the compiler
cmake: configures the build
ninja-build: runs the build
libboost-program-options-dev: command line
libyaml-cpp-dev: scenario files
nlohmann-json3-dev: JSON Schema and resolved scenarios
libtbb-dev: runs side by side
libhdf5-dev: output files
libspdlog-dev: log lines
zlib1g-dev: gzipped traces
liblzma-dev: xz-compressed traces
libjemalloc-dev: memory
coinor-libclp-dev: linear programs of fair shares
pybind11-dev: policies in Python
python3-dev: the interpreter for policies in Python
EOF
    ;;
    python) cat <<'EOF'
python3: reads output files and draws them
python3-h5py: opens HDF5
python3-numpy: arrays
python3-pandas: tables
python3-matplotlib: plots
python3-yaml: the page of a study, whose file is YAML
EOF
    ;;
    test) cat <<'EOF'
libgtest-dev: unit tests
libgmock-dev: unit tests
python3-pytest: tests of the Python package
chromium: opens the pages of `orrery report` without a screen
chromium-driver: lets the tests press keys and buttons in chromium
python3-selenium: controls chromium-driver
hdf5-tools: h5clear, for the files of killed runs
python3-xarray: run.dataset() of the Python package
python3-distributed: studies on Dask; also brings psutil, with which tests kill workers
python3-nbclient: executes the notebooks
python3-nbformat: reads the notebooks
python3-ipykernel: runs the cells of notebooks
slurm-wlm: studies as arrays of Slurm, on a Slurm of one node on this machine
libbenchmark-dev: benchmarks
EOF
    ;;
    sanitize) cat <<'EOF'
clang-19: compiles the tests with sanitizers, and the fuzz targets
libclang-rt-19-dev: libFuzzer and the sanitizers of clang
EOF
    ;;
    lint) echo "clang-format: checks the layout of the sources" ;;
    *) echo "orrery_packages: no group '$1'" >&2; return 2 ;;
  esac
}

orrery_is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# orrery_setup GROUP...: installs the missing packages of these groups, and prints their names and purposes.
orrery_setup() {
  local group line package missing=()
  if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system: install by hand what scenarios/setup.sh lists."
    return 0
  fi
  for group in "$@"; do
    while IFS= read -r line; do
      package="${line%%:*}"
      orrery_is_installed "$package" && continue
      [ ${#missing[@]} -gt 0 ] || echo "Missing packages:"
      printf '  %-30s %s\n' "$package" "${line#*: }"
      missing+=("$package")
    done < <(orrery_packages "$group")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All packages are installed."
    return 0
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Not root, and there is no sudo: run  apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  echo "Installing the missing packages with apt-get ..."
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
}

# orrery_build PRESET [-DNAME=VALUE]... [TARGET]...: configures, then builds the targets; without TARGET, all.
orrery_build() {
  local preset="$1" argument options=() targets=()
  shift
  for argument in "$@"; do
    case "$argument" in
      -D*) options+=("$argument") ;;
      *) targets+=("$argument") ;;
    esac
  done
  local log="$ORRERY_ROOT/build/$preset.configure.log"
  mkdir -p "$ORRERY_ROOT/build"
  if ! (cd "$ORRERY_ROOT" && cmake --preset "$preset" "${options[@]}") >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  if [ ${#targets[@]} -gt 0 ]; then
    cmake --build "$ORRERY_ROOT/build/$preset" --target "${targets[@]}"
  else
    cmake --build "$ORRERY_ROOT/build/$preset"
  fi
}
