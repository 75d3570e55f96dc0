"""Which folder ("room") may include which other folders, and which third-party headers."""

SIM = {"sim/core", "sim/engine", "sim/config", "sim/record", "sim/runtime"}
FLOOR = SIM | {"models/facts"}
GROUND = FLOOR | {"models/hardware"}
FABRIC = GROUND | {"models/network/fabric"}
NETWORK = {"models/network", "models/network/sharing", "models/network/fabric",
           "models/network/routing", "models/network/collectives"}
MIDDLE = GROUND | NETWORK | {"models/storage"}
TRACE_READER = "models/workload/traces"
TRACE_IO, FORMATS, TABLES, REQUESTS, NATIVE, SYNTHESIS = (
    f"{TRACE_READER}/{room}"
    for room in ("io", "formats", "tables", "requests", "native", "synthesis"))
TRACES = {TRACE_READER, FORMATS, TABLES, REQUESTS, NATIVE, SYNTHESIS}
JOB = "models/workload/job"
TRAINING = "models/workload/training"
SERVICES = "models/workload/services"
LIFECYCLE = "models/workload/lifecycle"
STATE = LIFECYCLE + "/state"
PODS = LIFECYCLE + "/pods"
RUNS = LIFECYCLE + "/runs"
JOBS = {JOB, TRAINING, SERVICES, LIFECYCLE, STATE, PODS, RUNS}
WORKLOAD = JOBS | {"models/workload", "models/workload/sources"} | TRACES | {TRACE_IO}
SCHEDULING = "models/scheduling"
CONTRACT, FRAMEWORK, QUEUE, CYCLE, JOB_QUEUE, FEASIBILITY, TOOLBOX = (
    f"{SCHEDULING}/{room}"
    for room in ("contract", "framework", "queue", "cycle", "job_queue", "feasibility", "toolbox"))
CONTROL = CONTRACT + "/control"
SCHEDULING_ROOMS = {SCHEDULING, CONTRACT, CONTROL, FRAMEWORK, QUEUE, CYCLE, JOB_QUEUE, FEASIBILITY, TOOLBOX}
CONTROL_PLANE = "models/control_plane"
BASE, FLOW_CONTROL, ETCD, API_SERVER, CLIENTS, KUBELET, NODES, WATCHED, LOAD, AUTOSCALING = (
    f"{CONTROL_PLANE}/{room}"
    for room in ("base", "flow_control", "etcd", "api_server", "clients", "kubelet", "nodes",
                 "services", "load", "autoscaling"))
SERVERS = {BASE, FLOW_CONTROL, API_SERVER}
CONTROL_ROOMS = SERVERS | {CONTROL_PLANE, ETCD, CLIENTS, KUBELET, NODES, WATCHED, LOAD, AUTOSCALING}
CONTROLLERS = "models/controllers"
ALL_MODELS = MIDDLE | WORKLOAD | SCHEDULING_ROOMS | CONTROL_ROOMS | {
    CONTROLLERS,
    "models/workload/steps", "models/faults", "models/telemetry"}
COMPOSITION = {"models/scenario", "models/cluster", "models/run"}

REMOTE = "policies/jobs/remote"
REMEDIATION = "policies/controllers/remediation"
SCALING = "policies/controllers/scaling"

