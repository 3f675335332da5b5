# An instance is drawn as its workflow nests it.
$ words='completed|paused|skipped|waiting|compensation|rolled_back|failed|ready|running'
$ tree() { cairn show "$@" | sed -E "1,/^$/d; s/  +[0-9.]+m?s( +|$)/  TOOK  /; s/ ($words)  +/ \\1  /"; }
$ work() { cairn work -q "$@" --until-idle 2>/dev/null; }
$ cat > order.yaml <<'END'
> workflow: order
> version: 1
> steps:
>   - {step: reserve, compensation: {handler: refund}}
>   - save_point: reserved
>   - condition: in_stock
>     when: "{{ gt .count 0 }}"
>     then: [{step: pick, compensation: {handler: put_back, max_attempts: 1}}]
>     else: [{step: restock}]
>   - fork: fulfilment
>     join: any
>     branches:
>       - [{step: pack}, {step: ship}]
>       - [{step: fetch}]
>   - parallel: tell
>     steps: [{step: mail}, {step: "text it"}]
>   - {wait: settled, event: "it's paid", timeout: 1h}
>   - {sleep: cool_off, for: 10m}
>   - {step: close, max_attempts: 1}
> END
$ cairn deploy order.yaml
order version 1  deployed
$ id=$(cairn start order --input '{"count":0}' --key k1); cairn show $id
id  <id1>
workflow  order, version 1
status  running
why  No worker that serves reserve is there.
hint  cairn work --handle 'reserve=COMMAND'
key  k1
created_at  <time> (<ago>)
started_at  <time> (<ago>)
input  {"count":0}

○ reserve  ready
○ reserved (save point)  pending
○ in_stock (condition)  pending  {{ gt .count 0 }}
├─ then
│  └─ ○ pick  pending
└─ else
  └─ ○ restock  pending
○ fulfilment (fork)  pending
├─ branch 1
│  ├─ ○ pack  pending
│  └─ ○ ship  pending
├─ ○ fetch  pending
└─ ○ fulfilment_join (join any)  pending
○ tell (parallel)  pending
├─ ○ mail  pending
├─ ○ text it  pending
└─ ○ tell_join (join all)  pending
○ settled (wait)  pending
○ cool_off (sleep)  pending
○ close  pending
$ work --handle reserve=cat --handle restock=cat; tree $id
✓ reserve                        completed  TOOK
✓ reserved (save point)          completed
✓ in_stock (condition)           completed  {{ gt .count 0 }}
├─ then, not taken
│  └─ – pick                     skipped
└─ else
   └─ ✓ restock                  completed  TOOK
● fulfilment (fork)              running
├─ branch 1
│  ├─ ○ pack                     ready
│  └─ ○ ship                     pending
├─ ○ fetch                       ready
└─ ○ fulfilment_join (join any)  pending
○ tell (parallel)                pending
├─ ○ mail                        pending
├─ ○ text it                     pending
└─ ○ tell_join (join all)        pending
○ settled (wait)                 pending
○ cool_off (sleep)               pending
○ close                          pending
# Waiting: for what, until when, and how to go on.
$ work --handle pack=cat; work --handle ship=cat; work --handle mail=cat; work --handle 'text it=cat'; tree $id
✓ reserve                        completed  TOOK
✓ reserved (save point)          completed
✓ in_stock (condition)           completed  {{ gt .count 0 }}
├─ then, not taken
│  └─ – pick                     skipped
└─ else
   └─ ✓ restock                  completed  TOOK
✓ fulfilment (fork)              completed
├─ branch 1
│  ├─ ✓ pack                     completed  TOOK
│  └─ ✓ ship                     completed  TOOK
├─ – fetch                       skipped
└─ ✓ fulfilment_join (join any)  completed
✓ tell (parallel)                completed
├─ ✓ mail                        completed  TOOK
├─ ✓ text it                     completed  TOOK
└─ ✓ tell_join (join all)        completed
… settled (wait)                 waiting  TOOK  for it's paid, until <time> (in 59m)
  cairn signal <id1> 'it'\''s paid'
○ cool_off (sleep)               pending
○ close                          pending
$ LC_ALL=C tree $id
reserve                        completed  TOOK
reserved (save point)          completed
in_stock (condition)           completed  {{ gt .count 0 }}
|- then, not taken
|  `- pick                     skipped
`- else
   `- restock                  completed  TOOK
fulfilment (fork)              completed
|- branch 1
|  |- pack                     completed  TOOK
|  `- ship                     completed  TOOK
|- fetch                       skipped
`- fulfilment_join (join any)  completed
tell (parallel)                completed
|- mail                        completed  TOOK
|- text it                     completed  TOOK
`- tell_join (join all)        completed
settled (wait)                 waiting  TOOK  for it's paid, until <time> (in 59m)
  cairn signal <id1> 'it'\''s paid'
