# The bench prints its figures and leaves nothing half done behind.
$ cairn bench jobs --count 200 --batch 50 --raw --seed 1 --url "$CAIRN_URL" -o json 2>note | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> print(a["seed"], a["workers"], [(r["batch"], r["jobs"], r["engine"]["jobs_per_s"] > 0, r["raw"]["commits"], r["ratio"] > 0) for r in a["runs"]], a["latency"]["samples"], a["latency"]["p50_us"] > 0)'
1 1 [(1, 200, True, 405, True), (50, 200, True, 9, True)] 300 True
$ cat note
Using <url>: its own jobs stay as they are; those of type bench.1.noop stay behind, finished.
$ cairn job list --status pending -o ids; cairn job list --status leased -o ids
$ cairn bench jobs --count 100 --batch 10 --threads 3 --backlog 1500 --url "$CAIRN_URL" 2>/dev/null | tail -n +2 | sed 's/[0-9.]\+/N/g; s/  \+/  /g'

  ENQUEUE  CLAIM+COMPLETE  ALL  COMMITS  BYTES WRITTEN
engine, batch N  N/s  N/s  N/s  N  N (N a job)
engine, batch N  N/s  N/s  N/s  N  N (N a job)

enqueue to start:  pN N us, pN N us (from the answer: pN N us, pN N us), N samples
claim of one:  N us with N waiting, N us with N: N times
claim of a batch:  N us with N waiting, N us with N: N times
$ cairn job list --status pending -o ids; cairn job list --status leased -o ids
# Worker processes: what they did together is what was to be done.
$ cairn bench jobs --count 100 --batch 10 --workers 2 --threads 2 --seed 17 --url "$CAIRN_URL" -o json 2>/dev/null | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> print(a["workers"], a["threads"], [(r["batch"], r["jobs"], r["held_snapshot"], r["engine"]["work_per_s"] > 0, r["engine"]["commits"] > 10) for r in a["runs"]])'
2 2 [(1, 100, False, True, True), (10, 100, False, True, True)]
$ cairn job list --type bench.11.noop --status succeeded --all -o ids | wc -l
500
# A held snapshot: on PostgreSQL the batches are done once more; nothing else keeps dead rows.
$ cairn bench jobs --held-snapshot
! cairn: --held-snapshot needs --url postgres://...: only PostgreSQL keeps dead rows for an old snapshot
[2]
$ case "$CAIRN_URL" in postgres*) cairn bench jobs --count 50 --batch 10 --held-snapshot --url "$CAIRN_URL" -o json 2>/dev/null;; *) echo '{}';; esac | python3 -c '
> import json, sys
> a = json.load(sys.stdin)
> print(not a or ([r["held_snapshot"] for r in a["runs"]] == [False, False, True] and a["held_to_without"]["engine"]["ratio"] > 0))'
True
$ case "$CAIRN_URL" in postgres*) cairn bench jobs --count 50 --batch 10 --held-snapshot --url "$CAIRN_URL" 2>/dev/null | grep -c held;; *) echo 2;; esac
2
# The measuring is done by a program beside this one.
$ cp "$(command -v cairn)" here; ./here bench jobs
! cairn: could not find cairn-bench, the program that measures
!     It belongs beside this program in <folder>/work, or in ../libexec/cairn.
[1]
