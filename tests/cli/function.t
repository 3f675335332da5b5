# A function is drawn with what it remembers.  Its passages are made here by hand.
$ cairn serve --listen=127.0.0.1:0 --virtual-clock 2>log & server=$!; until grep -q listening log 2>/dev/null; do sleep 0.05; done
$ export CAIRN_URL=$(grep -o 'http://[0-9.:]*' log)
$ cat > passage.py <<'END'
> import json, os, sys, urllib.request
> def post(path, body):
>     request = urllib.request.Request(os.environ["CAIRN_URL"] + path, json.dumps(body).encode())
>     return json.load(urllib.request.urlopen(request))
> def step(seq, key, kind, status, **more):
>     return {"seq": seq, "key": key, "kind": kind, "status": status, **more}
> if sys.argv[1] == "advance":
>     post("/v1/clock/advance", {"ms": int(sys.argv[2])})
>     sys.exit()
> task = post("/v1/tasks/claim", {"worker": "w", "types": ["order"]})["tasks"][0]
> held = {"worker": "w", "token": task["token"], "revision": task["revision"]}
> if sys.argv[1] != "hold":
>     post(f"/v1/tasks/{task['id']}/commit", {**held, "outcome": sys.argv[1], **eval(sys.argv[2])})
> END
$ passage() { python3 passage.py "$@"; }
$ advance() { python3 passage.py advance "$@"; }
$ tree() { cairn show "$@" | sed '1,/^$/d'; }
$ echo '{"function": "order", "version": 1}' > order.json; cairn deploy order.json
order version 1  deployed
$ echo '{"workflow": "plain", "version": 1, "steps": [{"step": "a"}]}' > plain.json; cairn deploy plain.json
plain version 1  deployed
$ cairn workflows | sed 's/  *[0-9a-f]\{12\}$//'
NAME  VERSION  KIND  DEPLOYED  HASH
order  1  function  <ago>
plain  1  workflow  <ago>
$ cairn graph order
order, version 1
└─ function order · its steps are code
$ id=$(cairn start order --input '{"n": 1}'); tree $id
○ order (function)  ready
$ passage suspend '{"steps": [step(1, "reserve", "task", "completed", compensation={"handler": "put_back"}), step(2, "now", "value", "completed", output="2027-01-01T00:00:00Z"), step(3, "random", "value", "completed", output=0.25), step(4, "mail", "start", "completed", input={"type": "mail"}, output={"id": "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f"}), step(5, "order", "start", "completed", input={"workflow": "order"}, output={"id": "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e60"}), step(6, "other", "start", "completed", output={"id": "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e61"}), step(7, "charge", "task", "ready", error="no answer", attempts=1, max_attempts=3, delay_ms=60000), step(8, "nap", "sleep", "waiting", delay_ms=3600000), step(9, "paid", "wait", "waiting", event="it is paid", timeout_ms=7200000)], "logs": [{"level": "info", "message": "reserved", "data": {"shelf": 4}, "step": "reserve", "attempt": 1}, {"level": "warn", "message": "two\nlines", "step": "charge", "attempt": 2}, {"level": "error", "message": "on its own"}]}'
$ tree $id
○ order (function)   ready           in 1m
├─ ✓ reserve         completed
├─ ✓ now (value)     completed       "2027-01-01T00:00:00Z"
├─ ✓ random (value)  completed       0.25
├─ ✓ mail (start)    completed       started job <id1>
├─ ✓ order (start)   completed       started instance <id2>
├─ ✓ other (start)   completed       started <id3>
├─ ○ charge          ready           retry 1 of 2 at <time> (in 1m)  no answer
├─ … nap (sleep)     waiting    0ms  until <time> (in 1h)
└─ … paid (wait)     waiting    0ms  for it is paid, until <time> (in 2h)
     cairn signal <id4> 'it is paid'
