$ id=$(cairn job add mail.send.v1 --payload '{"to":["ann","bob"]}' --key k1)
$ cairn job show $id
id  <id1>
type  mail.send.v1
status  pending
why  No worker that serves mail.send.v1 is there.
hint  cairn work --handle 'mail.send.v1=COMMAND'
key  k1
priority  100
attempts  0/3
run_at  <time> (<ago>)
created_at  <time> (<ago>)
updated_at  <time> (<ago>)
payload  {"to":["ann","bob"]}
$ cairn job show $id -o json
{"id":"<id1>","type":"mail.send.v1","payload":{"to":["ann","bob"]},"status":"pending","priority":100,"run_at":"<time>","idempotency_key":"k1","attempt":0,"max_attempts":3,"leased_by":null,"lease_until":null,"last_error":null,"result":null,"created_at":"<time>","updated_at":"<time>","deleted_at":null,"metadata":null,"tags":null,"timeout_ms":0,"retry":null,"schedule":null,"group":"","error_group":null,"why":{"code":"job_ready","urgency":"stuck","step":null,"seq":null,"template":"No worker that serves {type} is there.","values":{"type":"mail.send.v1"},"text":"No worker that serves mail.send.v1 is there.","since":"<time>","actions":[{"action":"work","values":{"type":"mail.send.v1"},"cli":"cairn work --handle 'mail.send.v1=COMMAND'"},{"action":"job-cancel","values":{},"cli":"cairn job cancel <id1>"}]}}
$ cairn job show $id -o ids
<id1>
# Several are a list in JSON; what is missing is told, the others are shown, and the exit code is 1.
$ cairn job show $id 00000000-0000-7000-8000-000000000000 $id -o json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)["items"]))'
2
! cairn: job "<id2>" does not exist
$ cairn job show 00000000-0000-7000-8000-000000000000 $id -o ids
<id1>
! cairn: job "<id2>" does not exist
[1]
$ cairn job show not-an-id
! cairn: job "not-an-id" does not exist
[1]
$ cairn job show ../../x?y
! cairn: job "../../x?y" does not exist
[1]
$ (echo; echo "  $id  "; echo none) | cairn job show - -o ids
<id1>
! cairn: job "none" does not exist
[1]
$ cairn job show - -o json
{"items":[],"next":null}
# Control characters of others cannot command a terminal.
$ cairn job show $(cairn job add "$(printf 'evil\033[31m.v1')") | grep type
type         evil?[31m.v1
# Events, oldest first.
$ cairn job events $id
<time>  created    {}
$ cairn job cancel $id
<id1>  cancelled
$ cairn job events $id
<time>  created    {}
<time>  cancelled  {}
$ cairn job events $id --order newest
<time>  cancelled  {}
<time>  created    {}
$ cairn job events $id -o json | python3 -m json.tool >/dev/null && echo valid
valid
$ cairn job events $id -o ids | wc -l
2
$ cairn job events $id --limit 1 2>&1 >/dev/null | sed 's/[0-9][0-9]*/N/'
There are more: add --cursor N or --all
$ cairn job events $id --limit 1 --all --order newest -o json | grep -o '"type":"[a-z]*"'
"type":"cancelled"
"type":"created"
$ cairn job events 00000000-0000-7000-8000-000000000000
! cairn: job "<id2>" does not exist
[1]
# Following ends with the job.
$ cairn job events $id --follow
<time>  created    {}
<time>  cancelled  {}
$ other=$(cairn job add mail.send.v1); cairn job events $other -f > followed & cairn work -q --handle 'mail.%=true' --until-idle; wait; cut -d' ' -f3 followed
created
leased
started
succeeded
