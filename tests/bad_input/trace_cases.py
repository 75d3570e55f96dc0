"""One malformed row in each format of traces, and in tables beside a trace. It is rejected with its position,
or skipped and counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

CORPUS = Path(__file__).resolve().parents[1] / "fuzz" / "corpus" / "traces"


@dataclass(frozen=True)
class Format:
    """Two good rows with a bad row between them, in a file of this format."""
    name: str
    good: tuple[str, str]
    bad: str
    place: str  # position of the mistake, such as "row:column (name)"
    found: str
    expected: str
    head: str = ""
    between: str = "\n"
    tail: str = "\n"
    unit: str = "jobs"
    delivered: int = 2
    arguments: tuple[str, ...] = ()
    beside: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        return self.head + self.between.join((self.good[0], self.bad, self.good[1])) + self.tail


OPENB = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
         "deletion_time,scheduled_time\n")
HELIOS = ("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
          "queue\n")
CANONICAL = ("# made by hand\njob_id,user,tenant,class,submit_time,num_chips,chip_type,num_nodes,"
             "duration_s,walltime_limit_s,final_status\n")
CHRONUS = ("job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,"
           "expect_time_list,expect_value_list,best_effort,job_type\n")
ELASTIC = ("job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,"
           "duration,iteration\n")
SEREN = ("job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,"
         "duration,queue,gpu_time\n")
KALOS = ("job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,"
         "submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time\n")
CONVERTED = ("job_id,arrival_time,num_iteration,iteration_computing_time,gpu_workers,"
             "gpu_per_worker,cpu_per_gpu_worker,tensorsizes,profiled_network\n")
DLRM = ("instance_sn,role,app_name,cpu_request,gpu_request,rdma_request,memory_request,"
        "disk_request,max_instance_per_node,creation_time,scheduled_time,deletion_time\n")
SPOT = ("job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,"
        "job_type\n")
OWN = "submit,duration,gpus,user\n"
SACCT = "JobID|Submit|Start|End|State|Elapsed|ReqTRES|AllocTRES\n"
GENAI = ("gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,"
         "negative_prompt_length,num_images_per_prompt,num_inference_steps,"
         "checkpoint_model_version_id,num_lora\n")


def sacct(job: str, elapsed: str) -> str:
    times = "2024-03-01T10:00:00|2024-03-01T10:05:00|2024-03-01T11:05:00"
    return f"{job}|{times}|COMPLETED|{elapsed}|cpu=8|cpu=8,mem=64G,node=1,gres/gpu=8"


def swf(number: int, submit: int, run: str) -> str:
    return f"{number} {submit} 0 {run} 4 -1 -1 4 20 -1 1 1 1 1 1 -1 -1 -1"


def philly(name: str, status: str) -> str:
    return (f'{{"status": "{status}", "vc": "v", "jobid": "{name}", "attempts": [{{"start_time": '
            '"2017-10-09 07:02:29", "end_time": "2017-10-09 08:02:29", "detail": [{"ip": "m", '
            '"gpus": ["gpu0"]}]}], "submitted_time": "2017-10-09 07:00:29", "user": "u"}')


def kalos(name: str, gpus: str) -> str:
    return (f"{name},u,1,{gpus},120,960.0,100.0,SFT,FAILED,2023-05-17T11:00:58+00:00,"
            "2023-05-17T11:01:08+00:00,2023-05-17T11:01:18+00:00,,,20,10,160")


def google(us: str, job: int, event: int) -> str:
    return f"{us},,{job},{event},u,0,n,l"


def google_task(us: int, event: int, priority: str) -> str:
    return f"{us},,5,2,33,{event},u,1,{priority},0.25,0.125,0.001,0"


SHORT = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
GAVEL = "A3C\tcmd\t--steps\t1\t1000\t{}\t2"
SHOCKWAVE = "LM\tcmd\tdir\t--steps\t1\t134583\t{}\tgns\t1\t-1.0\t1418\t55"

FORMATS = [
    Format("openb", ("p0,1000,1024,1,1000,,LS,Running,0,10,0", "p2,1000,1024,1,1000,,LS,Running,2,12,2"),
           "p1,1000,1024,1,-5,,LS,Running,1,11,1", "3:5 (gpu_milli)", "'-5'", "integer from", OPENB),
    Format("openb_untimed", ("p0,1000,1024,1,1000", "p2,1000,1024,1,1000"), "p1,-1,1024,1,1000",
           "3:2 (cpu_milli)", "'-1'", "integer from", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n",
           arguments=("--set", "default_duration=1h")),
    Format("helios", tuple(f"{i},u,vc,8,8,1,COMPLETED,2020-03-0{i} 00:00:00,2020-03-0{i} 00:00:01,"
                           f"2020-03-0{i} 01:00:01,3600,1" for i in (1, 3)),
           "2,u,vc,8,8,1,COMPLETED,2020-03-02 00:00:00,2020-03-02 25:00:00,2020-03-02 01:00:00,3600,0",
           "3:9 (start_time)", "'2020-03-02 25:00:00'", "a date and time", HELIOS),
    Format("helios_derived", ("1#0,0.0,5,8", "3#2,2.0,5,8"), "2#1,1.0,x,8", "3:3 (service_sec)", "'x'",
           "seconds", "job_id,arrival_s,service_sec,gpu_count\n"),
    Format("helios_canonical", tuple(f"j{i},u,t,c,{i}000000,8,v100,1,60,60,COMPLETED" for i in (1, 3)),
           "j2,u,t,c,2000000,8,v100,1,60,60,DONE", "4:11 (final_status)", "'DONE'", "one of", CANONICAL),
    Format("swf", (swf(1, 0, "10"), swf(3, 2, "10")), swf(2, 1, "1x"), "2:4 (run time)", "'1x'", "seconds",
           head=""),
    Format("philly", (philly("a", "Pass"), philly("c", "Failed")), philly("b", "Lost"), "2:12 (status)",
           "'Lost'", "one of Pass", head="[", between=",\n", tail="]"),
    Format("philly_pollux", ("2017-10-09 06:13:03,2951.0,1,2951.0,6214e9", "2017-10-09 06:15:03,20.0,1,20.0,6214e9"),
           "2017-10-09 06:14:03,2951.0,-1,2951.0,6214e9", "3:3 (num_gpus)", "'-1'", "from",
           "timestamp,duration,num_gpus,gpu_time,cluster\n"),
    Format("chronus", tuple(f"{i},vc_1,4,{i},6910,r,211,8,282-300,10-5,0,soft" for i in (0, 2)),
           "1,vc_1,4,one,6910,r,211,8,282-300,10-5,0,soft", "3:4 (submit_time)", "'one'", "", CHRONUS),
    Format("elasticflow", tuple(f"{i},{i}00,7,vgg16,950,64,4,90,95,7" for i in (1, 3)),
           "2,200,7,vgg16,950,64,four,90,95,7", "3:7 (num_gpu)", "'four'", "whole number", ELASTIC),
    Format("tiresias", tuple(f"{i},8,{i}0,133,vgg11,147,23" for i in (1, 3)), "2,8,20,133,vgg11,,23",
           "3:6 (duration)", "''", "seconds", SHORT),
    Format("acme_seren", tuple(f"{i},u,2,16.0,240,SFT,COMPLETED,2023-03-01 00:1{i}:00+08:00,2023-03-01 "
                               f"00:1{i}:01+08:00,2023-03-01 01:11:00+08:00,1,1,1" for i in (1, 3)),
           "2,u,2,16.5,240,SFT,COMPLETED,2023-03-01 00:12:00+08:00,2023-03-01 00:12:01+08:00,2023-03-01 "
           "01:11:00+08:00,1,1,1", "3:4 (gpu_num)", "'16.5'", "whole number", SEREN),
    Format("acme_kalos", (kalos("a", "8"), kalos("c", "8")), kalos("b", "eight"), "3:4 (gpu_num)", "'eight'",
           "whole number", KALOS),
    Format("acme_converted", tuple(f"{i},31{i}.0,156,0.5,8,8.0,15.0,10.0,1000" for i in (1, 3)),
           "2,312.0,156,0.5,0,8.0,15.0,10.0,1000", "3:5 (gpu_workers)", "'0'", "whole number from 1", CONVERTED),
    Format("dlrm", tuple(f"i{i},CN,a,48,0,25,240.0,680.0,-1,47{i}.5,480.5,1000.5" for i in (1, 3)),
           "i2,XN,a,48,0,25,240.0,680.0,-1,472.5,480.5,1000.5", "3:2 (role)", "'XN'", "one of CN HN", DLRM),
    Format("spot", tuple(f"j{i},o,A10,7.5,0.5,1,{i}0,20,Spot" for i in (1, 3)), "j2,o,A10,7.5,1.5,1,20,20,Spot",
           "3:5 (gpu_request)", "'1.5'", "whole GPUs", SPOT),
    Format("sia", tuple(f"bert-{i},{i}.5,bert,8,384" for i in (1, 3)), "bert-2,-2.5,bert,8,384",
           "3:2 (time)", "'-2.5'", "seconds >= 0", "name,time,application,num_replicas,batch_size\n",
           arguments=("--set", "default_duration=1h")),
    Format("gavel", (GAVEL.format("1.5"), GAVEL.format("3.5")), GAVEL.format("soon"), "2:6 (arrival_time)",
           "'soon'", "seconds", arguments=("--set", "default_duration=1h")),
    Format("shockwave", (SHOCKWAVE.format(4), SHOCKWAVE.format(2)), SHOCKWAVE.format(0), "2:7 (scale_factor)",
           "'0'", "whole number from 1"),
    Format("google_jobs", ("\n".join((google("10", 1, 0), google("20", 1, 1), google("30", 1, 4))),
                           "\n".join((google("40", 2, 0), google("50", 2, 1), google("60", 2, 4)))),
           google("x", 3, 0), "4:1 (time)", "'x'", "an integer from 0"),
    Format("google_tasks", (google_task(10, 0, "9"), "\n".join((google_task(30, 1, "9"), google_task(40, 4, "9")))),
           google_task(20, 1, "9").replace(",33,1,", ",33,9,"), "2:6 (event type)", "'9'", "an integer from 0 to 8",
           delivered=1),
    Format("google_condensed", ("10,,5,0,3,2,9", "20,,5,1,3,2,9\n50,,5,5,3,2,9"), "15,,6,0,3,7,9",
           "3:6 (scheduling_class)", "'7'", "whole number from 0 to 3",
           "time_us,missing_info,job_id,event_type,user_idx,scheduling_class,logical_name_idx\n", delivered=1),
    Format("pai", ("j1,worker,3,Terminated,1010.5,2010.5,600.0,29.3,50.0,MISC", "j3,w,1,Failed,1030,1040,600,1,,"),
           "j2,t,1,Terminated,1020,1010,600.0,29.3,50.0,T4", "2:6 (end_time)", "'1010'", "not before start_time"),
    Format("pai_instances", tuple(f"j1,worker,i{i},w{i},x,Terminated,10{i}0,2000,m1" for i in (1, 3)),
           "j1,worker,i2,w2,x,Done,1020,2000,m1", "2:6 (status)", "'Done'", "one of Terminated",
           beside={"pai_task_table.csv": "j1,worker,3,Terminated,1010.5,2010.5,600.0,29.3,50.0,MISC\n"}),
    Format("csv", ("0,3600,8,ann", "60,1h,1,ann"), "30,1 hour,8,ann", "3:2 (duration)", "'1 hour'",
           "seconds, or a duration such as 90min", OWN),
    Format("csv", ("0,3600,8,ann", "60,1h,1,ann"), "30,60,1.5,ann", "3:3 (gpus)", "'1.5'",
           "a whole number of GPUs, or a share of one", OWN.replace("user", "owner"),
           arguments=("--from", "csv", "--set", "columns={user: owner}")),
    Format("json_lines", tuple(f'{{"submit": {i}, "duration": 60, "gpus": 8}}' for i in (1, 3)),
           '{"submit": 2, "duration": 60, "gpus": "all"}', "2:39 (gpus)", "'all'", "a whole number of GPUs"),
    Format("json_lines", tuple(f'{{"submit": {i}, "duration": 60, "gpus": 8}}' for i in (1, 3)),
           '{"submit": 2, "duration": ', "2:", "", "the line ends within a value"),
    Format("sacct", (sacct("1", "01:00:00"), sacct("3", "1-01:00:00")), sacct("2", "1h"), "3:6 (Elapsed)", "'1h'",
           "a time such as 1-02:03:04", SACCT),
    # requests
    Format("azure_llm", ("2023-11-16 18:17:03.9799600,4808,10", "2023-11-16 18:17:05.0,3180,8"),
           "2023-11-16 18:17:04.0,many,8", "3:2 (ContextTokens)", "'many'", "whole number",
           "TIMESTAMP,ContextTokens,GeneratedTokens\n", unit="requests"),
    Format("mooncake", ('{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}',
                        '{"timestamp": 3000, "input_length": 10, "output_length": 5, "hash_ids": []}'),
           '{"timestamp": 1000, "input_length": 10, "output_length": ', "2:58", "", "the line ends within a value",
           unit="requests"),
    Format("mooncake", ('{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}',
                        '{"timestamp": 3000, "input_length": 10, "output_length": 5, "hash_ids": []}'),
           '{"timestamp": 1000, "input_length": -10, "output_length": 5}', "2:37 (input_length)", "'-10'",
           "whole number from 0", unit="requests"),
    Format("genai", tuple(f"2024-11-15 16:57:5{i},TXT_2_IMG,SUCCEED,32.0,G0,63.0,26.0,1.0,30.0,M0,2" for i in (0, 2)),
           "2024-11-15 16:57:51,TXT_2_IMG,LOST,32.0,G0,63.0,26.0,1.0,30.0,M0,2", "3:3 (predict_status)", "'LOST'",
           "one of SUCCEED", GENAI, unit="requests"),
    Format("genai_rates", tuple(f"16628591{i}.0,0.25,c1,Generative Requests" for i in (19, 76)),
           "1662859119.0,-0.09,c2,Generative Requests", "3:2 (value)", "'-0.09'", "a number from 0",
           "timestamp_anon,value,container_ip,request_type\n", unit="requests", delivered=28),
]

# Tables beside a trace: name, rows, three parts of the message (position, what was found, what was expected),
# further arguments.
PAI_TASK = "j1,worker,3,Terminated,1010.5,2010.5,600.0,29.3,50.0,MISC\n"
SENSOR = "j1,worker,w1,i1,m1,T4,{},20,1.5,2.5,0.5,0.75,1,1,1,1\n"
BESIDE = [
    ("pai_job_table.csv", "j1,i1,alice,Terminated,1000,2010\nj2,i2,bob,Failed,soon,2010\n",
     "pai_job_table.csv:2:5 (start_time)", "'soon'", "seconds", ()),
    ("pai_group_tag_table.csv", "i1,alice,V100,g1,bert\ni2,bob\n", "pai_group_tag_table.csv:2", "2 fields",
     "5 fields", ()),
    ("pai_sensor_table.csv", SENSOR.format("100") + SENSOR.format("all"), "pai_sensor_table.csv:2:7 (cpu_usage)",
     "'all'", "a number from", ("--set", "pai.measured=true")),
]

NATIVE = (CORPUS / "native").read_bytes()[4:]  # the first bytes are options of the fuzzer
# The last byte of the only block is changed, so the block's checksum does not match.
NATIVE_DAMAGED = NATIVE[:-17] + bytes([NATIVE[-17] ^ 1]) + NATIVE[-16:]


def trace_cases(case) -> list:
    """Cases of malformed rows. `case` is the class Case."""
    made = []
    for number, form in enumerate(FORMATS):
        files = {"t.txt": form.text(), **form.beside}
        name = f"{form.name} #{number}"
        reported = tuple(text for text in (f"t.txt:{form.place}", form.found, form.expected) if text)
        for action, status in ((("convert", "t.txt", "new.ort"), 2), (("info", "t.txt"), 2)):
            made.append(case(f"{name}: a malformed row ends {action[0]}", files,
                             ("trace", *action, *form.arguments), status, reported))
        made.append(case(f"{name}: a malformed row is skipped and reported", files,
                         ("trace", "info", "t.txt", "--lenient", *form.arguments), 0,
                         prints=(f"  {form.unit:22}{form.delivered}\n", *reported, "1 rows                malformed")))
    for table, text, place, found, expected, arguments in BESIDE:
        files = {"t.txt": PAI_TASK, table: text}
        made.append(case(f"{table}: a malformed row ends convert", files,
                         ("trace", "convert", "t.txt", "new.ort", *arguments), 2, (place, found, expected)))
        made.append(case(f"{table}: a malformed row is skipped and reported", files,
                         ("trace", "info", "t.txt", "--lenient", *arguments), 0,
                         prints=("  jobs                  1\n", place, found, expected, "malformed, skipped")))
    for extra in ((), ("--lenient",)):  # --lenient does not help: a reader cannot find the next good row
        made.append(case(f"native: damage ends it {extra}", {"t.ort": NATIVE_DAMAGED},
                         ("trace", "convert", "t.ort", "new.ort", *extra), 2, ("t.ort", "checksum")))
    made.append(case("series: a malformed row is reported", {"t.csv": "timestamp_anon,value,container_ip\n1,2,c\n2,x,c\n"},
                     ("trace", "info", "t.csv"), 2, ("t.csv:3:2 (value)", "'x'", "a number")))
    made.append(case("series: is no trace of jobs", {"t.csv": "timestamp_anon,value,container_ip\n1,2,c\n"},
                     ("trace", "convert", "t.csv", "new.ort"), 2, ("measurements",)))
    return made
