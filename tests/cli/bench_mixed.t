# Jobs, workflows and functions at the same time: all of them end.
$ cairn bench mixed --count 10 --batch 5 --steps 3 --seed 5 --url "$CAIRN_URL" -o json 2>note | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> r = a["runs"][0]
> print(a["seed"], a["workers"], a["steps"], r["batch"], [r[k]["steps_per_s"] > 0 and r[k]["started_per_s"] > 0 for k in ("jobs", "workflows", "functions")])
> print(a["together"]["steps_per_s"] > 0, a["together"]["commits"] > 0)'
5 1 3 5 [True, True, True]
True True
$ cat note
Using <url>: its own work stays as it is; instances of workflow bench.5 stay behind, ended.
$ cairn job list --type bench.5.job --status succeeded -o ids | wc -l
30
$ cairn list --status completed -o ids | wc -l
20
$ cairn list --status running -o ids; cairn job list --status pending -o ids
$ cairn bench mixed --count 10 --batch 5 --workers 2 --url "$CAIRN_URL" 2>/dev/null | tail -n +2 | sed 's/[0-9.]\+/N/g; s/  \+/  /g'

  INSTANCES STARTED  STEPS  INSTANCES  COMMITS  BYTES WRITTEN
jobs, batch N  N/s  N/s  N/s  N  -
workflows, batch N  N/s  N/s  N/s  N  -
functions, batch N  N/s  N/s  N/s  N  -

together: N jobs and steps/s, N commits, N bytes written for each
$ cairn list --status running -o ids; cairn job list --status pending -o ids
