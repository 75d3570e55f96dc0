"""Small scenarios with something to explain."""

# Two of five nodes are for another team; a job of two whole nodes waits for one that the other team has.
TAINTS = """
cluster:
  machines:
  - {name: box, base: hgx-h100, gpus: 4}
  pools:
  - {name: ours, machine: box, count: 3}
  - {name: theirs, machine: box, count: 2, taints: [{key: team, value: red, effect: NoSchedule}]}
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: wide, work: 30min, pods: 2, pod: {gpus: 4}}
    - {name: small, submit: 1min, work: 2h, pods: 1, pod: {gpus: 1}}
    - {name: late, submit: 5min, work: 10min, pods: 2, pod: {gpus: 4}}
record: {attempts: true}
run: {until: 3h}
"""

# Eight counted GPUs: the first job lacks room, one would delay it, one exceeds its quota, one is too large.
QUEUE = """
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 2}]
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, team: a, pods: 2, pod: {gpus: 3}, work: 10min, requested: 10min}
    - {name: head, team: b, submit: 1s, pods: 2, pod: {gpus: 4}, work: 10min, requested: 10min}
    - {name: long, team: b, submit: 3s, pods: 1, pod: {gpus: 1}, work: 20min, requested: 20min}
    - {name: over, team: a, submit: 4s, pods: 1, pod: {gpus: 2}, work: 1min, requested: 1min}
    - {name: huge, team: b, submit: 5s, pods: 3, pod: {gpus: 4}, work: 1min, requested: 1min}
record: {attempts: true}
policy:
  base: strict_gang
  job_queue: {policies: [{name: EASY}, {name: Quota, args: {limits: {a: 7}}}]}
"""

# Two jobs of two gangs each, whose pods arrive in turns. The first gangs of both start. The second ones wait in
# Permit in turns, because there is room for three of four pods.
PERMIT = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 7}]}
workload:
  controller: {pod_creation_interval: 100ms, pods_per_sync_max: 2}
  sources:
  - kind: jobs
    jobs:
    - name: pair
      count: 2
      work: 10min
      gangs:
      - roles: [{pods: 2, pod: {gpus: 8}}]
      - roles: [{pods: 4, pod: {gpus: 8}}]
policy:
  base: coscheduling
  plugins: [{name: Coscheduling, args: {podGroupRejectPercentage: 100}}]
record: {attempts: true}
run: {until: 30min}
"""

# Two of four nodes are away when a gang arrives that needs two. One is back after 12 minutes, one after 32,
# each time later than the last call.
LATE = """
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}
workload:
  training: {checkpoint_interval: 5min, restore: 10s, init: 5s}
  sources:
  - kind: jobs
    jobs:
    - {name: late, submit: 3min, work: 30min, pods: 4, min_available: 2, pod: {gpus: 8}}
    - {name: whole, submit: 2h, work: 10min, pods: 2, pod: {gpus: 8}}
faults: {list: [{node: gpu-0, at: 2min, repair: 10min}, {node: gpu-1, at: 2min, repair: 30min}]}
run: {until: 3h}
"""
