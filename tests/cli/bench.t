# The bench prints its figures and leaves nothing half done behind.
$ cairn bench jobs --count 200 --batch 50 --raw --seed 1 --url "$CAIRN_URL" -o json 2>note | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> print(a["seed"], a["workers"], [(r["batch"], r["jobs"], r["engine"]["jobs_per_s"] > 0, r["raw"]["commits"], r["ratio"] > 0) for r in a["runs"]], a["latency"]["samples"], a["latency"]["p50_us"] > 0)'
$ cat note
$ cairn job list --status pending -o ids; cairn job list --status leased -o ids
$ cairn bench jobs --count 100 --batch 10 --workers 3 --backlog 1500 --url "$CAIRN_URL" 2>/dev/null | sed 's/[0-9.]\+/N/g; s/  \+/  /g'
$ cairn job list --status pending -o ids; cairn job list --status leased -o ids
