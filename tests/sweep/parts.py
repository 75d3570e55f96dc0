"""Parts that several bases share, and files that they read."""

from __future__ import annotations

POOL = "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4, nodes_per_leaf: 2}]}\n"
RUN = "run: {until: 10min}\n"
GANG = "{name: gang, work: 5min, pods: 2, pod: {gpus: 8}}"
JOBS = f"workload: {{sources: [{{kind: jobs, jobs: [{GANG}]}}]}}\n"
QUEUED = """
workload:
  sources:
    - kind: jobs
      jobs:
        - {name: a, team: red, user: u, application: x, work: 3min, requested: 4min, count: 4, every: 10s, pods: 2, pod: {gpus: 8}}
        - {name: b, team: blue, user: w, application: y, work: 1min, submit: 1min, requested: 2min, count: 6, pods: 1, priority: 3, pod: {gpus: 4}}
"""

FILES: dict[str, str] = {
    "gavel.trace": "A3C\tcmd\t--steps\t1\t1000\t12.5\t2\nA3C\tcmd\t--steps\t1\t1000\t13.5\t1\n",
    "helios.csv": "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
                  "duration,queue\n" + "".join(
        f"{i},u{i % 2},vc{i % 3},{8 if i % 2 else 2},{16 if i % 2 else 4},1,"
        f"{('COMPLETED', 'FAILED', 'CANCELLED')[i % 3]},2020-09-01 00:0{i}:00,"
        f"2020-09-01 00:0{i}:30,2020-09-01 00:1{i}:30,600,0\n" for i in range(8)),
    "large.csv": "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
                 "duration,queue\n" + "".join(
        f"{i},u,vc,16,32,2,COMPLETED,2020-09-01 00:0{i}:00,2020-09-01 00:0{i}:10,2020-09-01 00:05:10,"
        "300,0\n" for i in range(3)),
    "own.csv": "Submit,Run,G,P,Job,U,T,App,Prio,S,Start,End,Limit,C,M,Model,N\n" + "".join(
        f"{60 * i},{100 + i},{i},1,job{i},u{i % 2},t,bert,high,failed,{60 * i + 5},{60 * i + 200},1h,4,16,A100,n1\n"
        for i in range(1, 8)),
    "jobs.sacct": "JobID|Submit|Start|End|State|Elapsed|ReqTRES|AllocTRES\n" + "".join(
        f"{i}|2024-03-01T00:0{i}:00|2024-03-01T00:0{i}:10|2024-03-01T00:0{i}:40|COMPLETED|00:30|cpu=4|"
        "cpu=4,mem=16G,node=1,gres/gpu:a100=2\n" for i in range(1, 8)),
    "log.swf": "".join(f"{i} {60 * i} 5 {300 + i} {4 * i} -1 -1 {4 * i} 200 -1 1 {i % 2} 1 1 1 1 -1 -1\n"
                       for i in range(1, 9)),
    "openb.csv": "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
                 "deletion_time,scheduled_time\n" + "".join(
        f"p{i},{4000 * i},8192,1,{500 if i % 2 else 1000},,{('LS', 'BE')[i % 2]},Succeeded,"
        f"{100 + i},{1000 + 10 * i},{101 + i}\n" for i in range(1, 9)),
    "nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\n" + "".join(
        f"n{i},64000,262144,2,{('P100', 'H800')[i % 2]}\n" for i in range(4)),
    "fta.tab": "# event_id component_id node_id platform_id node_name event_type start stop reason\n"
               + "".join(f"{i} 0 {i} 0 node{i} 0 {1136073600 + 100 * i} {1136073700 + 100 * i} 0\n"
                         for i in range(1, 4)),
    "gavel.json": """{"v100": {"('A3C', 1)": {"null": 8.5}, "('A3C', 2)": {"null": 12}}}""",
}
