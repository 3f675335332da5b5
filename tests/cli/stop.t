# The first signal lets handlers finish and claims nothing more.
$ mkfifo started go; a=$(cairn job add slow.v1); b=$(cairn job add slow.v1)
$ cairn work --concurrency 1 --handle 'slow.v1=echo > started; cat go; echo 1' 2>said & worker=$!; read < started; kill -TERM $worker; until grep -q stopping said; do sleep 0.05; done; echo > go; wait $worker; cat said
cairn: working on <url>: slow.v1; up to 1 at the same time
cairn: stopping: handlers may finish; a second signal kills them
$ cairn job list -o json | grep -o '"status":"[a-z]*"'
"status":"pending"
"status":"succeeded"
# The second kills them; the job is given back at no cost.
$ cairn work --concurrency 1 --handle 'slow.v1=trap "" TERM; echo > started; sleep 1000' 2>said & worker=$!; read < started; kill -TERM $worker; until grep -q stopping said 2>/dev/null; do sleep 0.05; done; kill -TERM $worker; wait $worker
$ cat said; cairn job show $b -o json | grep -o '"status":"[a-z]*"\|"attempt":[0-9]'
cairn: working on <url>: slow.v1; up to 1 at the same time
cairn: stopping: handlers may finish; a second signal kills them
cairn: killing the handlers
"status":"pending"
"attempt":0
# A cancelled job has its command ended.
$ cairn work --lease 6s --concurrency 1 --handle 'slow.v1=trap "echo told > told; exit 1" TERM; echo > started; sleep 1000 & wait' & worker=$!; read < started; cairn job cancel $b >/dev/null; while ! grep -q told told 2>/dev/null; do sleep 0.1; done; kill -INT $worker; wait $worker
! cairn: working on <url>: slow.v1; up to 1 at the same time
! cairn: stopping: handlers may finish; a second signal kills them
$ cairn job show $b -o json | grep -o '"status":"[a-z]*"'
"status":"cancelled"
# What the shell has started may still put things in order when the shell itself has gone.
$ cairn job retry $b >/dev/null
$ cairn work --lease 6s --concurrency 1 --handle 'slow.v1=exec 2>/dev/null; (trap "sleep 0.5; echo tidy > tidy; exit" TERM; echo > started; while :; do sleep 0.1; done) & wait' & worker=$!; read < started; cairn job cancel $b >/dev/null; kill -INT $worker; wait $worker
! cairn: working on <url>: slow.v1; up to 1 at the same time
! cairn: stopping: handlers may finish; a second signal kills them
$ cat tidy
tidy
