"""Small scenarios whose jobs wait for reasons worth explaining."""

# Two of five nodes are tainted for another team, and stay idle. Jobs `wide` and `small` use the other three
# nodes. Job `late` needs two whole nodes, so it waits until `wide` ends.
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

# Eight GPUs and a queue with EASY and Quota. Job `first` runs. Job `head` lacks free GPUs, `long` would
# delay `head`, `over` exceeds the quota of its team, and `huge` is too large for the cluster.
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

# Two jobs of two gangs each. Pods of the two jobs are created in turns. The first gangs of both jobs start.
# Three nodes are left for the second gangs, which need four each. The second gangs take turns: one holds the
# three nodes in Permit until it times out after a minute, then the other holds them.
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

# A gang of four pods, one a node, arrives while two of the four nodes are down. Two pods suffice to start the
# gang. One node is up again at 12 min and the other at 32 min, both after the gang stopped waiting for late pods.
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
