# Why instances and jobs have not ended, and the command that helps.
$ printf 'workflow: order\nversion: 1\nsteps:\n  - wait: settled\n    event: payment.settled\n  - human: approval\n' > order.yaml; cairn deploy order.yaml >/dev/null
$ id=$(cairn start order); cairn why $id
settled: Waits for the event payment.settled, without limit.
    cairn signal <id1> payment.settled
$ cairn show $id | grep -A2 ^status
status       waiting_signal
why          Waits for the event payment.settled, without limit.
hint         cairn signal <id1> payment.settled
$ cairn signal $id payment.settled >/dev/null; cairn why $id
approval: Waits for a person to decide.
    cairn approve <id1> approval --by WHO
$ cairn pause $id --by ann --reason 'stocktaking'
<id1>  paused
$ cairn why $id
Paused by ann <time>: stocktaking. 1 step is held.
    cairn resume <id1>
approval: Held while the instance is paused; it was waiting_decision.
$ cairn resume $id --by bob >/dev/null; cairn events $id | grep -o '"requested_by":"[a-z]*"'
"requested_by":"ann"
"requested_by":"bob"
$ cairn why $id -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["items"][0]["code"])'
decision
$ cairn approve $id approval --by ann >/dev/null; cairn why $id
Completed in <*>.
# A job, and several.
$ job=$(cairn job add mail.v1 --in 1h); cairn why $job
Runs <time>.
$ cairn why $job $id
<id2>
Runs <time>.

<id1>
Completed in <*>.
$ cairn why $job -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["items"][0]["code"])'
job_later
$ cairn why 00000000-0000-7000-8000-000000000000
! cairn: there is no instance or job <id3>
[1]
