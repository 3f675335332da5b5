# The bench prints its figures and leaves nothing half done behind.
$ cairn bench jobs --count 200 --batch 50 --raw --seed 1 --url "$CAIRN_URL" -o json 2>note | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> print(a["seed"], a["workers"], [(r["batch"], r["jobs"], r["engine"]["jobs_per_s"] > 0, r["raw"]["commits"], r["ratio"] > 0) for r in a["runs"]], a["latency"]["samples"], a["latency"]["p50_us"] > 0)'
1 1 [(1, 200, True, 405, True), (50, 200, True, 9, True)] 300 True
$ cat note
Using <url>: its own jobs stay as they are; those of type bench.1.noop stay behind, finished.
$ cairn job list --status pending -o ids; cairn job list --status leased -o ids
$ cairn bench jobs --count 100 --batch 10 --workers 3 --backlog 1500 --url "$CAIRN_URL" 2>/dev/null | tail -n +2 | sed 's/[0-9.]\+/N/g; s/  \+/  /g'

  ENQUEUE  CLAIM+COMPLETE  ALL  COMMITS  BYTES WRITTEN
engine, batch N  N/s  N/s  N/s  N  N (N a job)
engine, batch N  N/s  N/s  N/s  N  N (N a job)

enqueue to start:  pN N us, pN N us (from the answer: pN N us, pN N us), N samples
claim of one:  N us with N waiting, N us with N: N times
claim of a batch:  N us with N waiting, N us with N: N times
$ cairn job list --status pending -o ids; cairn job list --status leased -o ids
# The same for workflows: what is measured adds up, and all instances end.
$ cairn bench workflows --count 20 --batch 5 --steps 3 --raw --seed 2 --sleeping 4 --url "$CAIRN_URL" -o json 2>note | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> print(a["seed"], a["steps"], [(r["batch"], r["instances"], r["steps"], r["engine"]["steps_per_s"] > 0, r["raw"]["commits"], r["ratio"] > 0) for r in a["runs"]], a["sleeping"]["instances"], a["sleeping"]["idle_cpu_us"] >= 0)'
2 3 [(1, 20, 60, True, 85, True), (5, 20, 60, True, 17, True)] 4 True
$ cat note
Using <url>: its own work stays as it is; instances of workflow bench.2 stay behind, ended.
$ cairn list --workflow bench.2 --status completed -o ids | wc -l
<*>
$ cairn list --status running -o ids
$ cairn bench workflows --count 10 --batch 5 --workers 2 --url "$CAIRN_URL" 2>/dev/null | tail -n +2 | sed 's/[0-9.]\+/N/g; s/  \+/  /g'

  INSTANCES STARTED  STEPS  INSTANCES  COMMITS  BYTES WRITTEN
engine, batch N  N/s  N/s  N/s  N  N (N a step)
engine, batch N  N/s  N/s  N/s  N  N (N a step)
$ cairn bench workflows --count 1 --steps 2000 2>/dev/null | tail -n 3 | sed 's/[0-9.]\+/N/g; s/  \+/  /g'
cost of a step:  N us in the first thousand, N us in the last: N times (medians)
CPU of a step:  N us in the first thousand, N us in the last: N times
peak memory:  N MB
$ cairn bench workflows --raw --url http://127.0.0.1:1
! cairn: --raw cannot be used with "http://127.0.0.1:1": it speaks to sqlite: and postgres: only
[2]
# The same for functions, in both modes: in passage mode a passage is one commit.
$ cairn bench functions --count 20 --batch 5 --steps 3 --raw --seed 3 --url "$CAIRN_URL" -o json 2>note | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> print(a["seed"], a["steps"], [(r["batch"], r["instances"], r["steps"], r["step"]["steps_per_s"] > 0, r["passage"]["steps_per_s"] > 0, r["raw_step"]["commits"], r["raw_passage"]["commits"], r["passage_to_step"]["work_ratio"] > 0) for r in a["runs"]])
> print([(t["batch"], t["step"]["commits"], t["step"]["heartbeats"], t["passage"]["commits"], t["passage"]["heartbeats"], t["passage"]["claims"]) for t in a["round_trips"]])'
3 3 [(1, 20, 60, True, True, 85, 45, True), (5, 20, 60, True, True, 17, 9, True)]
[(1, 3.0, 0.0, 1.0, 2.0, 0.25), (5, 3.0, 0.0, 1.0, 2.0, 0.25)]
$ cat note
Using <url>: its own work stays as it is; instances of workflow bench.3 stay behind, ended.
$ cairn list --status running -o ids
$ cairn bench functions --count 10 --batch 5 --url "$CAIRN_URL" 2>/dev/null | tail -n +2 | sed 's/[0-9.]\+/N/g; s/  \+/  /g'

  INSTANCES STARTED  STEPS  INSTANCES  COMMITS  BYTES WRITTEN
step mode, batch N  N/s  N/s  N/s  N  N (N a step)
passage mode, batch N  N/s  N/s  N/s  N  N (N a step)
passage / step, batch N  N  N  N
step mode, batch N  N/s  N/s  N/s  N  N (N a step)
passage mode, batch N  N/s  N/s  N/s  N  N (N a step)
passage / step, batch N  N  N  N

round trips to the store for a passage of N steps:
  step mode  batch N  N: claims N, commits N, heartbeats N
  passage mode batch N  N: claims N, commits N, heartbeats N
  step mode  batch N  N: claims N, commits N, heartbeats N
  passage mode batch N  N: claims N, commits N, heartbeats N
# The measuring is done by a program beside this one.
$ cp "$(command -v cairn)" here; ./here bench jobs
! cairn: could not find cairn-bench, the program that measures
!     It belongs beside this program in <folder>/work, or in ../libexec/cairn.
[1]