# Every folder may include its own headers. A folder that is not listed has the rules of the nearest listed folder
# above it. Without such a folder above it, it may include everything but policies.
MAY_INCLUDE = {
    "sim/core": set(),
    "sim/engine": {"sim/core"},
    "sim/config": {"sim/core"},
    "sim/record": {"sim/core"},
    "sim/runtime": SIM,
    "models/facts": {"sim/core"},
    "models/hardware": FLOOR,
    "models/network": GROUND | NETWORK,
    "models/network/sharing": FLOOR,
    "models/network/fabric": GROUND,
    "models/network/routing": FABRIC,
    "models/network/collectives": FABRIC | {"models/network/sharing"},
    "models/storage": GROUND | {"models/network/sharing"},
    JOB: GROUND,
    TRAINING: MIDDLE | {JOB},
    SERVICES: FLOOR | {JOB},
    STATE: GROUND | {JOB},
    PODS: GROUND | {JOB, STATE},
    RUNS: GROUND | {"models/storage", JOB, TRAINING, STATE},
    LIFECYCLE: GROUND | {"models/storage", JOB, TRAINING, SERVICES, STATE, PODS, RUNS},
    "models/workload/steps": MIDDLE | JOBS,
    TRACE_IO: FLOOR,
    FORMATS: FLOOR | {TRACE_IO, TABLES},
    TABLES: GROUND | {TRACE_IO, FORMATS, TRACE_READER},
    REQUESTS: FLOOR | {TRACE_IO, FORMATS, TRACE_READER},
    NATIVE: FLOOR | {TRACE_IO, FORMATS, REQUESTS},
    SYNTHESIS: FLOOR | {TRACE_IO, FORMATS, TRACE_READER},
    TRACE_READER: FLOOR | {TRACE_IO, FORMATS, REQUESTS},
    "models/workload/sources": GROUND | {"models/storage", JOB, TRAINING, SERVICES, TRACE_IO}
                               | TRACES,
    "models/workload": MIDDLE | WORKLOAD,
    CONTRACT: GROUND | {JOB, TRAINING, CONTROL},
    CONTROL: GROUND | {JOB, CONTRACT},
    TOOLBOX: GROUND | {JOB, CONTRACT, TABLES},
    FRAMEWORK: GROUND | {JOB, CONTRACT},
    QUEUE: FLOOR | {CONTRACT, FRAMEWORK},
    CYCLE: GROUND | {JOB, LIFECYCLE, CONTRACT, FRAMEWORK, QUEUE},
    JOB_QUEUE: GROUND | {JOB, TRAINING, LIFECYCLE, CONTRACT},
    FEASIBILITY: GROUND | {JOB, CONTRACT},
    SCHEDULING: MIDDLE | WORKLOAD | SCHEDULING_ROOMS,
    BASE: FLOOR | {JOB},
    FLOW_CONTROL: FLOOR | {BASE},
    ETCD: FLOOR | {BASE},
    API_SERVER: FLOOR | {BASE, FLOW_CONTROL},
    CLIENTS: FLOOR | SERVERS,
    KUBELET: FLOOR | {BASE, JOB},
    NODES: GROUND | SERVERS | {CLIENTS, ETCD, KUBELET, JOB},
    WATCHED: FLOOR | SERVERS | {CLIENTS, ETCD, NODES, JOB},
    LOAD: FLOOR | SERVERS | {CLIENTS, ETCD, KUBELET},
    AUTOSCALING: GROUND | {BASE, NODES, JOB, SERVICES, LIFECYCLE, CONTRACT, CONTROL},
    CONTROL_PLANE: GROUND | CONTROL_ROOMS | {JOB},
    CONTROLLERS: GROUND | {BASE, NODES, AUTOSCALING, SCHEDULING, CONTRACT, CONTROL, CYCLE, JOB,
                           LIFECYCLE},
    "models/faults": GROUND | NETWORK | JOBS | {TRACE_IO} | TRACES,
    "models/telemetry": MIDDLE | JOBS | {"models/workload/steps"},
    "models/scenario": ALL_MODELS,
    "models/cluster": ALL_MODELS | {"models/scenario"},
    "models/run": ALL_MODELS | {"models/scenario", "models/cluster"},
    "policies/python": {CONTRACT, CONTROL, JOB, "models/hardware", "sim/core", "sim/config"},
    "policies": {CONTRACT, CONTROL, TOOLBOX, "models/facts", "sim/core"},
    REMEDIATION: {CONTRACT, CONTROL, TOOLBOX, FEASIBILITY, "models/facts", "sim/core"},
    SCALING: {CONTRACT, CONTROL, TOOLBOX, FEASIBILITY, "models/facts", "sim/core"},
    REMOTE: {CONTRACT, TOOLBOX, "models/facts", "sim/core", "sim/config"},  # one policy in several sources
}

# The folders whose sources may include a third-party header, by the prefix of the header's name.
THIRD_PARTY = {
    "hdf5": ("sim/record/",),
    "H5": ("sim/record/",),
    "yaml-cpp/": ("sim/config/",),
    "nlohmann/": ("sim/config/", "sim/cli/", "policies/jobs/remote/"),
    "boost/": ("sim/cli/",),
    "spdlog/": ("sim/cli/", "sim/runtime/"),
    "tbb/": ("sim/cli/", "sim/runtime/"),
    "oneapi/": ("sim/cli/", "sim/runtime/"),
    "zlib": ("models/workload/traces/io/", "sim/record/"),
    "lzma": ("models/workload/traces/io/",),
    "pybind11/": ("policies/python/",),
    "coin/": ("models/scheduling/toolbox/",),
    "gtest/": (),
    "gmock/": (),
    "benchmark/": (),
}
ANY_THIRD_PARTY = ("tests/", "bench/")  # may include third-party headers in sources and headers
# Folders that adapt a library. No other folder includes the headers of these folders, so these headers may
# include the library.
ADAPTERS = ("policies/python/",)
SYSTEM = ("sys/", "netinet/", "arpa/", "dlfcn.h", "pthread.h", "fcntl.h", "unistd.h", "signal.h", "poll.h",
          "fnmatch.h", "errno.h", "cxxabi.h", "immintrin.h")


def room_of(path: str) -> str:
    """The longest listed folder that holds the file; else the folder of the file."""
    held = [room for room in MAY_INCLUDE if path.startswith(room + "/")]
    return max(held, key=len, default="/".join(path.split("/")[:-1]))
