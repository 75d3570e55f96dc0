"""Who may include whom: the dependencies of the rooms, and of third-party headers."""

FLOOR = {"sim/core", "sim/engine", "sim/config", "sim/record", "sim/runtime"}
GROUND = FLOOR | {"models/hardware"}
FABRIC = GROUND | {"models/network/fabric"}
NETWORK = {"models/network", "models/network/sharing", "models/network/fabric",
           "models/network/routing", "models/network/collectives"}
MIDDLE = GROUND | NETWORK | {"models/storage"}
JOBS = {"models/workload", "models/workload/training"}
ALL_MODELS = MIDDLE | JOBS | {"models/workload/steps", "models/scheduling",
                              "models/control_plane", "models/faults", "models/telemetry"}

# Every room may include itself; what is not a room here may include anything.
MAY_INCLUDE = {
    "sim/core": set(),
    "sim/engine": {"sim/core"},
    "sim/config": {"sim/core"},
    "sim/record": {"sim/core"},
    "sim/runtime": FLOOR,
    "models/hardware": FLOOR,
    "models/network": GROUND | NETWORK,
    "models/network/sharing": FLOOR,
    "models/network/fabric": GROUND,
    "models/network/routing": FABRIC,
    "models/network/collectives": FABRIC | {"models/network/sharing"},
    "models/storage": GROUND | {"models/network/sharing"},
    "models/workload": MIDDLE | JOBS,
    "models/workload/training": MIDDLE | JOBS,
    "models/workload/steps": MIDDLE | JOBS,
    "models/scheduling": MIDDLE | JOBS,
    "models/control_plane": MIDDLE | JOBS | {"models/scheduling"},
    "models/faults": GROUND | NETWORK | JOBS,
    "models/telemetry": MIDDLE | JOBS | {"models/workload/steps"},
    "models": ALL_MODELS,  # the composition: cluster, scenario and the like, and no other file
    "policies": {"models/scheduling", "sim/core"},  # policy_api.hpp is all that a policy needs
}
MODELS_ROOT_FILES = ("models/cluster", "models/scenario")  # how their names begin

# Third-party headers by the beginning of their name: the folders whose sources may include them.
THIRD_PARTY = {
    "hdf5": ("sim/record/",),
    "H5": ("sim/record/",),
    "yaml-cpp/": ("sim/config/",),
    "nlohmann/": ("sim/config/", "sim/cli/"),
    "boost/": ("sim/cli/",),
    "spdlog/": ("sim/cli/", "sim/runtime/"),
    "tbb/": ("sim/cli/", "sim/runtime/"),
    "oneapi/": ("sim/cli/", "sim/runtime/"),
    "zlib": ("models/workload/traces/", "sim/record/"),
    "lzma": ("models/workload/traces/",),
    "coin/": ("models/scheduling/",),
    "zip.h": ("models/network/",),
    "pugixml": ("models/network/",),
    "gtest/": (),
    "gmock/": (),
    "benchmark/": (),
}
ANY_THIRD_PARTY = ("tests/", "bench/")  # may include all of them, in headers too
SYSTEM = ("sys/", "dlfcn.h", "fcntl.h", "unistd.h", "signal.h", "poll.h", "fnmatch.h", "errno.h",
          "cxxabi.h", "immintrin.h")


def room_of(path: str) -> str:
    """The longest room that holds the file."""
    held = [room for room in MAY_INCLUDE if path.startswith(room + "/")]
    return max(held, key=len, default="/".join(path.split("/")[:-1]))
