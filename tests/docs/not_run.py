"""Commands on pages that no test runs as they stand: why not, and how they are checked instead.

A command matches if the pattern matches its beginning. A check such as "paths" is the method check_paths in
commands.py.
"""

NOT_RUN = (  # start of the command, reason, checks
    (r"bash scenarios/quickstart\.sh", "installs packages and builds for minutes; CI runs it",
     ("paths",)),
    (r"(bash )?tests/run\.sh", "builds for minutes, and runs this test, too; CI runs it", ("paths",)),
    (r"cmake --(preset|build)", "builds for minutes; tests/run.sh does the same",
     ("presets", "targets")),
    (r"cmake --install|cpack ", "needs a whole build; tests/package installs one", ()),
    (r"sudo apt-get install \./build", "needs root; tests/package/clean_image.sh does it", ()),
    (r"tests/package/clean_image\.sh", "needs root, and downloads packages", ("paths",)),
    (r"ctest ", "runs this test, too", ("labels",)),
    (r"build/release/bin/test_unit", "tests/run.sh runs the same tests", ()),
    (r"pip install ", "needs the network", ("paths",)),
    (r"array=\$\(sbatch|sbatch ", "needs Slurm; tests/unit/analysis/cluster runs the script on one",
     ("paths",)),
    (r"(build/release/bin/)?orrery cluster .*tcp://",
     "needs another machine; tests/unit/analysis/cluster runs workers on this one", ("options",)),
    (r"(build/release/bin/)?bench_\w+", "benchmarks are built on request alone", ("benchmarks",)),
    (r"(/usr/bin/)?python3 bench/", "takes minutes on an idle machine", ("paths",)),
    (r"(build/release/bin/)?orrery run bench/scenarios/", "takes minutes with the sanitizers",
     ("paths", "options")),
    (r"/usr/bin/python3 analysis/(gallery|reference)\.py", "writes into the tree", ("paths",)),
    (r"/usr/bin/python3 -B tests/fuzz/random_scenarios", "tests/run.sh --all runs it, with the sanitizers",
     ("paths",)),
    (r"/usr/bin/python3 analysis/validation_table\.py", "runs all validation tests", ("paths",)),
)
