# What waits for a decision, and what was decided.
$ cat > leave.yaml <<'END'
> workflow: leave
> version: 1
> steps: [{human: approval, timeout: 210m}]
> END
$ cat > trip.yaml <<'END'
> workflow: trip
> version: 2
> steps: [{human: boss}]
> END
$ cairn deploy leave.yaml trip.yaml >/dev/null
$ cairn approvals
INSTANCE  STEP  WORKFLOW  VERSION  SINCE  DEADLINE  THEN  KEY
$ t=$(cairn start trip); a=$(cairn start leave --key ann); b=$(cairn start leave --key bob); echo "$t $a $b"
<id1> <id2> <id3>
$ cairn approvals
INSTANCE  STEP  WORKFLOW  VERSION  SINCE  DEADLINE  THEN  KEY
<id2>  approval  leave  1  <ago>  in 3h  fail  ann
<id3>  approval  leave  1  <ago>  in 3h  fail  bob
<id1>  boss  trip  2  <ago>
$ cairn approvals --workflow trip -o json
{"items":[{"instance_id":"<id1>","workflow":"trip","version":2,"key":null,"step":"boss","seq":0,"since":"<time>","deadline_at":null,"on_timeout":"fail","input":{},"metadata":null}],"next":null}
$ cairn approvals --limit 2 -o ids 2>&1 | sed 's/cursor [^ ]*/cursor C/'
<id2>
<id3>
There are more: add --cursor C or --all
$ cairn approve $b approval --by carla --comment 'have fun' >/dev/null; cairn approvals --decided
INSTANCE  STEP  WORKFLOW  VERSION  DECISION  BY  AT  KEY  COMMENT
<id3>  approval  leave  1  confirmed  carla  <ago>  bob  have fun
$ cairn approvals --workflow leave -o ids
<id2>