cool_off (sleep)               pending
close                          pending
# Completed.
$ printf 'workflow: two\nversion: 1\nsteps: [{step: a, max_attempts: 2, retry: {base: 1ms}}, {step: b}]\n' | cairn deploy -
two version 1  deployed
$ id=$(cairn start two --input '{"n":1}')
$ work --handle 'a=[ $CAIRN_ATTEMPT -gt 1 ] && cat || { echo "try  again" >&2; exit 1; }' --handle b=cat; until cairn show $id | grep -q '^output'; do work --handle '%=cat'; done
$ cairn show $id | sed -E 's/^took .*/took TOOK/; s/  +[0-9.]+m?s( +|$)/  TOOK  /'
id  <id2>
workflow  two, version 1
status  completed
why  Completed in <*>.
created_at  <time> (<ago>)
started_at  <time> (<ago>)
finished_at  <time> (<ago>)
took TOOK
input  {"n":1}
output  {"n":1}

✓ a  completed  TOOK  2/2 calls
✓ b  completed  TOOK
# Failed, and undone back to the save point.
$ id=$(cairn start order --input '{"count":1}')
$ work --handle reserve=cat --handle pick=cat; work --handle pack=cat; work --handle 'ship=exit 65'; work --handle 'fetch=echo "no wheels" >&2; exit 65'; tree $id
✓ reserve                        completed  TOOK
✓ reserved (save point)          completed
✓ in_stock (condition)           completed  {{ gt .count 0 }}
├─ then
│  └─ ↩ pick                     compensation  TOOK  being undone
└─ else, not taken
   └─ – restock                  skipped
↩ fulfilment (fork)              rolled_back
├─ branch 1
│  ├─ ↩ pack                     rolled_back  TOOK  nothing to undo
│  └─ ↩ ship                     rolled_back  TOOK  1/3 calls, nothing to undo  exit status 65
├─ ↩ fetch                       rolled_back  TOOK  1/3 calls, nothing to undo  no wheels
└─ – fulfilment_join (join any)  skipped  Stopped due to workflow failure
– tell (parallel)                skipped  Stopped due to workflow failure
├─ – mail                        skipped  Stopped due to workflow failure
├─ – text it                     skipped  Stopped due to workflow failure
└─ – tell_join (join all)        skipped  Stopped due to workflow failure
– settled (wait)                 skipped  Stopped due to workflow failure
– cool_off (sleep)               skipped  Stopped due to workflow failure
– close                          skipped  Stopped due to workflow failure
$ work --handle 'put_back=echo "shelf is full" >&2; exit 1'; tree $id
✓ reserve                        completed  TOOK
✓ reserved (save point)          completed
↩ in_stock (condition)           rolled_back  {{ gt .count 0 }}
├─ then
│  └─ ✗ pick                     failed  TOOK  undo 1/1 calls, cannot be undone, DLQ record 1
│       undo: shelf is full
│       cairn dlq requeue 1
└─ else, not taken
   └─ – restock                  skipped