$ cairn list --workflow order
ID  WORKFLOW  VERSION  STATUS  STEPS  CREATED  KEY
<id4>  order  1  running  order,charge,nap,paid  <ago>
# What it has logged.
$ cairn logs $id
<time>  info   reserve           reserved  {"shelf":4}
<time>  warn   charge, call 2    two lines
<time>  error                    on its own
$ cairn logs $id --limit 1 -o json | python3 -c 'import json,sys; d=json.load(sys.stdin); print(sorted(d["items"][0]), d["items"][0]["data"], d["next"] is not None)'
['at', 'attempt', 'data', 'id', 'level', 'message', 'step'] {'shelf': 4} True
$ cairn logs $id --limit 2 -o ids
1
2
! There are more: add --cursor 2 or --all
$ cairn logs $id --cursor $(cairn logs $id --limit 2 -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["next"])') -o ids
3
$ cairn logs $id --level warn,error -o ids; cairn logs $id --step charge --attempt 2 -o ids; cairn logs $id --text RESERVED -o ids
2
3
2
1
$ cairn logs $id --level loud
! cairn: level does not exist
!     debug, info, warn or error
[2]
$ cairn logs nobody
! cairn: instance "nobody" does not exist
[1]
$ cairn logs
! cairn: logs needs ID
!     Usage: cairn logs ID [options]
[2]
$ cairn logs $id --follow -o json
! cairn: --follow cannot print one JSON document: leave one of them out
[2]
# A passage under way; a worker of plain commands cannot execute it.
$ advance 60000
$ passage hold; tree $id | head -1
● order (function)   running           by w
$ advance 31000
$ tree $id | head -1
○ order (function)   ready              1/3 leases lost  LEASE_EXPIRED
$ cairn work -q --handle '%=echo executed >&2' --until-idle; cairn events $id | grep -c missing_handler
1
# Code that no longer matches.
$ advance 10000
$ passage mismatch '{"error": "version_mismatch: step 2 is \"now\" (value), but the code asks for \"pick\" (task)", "failed_step": "pick"}'
$ cairn show $id | sed -n '/^status/p; /^last_error/p'
status       paused
last_error   pick: version_mismatch: step 2 is "now" (value), but the code asks for "pick" (task) (call 1)
$ tree $id | head -3
○ order (function)   ready              version_mismatch: step 2 is "now" (value), but the code asks for "pick" (task)
│ cairn resume <id4> --force
├─ ✓ reserve         completed
$ cairn resume $id --force
<id4>  running
$ tree $id | head -1
○ order (function)   ready
# To its end.
$ cairn signal $id 'it is paid' --payload '{"amount": 12}'
<id4>  taken
$ passage fail '{"error": "gone", "failed_step": "charge", "steps": [step(7, "charge", "task", "failed", error="gone", attempts=3, max_attempts=3)]}'
$ tree $id
↩ order (function)   rolled_back           gone
├─ ↩ reserve         compensation          being undone
├─ ↩ now (value)     rolled_back
├─ ↩ random (value)  rolled_back
├─ ↩ mail (start)    rolled_back
├─ ↩ order (start)   rolled_back
├─ ↩ other (start)   rolled_back
├─ ↩ charge          rolled_back           gone
├─ – nap (sleep)     skipped       1m 41s  Stopped due to workflow failure
└─ ↩ paid (wait)     rolled_back   1m 41s
$ cairn work -q --handle 'put_back=cat' --until-idle; tree $id | head -2
↩ order (function)   rolled_back          gone
├─ ↩ reserve         rolled_back
$ cairn logs $id --follow | wc -l
3
# Followed line by line: what has not changed is not told again, though a step was forgotten.
$ id=$(cairn start order); passage suspend '{"steps": [step(1, "a", "task", "completed"), step(2, "b", "value", "completed")]}'
$ passage suspend '{"steps": [step(2, "b", "value", "forgotten"), step(3, "c", "task", "failed", error="no", attempts=1), step(4, "d", "wait", "waiting", event="e")]}'
$ cairn show $id --follow > followed & until grep -q waiting_signal followed 2>/dev/null; do sleep 0.05; done
$ cairn signal $id e; passage complete '{"output": 7}'; wait %%
<id5>  taken
$ cut -c 27- followed | grep '^a  completed\|^c  failed'; tail -1 followed | cut -c 27-
a  completed
c  failed  1/1 call  no
<id5>  completed
# What a function calls is drawn below the step that started it; what it only started is not.
$ printf 'workflow: billing\nversion: 1\nsteps:\n  - wait: paid\n    event: paid\n' > billing.yaml
$ printf 'workflow: trip\nversion: 1\nsteps:\n  - start: bill\n    workflow: billing\n' > trip.yaml
$ cairn deploy billing.yaml trip.yaml > /dev/null; id=$(cairn start order)
$ passage suspend '{"steps": [step(1, "trip", "start", "completed", input={"workflow": "trip"}, output={"id": "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e70"}), step(2, "trip#wait", "wait", "waiting", event="call:0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e70"), step(3, "alone", "start", "completed", input={"workflow": "billing"}, output={"id": "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e71"})], "instances": [{"id": "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e70", "seq": 1, "workflow": "trip", "tell_instance": "'$id'", "tell_event": "call:0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e70"}, {"id": "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e71", "seq": 3, "workflow": "billing"}]}'
$ advance 1000; advance 1000; tree $id
… order (function)       waiting
├─ ✓ trip (start)        completed             started instance <id6>
│  └─ ● trip             running               <id6>
│     └─ … bill (start)  waiting
│        └─ … billing    waiting_signal        <id7>, paid: Waits for the event paid, without limit.
├─ … trip#wait (wait)    waiting         2.0s  for call:<id6>
│    cairn signal <id8> call:<id6>
└─ ✓ alone (start)       completed             started instance <id9>
$ cairn signal $(cairn list --parent $(cairn list --parent $id -o ids) -o ids) paid > /dev/null; advance 1000; advance 1000; tree $id
○ order (function)       ready
├─ ✓ trip (start)        completed        started instance <id6>
│  └─ ✓ trip             completed        <id6>
│     └─ ✓ bill (start)  completed        started
│        └─ ✓ billing    completed        <id7>
├─ ✓ trip#wait (wait)    completed  2.0s
└─ ✓ alone (start)       completed        started instance <id9>
$ kill $server; wait $server
