# Decisions, and what has failed.
$ cat > flows.yaml <<'END'
> workflow: asking
> version: 1
> steps:
>   - human: approval
>   - step: ship
> END
$ cat > parking.yaml <<'END'
> workflow: parking
> version: 1
> dlq: true
> steps:
>   - step: charge
>     max_attempts: 1
> END
$ cairn deploy flows.yaml parking.yaml
asking version 1  deployed
parking version 1  deployed
$ id=$(cairn start asking); echo $id
<id1>
$ cairn approve $id approval
! cairn: approve needs --by WHO
[2]
$ cairn approve $id ship --by ann
! cairn: cannot decide about step "ship": it is pending, not waiting for a decision
[1]
$ cairn approve $id approval --by ann --comment fine
<id1>  running
$ cairn reject $id approval --by bob
! cairn: cannot decide about step "approval": it is confirmed, not waiting for a decision
[1]
$ id=$(cairn start asking); cairn reject $id approval --by bob
<id2>  aborted
$ id=$(cairn start parking --input '{"n":1}'); echo $id
<id3>
$ cairn work -q --handle 'charge=echo no funds >&2; exit 1' --until-idle
! no funds
$ cairn list --status dlq -o ids
<id3>
$ cairn dlq list
ID  INSTANCE  WORKFLOW  STEP  CREATED  REASON  ERROR
1  <id3>  parking/1  charge  <ago>  failed  no funds
$ cairn dlq show 1
id  1
instance_id  <id3>
workflow_id  parking/1
step_id  <id3>.0
step_name  charge
step_type  task
reason  dlq enabled: rollback/compensation skipped
error  no funds
is_open  yes
created_at  <time> (<ago>)
input  {"n":1}
$ cairn dlq requeue 1 --input '{broken'
! cairn: input is not JSON
!     line 1, column 7: string or '}' expected near 'broken'
[2]
$ cairn dlq requeue 1 --input '{"n":2}'
1  running
$ cairn dlq requeue 1
! cairn: cannot requeue DLQ record 1: it is closed
[1]
$ cairn dlq show 2
! cairn: DLQ record "2" does not exist
[1]
$ cairn work -q --handle 'charge=cat' --until-idle
$ cairn show $id -o json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["status"], d["output"])'
completed {'n': 2}
$ cairn dlq list -o json
{"items":[],"next":null}
