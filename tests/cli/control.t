# One, several, and from standard input; with -o json the job or a list.
$ a=$(cairn job add a.v1); b=$(cairn job add b.v1); c=$(cairn job add c.v1)
$ cairn job cancel $a
<id1>  cancelled
$ cairn job cancel $a
! cairn: cannot cancel job "<id1>": it is cancelled
[1]
$ cairn job cancel nothing
! cairn: job "nothing" does not exist
[1]
$ cairn job cancel $a $b nothing $c
<id2>  cancelled
<id3>  cancelled
! cairn: cannot cancel job "<id1>": it is cancelled
! cairn: job "nothing" does not exist
[1]
$ cairn job list --status cancelled -o ids | cairn job retry -
<id3>  pending
<id2>  pending
<id1>  pending
$ cairn job list -o json | grep -o '"status":"[a-z]*"'
"status":"pending"
"status":"pending"
"status":"pending"
$ cairn job retry $a
! cairn: cannot retry job "<id1>": it is pending
!     only failed and cancelled jobs can be retried
[1]
$ cairn job cancel $a $a -o json | sed 's/"created_at.*deleted_at":null//; s/"id":"[^"]*","type.*"run_at":"[^"]*"/.../'
{"items":[{...,"idempotency_key":null,"attempt":0,"max_attempts":3,"leased_by":null,"lease_until":null,"last_error":null,"result":null,,"metadata":null,"tags":null,"timeout_ms":0,"retry":null,"schedule":null,"group":"","error_group":null,"why":null},{"id":"<id1>","code":"wrong_state","message":"cannot cancel job \"<id1>\": it is cancelled"}],"next":null}
! cairn: cannot cancel job "<id1>": it is cancelled
$ cairn job cancel $b -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["status"])'
cancelled
$ cairn job cancel $b -o json
! cairn: cannot cancel job "<id2>": it is cancelled
[1]
$ cairn job cancel $c -o ids
<id3>
# Deleting twice is the same as once; the row can still be shown.
$ cairn job delete $a
<id1>  deleted
$ cairn job delete $a
<id1>  deleted
$ cairn job list -o ids | grep -c $a
0
[1]
$ cairn job show $a | grep -c deleted_at
1
$ cairn job delete ""
! cairn: the id is empty
[2]
$ echo | cairn job delete -
$ echo | cairn job delete - -o json
{"items":[],"next":null}
