# start --wait says what it waits for, and --timeout ends it with exit code 4.
$ cat > all.yaml <<'END'
> workflow: all
> version: 1
> steps:
>   - step: first
>     handler: all.first.v1
>   - wait: settled
>     event: payment.settled
>   - human: approval
>   - step: last
>     handler: all.last.v1
>     on_failure: pause_workflow
>     max_attempts: 1
> END
$ cairn deploy all.yaml; cairn start all --wait --timeout 1ms --key k
all version 1  deployed
<id1>
! cairn: the timeout of 1ms has passed: <id1> is running
!     first: No worker that serves all.first.v1 is there.
!     cairn work --handle 'all.first.v1=COMMAND'
[4]
$ again() { cairn start all --key k --wait --timeout 1ms 2>&1 | grep -v '^existing\|^<id'; }
$ mkfifo started go; cairn work -q --name w1 --handle 'all.first.v1=echo > started; read x < go' --until-idle & read < started; again; echo > go; wait
<id1>
cairn: the timeout of 1ms has passed: <id1> is running
    first: w1 works on first since <time>, call 1 of 3.
$ again
<id1>
cairn: the timeout of 1ms has passed: <id1> is waiting_signal
    settled: Waits for the event payment.settled, without limit.
    cairn signal <id1> payment.settled
$ cairn signal $(cairn list -o ids) payment.settled >/dev/null; again
<id1>
cairn: the timeout of 1ms has passed: <id1> is running
    approval: Waits for a person to decide.
    cairn approve <id1> approval --by WHO
$ cairn approve $(cairn list -o ids) approval --by me >/dev/null; cairn work -q --handle 'all.last.v1=exit 1' --until-idle; again
<id1>
cairn: the timeout of 1ms has passed: <id1> is paused
    Paused: last has failed for good after 1 call: exit status 1. Resume calls it again.
    cairn resume <id1>
# With -o json it prints the instance as it is then.
$ cairn start all --key k --wait --timeout 1ms -o json 2>/dev/null | grep -o '"status":"[a-z]*"'
"status":"paused"
$ cairn start all --in 1h30m --wait --timeout 1ms 2>&1 | sed 1d
cairn: the timeout of 1ms has passed: <id2> is pending
    Starts <time>.
# Without a timeout it waits to the end; after some seconds it says what for.
$ cairn resume $(cairn list --status paused -o ids); mkfifo said; cairn start all --key k --wait 2>said & starter=$!
<id1>  running
<id1>
$ exec 5<said; for n in 1 2 3; do read -r line <&5; echo "$line"; done; cairn work -q --handle 'all.last.v1=cat' --until-idle; wait $starter; echo $?; tail -1 <&5
existing: the key "k" is known, nothing was written
cairn: still waiting: <id1> is running
last: No worker that serves all.last.v1 is there.
0
completed
# job add --wait: the same for a job.
$ cairn job add mail.v1 --wait --timeout 1ms
<id3>
! cairn: the timeout of 1ms has passed: <id3> is pending
!     No worker that serves mail.v1 is there.
!     cairn work --handle 'mail.v1=COMMAND'
[4]
$ cairn job add mail.v1 --in 1h --wait --timeout 1ms 2>&1 | sed 1d
cairn: the timeout of 1ms has passed: <id4> is pending
    Runs <time>.
$ cairn work -q --handle 'mail.v1=cat' --until-idle; cairn job add mail.v1 --key m >/dev/null; cairn job add mail.v1 --key m --wait & cairn work -q --handle 'mail.v1=cat' --until-idle; wait $!
<id5>
! existing: the key "m" is known, nothing was written
! succeeded
$ cairn job add mail.v1 --key m --wait -o json 2>/dev/null | grep -o '"status":"[a-z]*"'
"status":"succeeded"
$ cairn job add bad.v1 --key b --max-attempts 1 >/dev/null; cairn work -q --handle 'bad.v1=echo no >&2; exit 1' --until-idle 2>/dev/null; cairn job add bad.v1 --key b --wait 2>&1 >/dev/null | tail -1; cairn job add bad.v1 --key b --wait >/dev/null 2>&1; echo $?
failed: no
1
$ cairn job add mail.v1 --wait --payloads-from -
! cairn: --wait and --payloads-from exclude each other
[2]
$ cairn job add mail.v1 --timeout 1s
! cairn: --timeout needs --wait
[2]
# wait: instances and jobs that exist; of several the highest exit code counts.
$ done=$(cairn list --status completed -o ids); good=$(cairn job list --status succeeded -o ids | tail -1); bad=$(cairn job list --status failed -o ids); late=$(cairn list --status pending -o ids)
$ cairn wait $done; cairn wait $good
<id1>  completed
<id3>  succeeded
$ cairn wait $done $bad $good
<id1>  completed
<id6>  failed: no
<id3>  succeeded
[1]
$ cairn wait $late $bad --timeout 1ms
<id2>  pending
<id6>  failed: no
! cairn: the timeout of 1ms has passed: <id2> is pending
!     Starts <time>.
[4]
$ printf '%s\n' $late $good | cairn wait - --timeout 0s -o ids 2>/dev/null
<id3>
[4]
$ cairn wait nobody $done
<id1>  completed
! cairn: there is no instance or job nobody
[1]
$ cairn wait $bad -o json | grep -o '"status":"[a-z]*"'
"status":"failed"
$ cairn wait nobody $done -o json 2>/dev/null | grep -o '"code":"[a-z_]*"\|"status":"completed"\|"next":null'
"code":"not_found"
"status":"completed"
"code":"completed"
"next":null
$ cairn wait
! cairn: wait needs ID...
!     Usage: cairn wait ID... [options]
[2]
# The same through a server.
$ cairn serve --listen 127.0.0.1:0 2>log & server=$!; until grep -q listening log 2>/dev/null; do sleep 0.05; done; url=$(grep -o 'http://[0-9.:]*' log)
$ cairn wait $bad $done --url $url
<id6>  failed: no
<id1>  completed
[1]
$ cairn wait $late --url $url --timeout 1ms 2>/dev/null
<id2>  pending
[4]
$ kill $server; wait $server
