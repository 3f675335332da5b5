# From start to end with plain commands as handlers.
$ look() { python3 -c "import json,sys; d=json.load(sys.stdin); print(json.dumps($1))"; }
$ when_running() { until cairn list --workflow $1 --status running -o ids | grep -q .; do sleep 0.05; done; }
$ cat > order.yaml <<'END'
> workflow: order
> version: 1
> steps:
>   - step: reserve
>     handler: billing.reserve.v1
>   - wait: settled
>     event: payment.settled
>   - step: ship
>     max_attempts: 1
> END
$ cairn deploy order.yaml
order version 1  deployed
$ id=$(cairn start order --input '{"n":3}' --key k1); echo $id
<id1>
$ cairn start order --key k1
<id1>
! existing: the key "k1" is known, nothing was written
$ cairn list
ID  WORKFLOW  VERSION  STATUS  STEPS  CREATED  KEY
<id1>  order  1  running  reserve  <ago>  k1
$ cairn show $id
id  <id1>
workflow  order, version 1
status  running
why  No worker that serves billing.reserve.v1 is there.
hint  cairn work --handle 'billing.reserve.v1=COMMAND'
key  k1
created_at  <time> (<ago>)
started_at  <time> (<ago>)
input  {"n":3}

○ reserve  ready
○ settled (wait)  pending
○ ship  pending
$ cairn rerun $id --from ship
! cairn: cannot run instance "<id1>" again from step "ship": the step has no input
!     it was not reached: give its input
[2]
$ again=$(cairn rerun $id --from ship --input '{"n":5}'); cairn show $again | grep 'source\|skipped\|ship  ' | tr -s ' '
source <id1>
– reserve skipped
– settled (wait) skipped
○ ship ready
$ cairn cancel $again --by ann --reason test > /dev/null
$ cairn work --handle 'billing.%=sed s/3/4/' --until-idle -v
! cairn: working on <url>: billing.%; up to 4 at the same time
! cairn: billing.reserve.v1 <id1>.0, call 1 of 3: completed
$ cairn list --status waiting_signal -o ids
<id1>
$ cairn show $id | tail -4 | sed -E 's/  +[0-9.]+m?s( +|$)/  TOOK  /'
✓ reserve         completed  TOOK
… settled (wait)  waiting  TOOK  for payment.settled
  cairn signal <id1> payment.settled
○ ship            pending
$ cairn signal $id other --no-latch
<id1>  dropped
$ cairn signal $id payment.settled --payload '{"amount": 12}' --id s1
<id1>  taken
$ cairn signal $id payment.settled --id s1 -o json
{"id":"s1","existing":true,"taken":true,"kept":true}
$ cairn work -q --handle 'ship=echo $CAIRN_STEP $CAIRN_KIND $CAIRN_SIGNAL | tr -d " " >&2; [ $CAIRN_INSTANCE ] && cat' --until-idle
! shipstep{"id":"s1","event":"payment.settled","payload":{"amount":12}}
$ cairn show $id -o json | look '[d["status"], d["output"], d["current_steps"], [[s["name"], s["status"]] for s in d["steps"]]]'
["completed", {"n": 4}, [], [["reserve", "completed"], ["settled", "completed"], ["ship", "completed"]]]
$ cairn events $id | cut -c 27-65
workflow_started
step_ready            reserve
step_started          reserve
step_completed        reserve
step_waiting          settled
workflow_waiting
signal_received
signal_taken          settled
step_completed        settled
step_ready            ship
workflow_running
step_started          ship
step_completed        ship
workflow_completed
$ cairn events $id --step settled --type step_% | cut -c 27-65
step_waiting          settled
step_completed        settled
$ cairn events $id --step settled --type signal_taken,step_waiting --order newest | cut -c 27-65
signal_taken          settled
step_waiting          settled
$ cairn events $id --follow | tail -1
<time>  workflow_completed                      {"status":"completed"}
$ cairn show $id --follow -o json | look 'd["status"]'
"completed"
# Waiting for the end: 0 if it completed, else 1.
$ printf 'workflow: one\nversion: 1\nsteps: [{step: only, max_attempts: 1}]\n' | cairn deploy -
one version 1  deployed
$ (when_running one; cairn work -q --handle 'only=cat' --until-idle) & cairn start one --input '[1]' --wait 2>said; echo $?; tail -1 said; wait
<id2>
0
completed
$ (when_running one; cairn work -q --handle 'only=echo "no van" >&2; exit 1' --until-idle) 2>/dev/null & cairn start one --wait 2>said; echo $?; tail -1 said; wait
<id3>
1
failed: step "only": no van
# What failed can be retried; ids come from standard input.
$ cairn list --status failed -o ids | cairn retry -
<id3>  running
$ cairn work -q --handle 'only=cat' --until-idle
$ cairn list --workflow one -o json | look '[[i["status"], i["generation"]] for i in d["items"]]'
[["completed", 2], ["completed", 1]]
# Control, and what it needs.
$ id=$(cairn start one)
$ cairn pause $id
<id4>  paused
$ cairn pause $id none
! cairn: cannot pause instance "<id4>": it is paused
! cairn: instance "none" does not exist
[1]
$ cairn resume $id -o json | look 'd["status"]'
"running"
$ cairn cancel $id
! cairn: cancel needs --by WHO and --reason TEXT
[2]
$ cairn cancel $id --by ann --reason 'ordered twice'
<id4>  cancelled
$ cairn abort $id --by ann --reason again
! cairn: cannot abort instance "<id4>": it is cancelled
[1]
$ cairn restart $id
<id4>  running
$ cairn abort $id --by ann --reason enough
<id4>  aborted
$ cairn show none
! cairn: instance "none" does not exist
[1]
$ cairn start none
! cairn: workflow "none" does not exist
!     deploy it with: cairn deploy FILE
[1]
$ cairn start one --input '{'
! cairn: input is not JSON
!     line 1, column 1: string or '}' expected near end of file
[2]
$ cairn start one --at 2030-01-01T00:00:00Z -o json | look 'd["existing"]'
false
$ cairn list --status pending | wc -l
2
$ cairn list --limit 1 -o ids
<id5>
! There are more: add --cursor <*> or --all
$ cairn list --all -o json | look '[d["next"], len(d["items"])]'
[null, 6]
# Metadata goes to the handlers of its steps.
$ cairn show $(cairn start order --metadata '{"tenant":7}' --in 1h) | grep -o '{"tenant".*'
{"tenant":7}
