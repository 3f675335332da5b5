# Functions in both modes: in passage mode a passage is one commit.
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

requests to the engine for a passage of N steps:
  step mode  batch N  N: claims N, commits N, heartbeats N
  passage mode batch N  N: claims N, commits N, heartbeats N
  step mode  batch N  N: claims N, commits N, heartbeats N
  passage mode batch N  N: claims N, commits N, heartbeats N
$ cairn bench functions --count 12 --batch 4 --steps 2 --workers 2 --seed 31 --url "$CAIRN_URL" -o json 2>/dev/null | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> print(a["workers"], [(t["batch"], t["step"]["commits"], t["passage"]["commits"]) for t in a["round_trips"]])'
2 [(1, 2.0, 1.0), (4, 2.0, 1.0)]
$ cairn list --workflow bench.1f --status completed -o ids | wc -l
48
