# What a person decides, and what waits in the dead letter queue.
$ cat > leave.yaml <<'END'
> workflow: leave
> version: 1
> steps: [{step: file}, {human: approval}, {step: book}]
> END
$ cairn deploy leave.yaml
leave version 1  deployed
$ a=$(cairn start leave); b=$(cairn start leave); cairn work -q --handle 'file=true' --until-idle
$ cairn approve $a approval
! cairn: approve needs --by WHO
[2]
$ cairn approve $a approval --by ann --comment 'well done'
<id1>  running
$ cairn approve $a approval --by ann 2>&1 | cut -d: -f1-2
cairn: cannot decide about step "approval"
$ cairn reject $b approval --by ann -o json | grep -o '"status":"[a-z]*"'
"status":"aborted"
$ cairn events $b | grep 'human_decision' | grep -oE '"(decided_by|decision)": ?"[a-z]*"' | tr -d ' ' | sort
"decided_by":"ann"
"decision":"rejected"
$ cairn show $a | tail -1
approval: confirmed by ann, <time>: well done
$ cairn show $b -o json | grep -o '"decisions":.*'
"decisions":[{"id":"2","step":"approval","decision":"rejected","by":"ann","comment":null,"at":"<time>"}]}
$ cairn approve $a none --by ann
! cairn: instance "<id1>" has no step "none"
[1]
$ cairn dlq list
ID  INSTANCE  WORKFLOW  STEP  CREATED  REASON  ERROR
$ cat > load.yaml <<'END'
> workflow: load
> version: 1
> dlq: true
> steps: [{step: read, max_attempts: 1}, {step: write}]
> END
$ cairn deploy load.yaml; id=$(cairn start load --input '{"file":1}'); cairn work -q --handle 'read=echo no such file >&2; exit 1' --until-idle
load version 1  deployed
! no such file
$ cairn dlq list | sed 's/  */ /g; s/[0-9]s ago/now/'
ID INSTANCE WORKFLOW STEP CREATED REASON ERROR
1 <id2> load/1 read now failed no such file
$ cairn dlq list -o ids
1
$ cairn dlq show 1 | sed 's/  */ /g'
id 1
instance_id <id2>
workflow_id load/1
step_id <id2>.0
step_name read
step_type task
reason dlq enabled: rollback/compensation skipped
error no such file
is_open yes
created_at <time> (<ago>)
input {"file":1}
$ cairn dlq show 2
! cairn: DLQ record "2" does not exist
[1]
$ cairn dlq requeue 1 --input '{"file": '
! cairn: input is not JSON
!     line 1, column 9: unexpected token near end of file
[2]
$ cairn dlq requeue 1 --input '{"file":2}'
1  running
$ cairn dlq requeue 1 2>/dev/null
[1]
$ cairn work -q --handle 'read=cat >&2' --handle 'write=true' --until-idle; cairn list --workflow load --status completed -o ids | wc -l
1
! {"file":2}
