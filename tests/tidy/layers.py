"""Who may include whom: the dependencies of the rooms, and of third-party headers."""

FLOOR = {"sim/core", "sim/engine", "sim/config", "sim/record", "sim/runtime"}
GROUND = FLOOR | {"models/hardware"}
MIDDLE = GROUND | {"models/network", "models/storage"}
ALL_MODELS = MIDDLE | {"models/workload", "models/scheduling", "models/control_plane",
                       "models/faults", "models/telemetry"}

# Every room may include itself; what is not a room here may include anything.
MAY_INCLUDE = {
    "sim/core": set(),
    "sim/engine": {"sim/core"},
    "sim/config": {"sim/core"},
    "sim/record": {"sim/core"},
    "sim/runtime": FLOOR,
    "models/hardware": FLOOR,
    "models/network": GROUND,
    "models/storage": GROUND | {"models/network"},
    "models/workload": MIDDLE,
    "models/scheduling": MIDDLE | {"models/workload"},
    "models/control_plane": MIDDLE | {"models/workload", "models/scheduling"},
    "models/faults": GROUND | {"models/network", "models/workload"},
    "models/telemetry": MIDDLE | {"models/workload"},
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