↩ fulfilment (fork)              rolled_back
├─ branch 1
│  ├─ ↩ pack                     rolled_back  TOOK  nothing to undo
│  └─ ↩ ship                     rolled_back  TOOK  1/3 calls, nothing to undo  exit status 65
├─ ↩ fetch                       rolled_back  TOOK  1/3 calls, nothing to undo  no wheels
└─ – fulfilment_join (join any)  skipped  Stopped due to workflow failure
– tell (parallel)                skipped  Stopped due to workflow failure
├─ – mail                        skipped  Stopped due to workflow failure
├─ – text it                     skipped  Stopped due to workflow failure
└─ – tell_join (join all)        skipped  Stopped due to workflow failure
– settled (wait)                 skipped  Stopped due to workflow failure
– cool_off (sleep)               skipped  Stopped due to workflow failure
– close                          skipped  Stopped due to workflow failure
# Failed, with nothing to undo.
$ printf 'workflow: one\nversion: 1\nsteps: [{step: only, max_attempts: 1}, {step: then}]\n' | cairn deploy -
one version 1  deployed
$ id=$(cairn start one); work --handle 'only=printf "a\033[31mb\n" >&2; exit 1'; tree $id
✗ only  failed  TOOK  1/1 call  a?[31mb
– then  skipped  Stopped due to workflow failure
# A decision, and who is asked for it; a step parked in the DLQ.
$ printf 'workflow: ask\nversion: 1\ndlq: true\nsteps: [{human: "may I", timeout: 3d}, {step: go, max_attempts: 1}]\n' | cairn deploy -
ask version 1  deployed
$ ask=$(cairn start ask); tree $ask
… may I (human)  waiting_decision  TOOK  until <time> (in 2d)
  cairn approve <id3> 'may I' --by WHO
○ go             pending
$ cairn approve $ask 'may I' --by ann; work --handle 'go=echo stuck >&2; exit 1'; tree $ask
<id3>  running
✓ may I (human)  confirmed  TOOK
‖ go             paused  1/1 call, DLQ record 2  stuck
  cairn dlq requeue 2
may I: confirmed by ann, <time>
# Running: who does it.
$ run=$(cairn start one); cairn work -q --handle 'only=touch on; until [ -e off ]; do sleep 0.05; done' --until-idle & until [ -e on ]; do sleep 0.05; done; tree $run; touch off; wait
● only  running  TOOK  1/1 call, by <worker>
○ then  pending
# Following: a line for every step that has changed; the exit code says how it ended.
$ cairn show $id --follow | cut -c 27-
only  failed  1/1 call  a?[31mb
then  skipped  Stopped due to workflow failure
<id4>  failed
$ cairn show $id --follow >/dev/null
[1]
$ id=$(cairn start two); (work --handle '%=cat') & cairn show $id --follow | tail -1 | cut -c 27-; wait
<id5>  completed
$ cairn show $id --follow > followed; echo $?; cut -c 27- followed
0
a  completed
b  completed
<id5>  completed
# Of very many branches some are drawn: the first, and those that need somebody.
$ python3 -c 'print("workflow: many\nversion: 1\nsteps: [{fork: f, join: all, branches: [" + ", ".join("[{step: s%d, handler: h%d, max_attempts: 1}]" % (i, i == 77) for i in range(1000)) + "]}]")' | cairn deploy -
many version 1  deployed
$ id=$(cairn start many); tree $id
● f (fork)              running
├─ ○ s0                 ready
├─ ○ s1                 ready
├─ ○ s2                 ready
├─ ○ s3                 ready
├─ ○ s4                 ready
├─ … 995 more: 995 ready
└─ ○ f_join (join all)  pending
$ work --handle 'h1=exit 1'; tree $id
✓ f (fork)              completed
├─ – s0                 skipped  Stopped due to workflow failure
├─ – s1                 skipped  Stopped due to workflow failure
├─ – s2                 skipped  Stopped due to workflow failure
├─ – s3                 skipped  Stopped due to workflow failure
├─ – s4                 skipped  Stopped due to workflow failure
├─ ✗ s77                failed  TOOK  1/1 call  exit status 1
├─ … 994 more: 994 skipped
└─ – f_join (join all)  skipped  Stopped due to workflow failure
# On a terminal it is in colour and redrawn in place, and long texts are cut.
$ on_terminal() { python3 -c 'import fcntl, os, pty, struct, sys, termios
> pid, fd = pty.fork()
> if pid == 0:
>     fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
>     os.execvp(sys.argv[1], sys.argv[1:])
> try:
>     while data := os.read(fd, 4096): sys.stdout.buffer.write(data)
> except OSError: pass' "$@" | tr -d '\r' | sed 's/\x1b/ESC/g'; }
$ id=$(cairn start one --input "\"$(printf %0200d 7)\""); work --handle 'only=echo a long story of what went wrong in the night of the big storm >&2; exit 1'
$ on_terminal cairn show $id | sed '/^[cf].*_at/d; /^started_at/d; /^took/d' | sed -E 's/ +[0-9.]+m?s/ TOOK/' | sed -E 's/(skippedESC\[0m) +/\1  /'
id           <id6>
workflow     one, version 1
status       ESC[31mfailedESC[0m
why          Failed at only after 1 call: a long story of …
hint         cairn retry <*>
last_error   only: a long story of what went wrong in the …
input        "00000000000000000000000000000000000000000000…

ESC[31m✗ESC[0m only  ESC[31mfailedESC[0m TOOK  ESC[2m1/1 callESC[0m
ESC[2m  ESC[0mESC[31ma long story of what went wrong in the night of the big ESC[0mESC[31m…ESC[0m
ESC[2m–ESC[0m then  ESC[2mskippedESC[0m  ESC[2mStopped due to workflow failureESC[0m
$ NO_COLOR=1 on_terminal cairn show $id | grep -c ESC
0
[1]
$ on_terminal cairn show $id --follow | grep -o 'ESC\[[?0-9]*[hlJ]'
ESC[?2026h
ESC[?7l
ESC[J
ESC[?7h
ESC[?2026l
