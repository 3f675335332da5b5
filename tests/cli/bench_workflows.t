# What is measured adds up, and all instances end.
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
$ cairn bench workflows --count 10 --batch 5 --threads 2 --workers 2 --url "$CAIRN_URL" 2>/dev/null | tail -n +2 | sed 's/[0-9.]\+/N/g; s/  \+/  /g'

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
