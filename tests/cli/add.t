# A job is recorded and its id printed.
$ cairn job add mail.send.v1
<id1>
$ cairn job add mail.send.v1 --payload '{"to": "ann"}' -o json
{"id":"<id2>","existing":false}
$ cairn job add mail.send.v1 -o ids
<id3>
# A known key finds the first job.
$ k1=$(cairn job add mail.send.v1 --key k1); echo $k1
<id4>
$ cairn job add mail.send.v1 --key k1
<id4>
! existing: the key "k1" is known, nothing was written
$ cairn job add mail.send.v1 --key k1 -o json
{"id":"<id4>","existing":true}
# What to do about a known key can be said.
$ cairn job add mail.send.v1 --key k1 --on-existing fail
! cairn: cannot add a job with the key "k1": job "<id4>" has it
!     with on_existing return, which is the default, its id is the answer
[1]
$ cairn job add mail.send.v1 --key k1 --on-existing new_if_ended
<id4>
! existing: the key "k1" is known
$ cairn job cancel $k1 > /dev/null
$ cairn job add mail.send.v1 --key k1 --on-existing restart_failed
<id4>
! existing: the key "k1" is known
$ new=$(cairn job add mail.send.v1 --key k1 --on-existing new_if_ended); test $new != $k1 && echo another
another
$ cairn job add mail.send.v1 --on-existing fail
! cairn: --on-existing needs --key
[2]
# Only the last of several in a short time is executed.
$ id=$(cairn job add index.v1 --key doc-7 --debounce 1h --payload '{"rev": 1}')
$ test $(cairn job add index.v1 --key doc-7 --debounce 1h --payload '{"rev": 2}' 2> /dev/null) = $id && echo the same
the same
$ cairn job events $id -o json | grep -o '"type":"[a-z]*"'
"type":"created"
"type":"debounced"
$ cairn job show -o json $id | grep -o '"payload":{"rev": *2}' | tr -d ' '
"payload":{"rev":2}
# The payload from a file and from standard input.
$ echo '{"n":1}' > payload.json
$ cairn job show -o json $(cairn job add p.v1 --payload @payload.json) | grep -o '"payload":{"n": *1}' | tr -d ' '
"payload":{"n":1}
$ cairn job show -o json $(echo '[2]' | cairn job add p.v1 --payload=-) | grep -o '"payload":\[2\]'
"payload":[2]
# Later, with a priority.
$ cairn job add late.v1 --in 30d --priority 5 --max-attempts 7
<id5>
$ cairn job add late.v1 --at 2100-01-31T06:30:00+01:00
<id6>
$ cairn job list --type 'late.%' -o json | grep -o '"priority":[^,]*\|"max_attempts":[^,]*\|"run_at":"2100[^,]*'
"priority":100
"run_at":"<time>"
"max_attempts":3
"priority":5
"max_attempts":7
# A priority may be below 0.
$ cairn job show -o json $(cairn job add early.v1 --priority -7) | grep -o '"priority":[^,]*'
"priority":-7
# What is not JSON is refused, and nothing is written.
$ cairn job add bad.v1 --payload '{"a":'
! cairn: payload is not JSON
!     line 1, column 5: unexpected token near end of file
[2]
$ cairn job add bad.v1 --payload '1, "key": "injected"'
! cairn: payload is not JSON
!     line 1, column 2: end of file expected near ','
[2]
$ cairn job add bad.v1 --payload @missing.json
! cairn: could not read "missing.json": No such file or directory
[2]
$ cairn job add ''
! cairn: type is empty
[2]
$ cairn job add "$(head -c 300 /dev/zero | tr '\0' x)"
! cairn: type is too long
!     300 bytes, 256 are allowed
[2]
$ cairn job list --type 'bad.%' -o ids
# Metadata goes to the handler beside the payload.
$ id=$(cairn job add meta.v1 --metadata '{"tenant":7}'); cairn job show $id | grep -o '{"tenant".*'
{"tenant":7}
$ cairn job add bad.v1 --metadata '[7]'
! cairn: metadata is not a JSON object
[2]
# A call may have a limit, and failed ones their own delays.
$ id=$(cairn job add slow.v1 --call-timeout 90s --retry '{"backoff":"fixed","base_ms":500}')
$ cairn job show $id | grep 'call_timeout\|retry ' | tr -s ' ' | sort
call_timeout 1m 30s
retry {"backoff":"fixed","base_ms":500}
$ cairn job add bad.v1 --retry '{"backoff":"random"}'
! cairn: backoff of retry must be fixed, linear, exponential or quadratic
[2]
$ cairn job add bad.v1 --retry '[]'
! cairn: retry is not a JSON object
[2]
# Tags are names and values that jobs are found by.
$ both=$(cairn job add tag.v1 --tag customer=4711 --tag env=a=b:c)
$ one=$(cairn job add tag.v1 --tag customer=4711)
$ test "$(cairn job list --tag customer=4711 -o ids)" = "$(printf '%s\n%s' $one $both)"
$ test "$(cairn job list --tag customer=4711 --tag env=a=b:c -o ids)" = "$both"
$ cairn job show $both | grep tags
tags         customer=4711, env=a=b:c
$ cairn job add tag.v1 --tag customer
! cairn: --tag cannot be "customer": it takes NAME=VALUE
[2]
$ cairn job add tag.v1 --tag a=1 --tag ab=1 --tag a=2
! cairn: --tag cannot be "a=2": the tag has a value already
[2]
$ cairn job add tag.v1 --tag a:b=c
! cairn: the name "a:b" of a tag must have 1 to 64 bytes, without : and =
[2]
$ cairn bulk cancel --on jobs --tag env=a=b:c --by ann --reason gone
done: 1 done, 0 skipped
$ test "$(cairn job list --tag customer=4711 --status pending -o ids)" = "$one"
