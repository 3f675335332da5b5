# What a handler gets, and what its end means.
$ ends() { id=$(cairn job add "$1" --payload '{"n":1}' --max-attempts 2 --key "$2"); cairn work --handle "$1=$3" --until-idle; cairn job show $id -o json | python3 -c 'import json,sys; j=json.load(sys.stdin); print(j["status"], j["attempt"], j["last_error"], json.dumps(j["result"]))'; }
$ ends echo.v1 k1 'cat'
succeeded 0 None {"n": 1}
! cairn: working on <url>: echo.v1; up to 4 at the same time
$ ends none.v1 k2 'true'
succeeded 0 None null
! cairn: working on <url>: none.v1; up to 4 at the same time
$ ends blank.v1 k3 'echo; echo'
succeeded 0 None null
! cairn: working on <url>: blank.v1; up to 4 at the same time
$ ends text.v1 k4 'echo hello'
pending 1 the handler's output is not JSON: line 1, column 5: invalid token near 'hello' null
! cairn: working on <url>: text.v1; up to 4 at the same time
! cairn: text.v1 <id1>, call 1 of 2: failed: the handler's output is not JSON: line 1, column 5: invalid token near 'hello'
$ ends again.v1 k5 'echo not yet >&2; exit 75'
pending 1 not yet null
! cairn: working on <url>: again.v1; up to 4 at the same time
! not yet
! cairn: again.v1 <id2>, call 1 of 2: failed, to be tried again: not yet
$ ends dead.v1 k6 'echo first >&2; echo "cannot ever" >&2; exit 65'
failed 1 cannot ever null
! cairn: working on <url>: dead.v1; up to 4 at the same time
! first
! cannot ever
! cairn: dead.v1 <id3>, call 1 of 2: failed for good: cannot ever
$ ends fail.v1 k7 'exit 1'
pending 1 exit status 1 null
! cairn: working on <url>: fail.v1; up to 4 at the same time
! cairn: fail.v1 <id4>, call 1 of 2: failed: exit status 1
$ ends error.v1 k8 'printf "one\ntwo\n\n" >&2; exit 3'
pending 1 two null
! cairn: working on <url>: error.v1; up to 4 at the same time
! one
! two
!
! cairn: error.v1 <id5>, call 1 of 2: failed: two
$ ends half.v1 k9 'printf "no newline" >&2; exit 3'
pending 1 no newline null
! cairn: working on <url>: half.v1; up to 4 at the same time
! no newline
! cairn: half.v1 <id6>, call 1 of 2: failed: no newline
$ ends kill.v1 k10 'kill -SEGV $$'
pending 1 killed by SIGSEGV null
! cairn: working on <url>: kill.v1; up to 4 at the same time
! cairn: kill.v1 <id7>, call 1 of 2: failed: killed by SIGSEGV
$ ends missing.v1 k11 './no-such-command 2>/dev/null'
pending 1 exit status 127 null
! cairn: working on <url>: missing.v1; up to 4 at the same time
! cairn: missing.v1 <id8>, call 1 of 2: failed: exit status 127
$ ends env.v1 k12 'echo "[\"$CAIRN_TYPE\",\"$CAIRN_KEY\",\"$CAIRN_ATTEMPT\",\"$CAIRN_INSTANCE\",\"$CAIRN_STEP\",${#CAIRN_TASK}]"'
succeeded 0 None ["env.v1", "k12", "1", "", "", 36]
! cairn: working on <url>: env.v1; up to 4 at the same time
# A prefix; the exact type wins.
$ cairn job add p.a.v1 >/dev/null; cairn job add p.b.v1 >/dev/null
$ cairn work --handle 'p.%=echo 1' --handle 'p.b.v1=echo 2' --until-idle; cairn job list --type 'p.%' -o json | grep -o '"type":"[^"]*"\|"result":[0-9]'
"type":"p.b.v1"
"result":2
"type":"p.a.v1"
"result":1
! cairn: working on <url>: p.%, p.b.v1; up to 4 at the same time
# Neither reading a large input nor writing a large output gets it stuck.
$ python3 -c 'print("\"" + "x" * 900000 + "\"")' > large; id=$(cairn job add large.v1 --payload @large)
$ cairn work --handle 'large.v1=exec <&-; echo 1' --until-idle; cairn job show $id -o json | grep -o '"status":"[a-z]*"'
"status":"succeeded"
! cairn: working on <url>: large.v1; up to 4 at the same time
$ id=$(cairn job add copy.v1 --payload @large); cairn work --handle 'copy.v1=cat' --until-idle; cairn job show $id -o json | wc -c | sed 's/^18[0-9]*$/both/'
both
! cairn: working on <url>: copy.v1; up to 4 at the same time
$ ends flood.v1 k13 'head -c 3000000 /dev/zero | tr "\0" 1'
pending 1 the handler's output is larger than 1048576 bytes null
! cairn: working on <url>: flood.v1; up to 4 at the same time
! cairn: flood.v1 <id9>, call 1 of 2: failed: the handler's output is larger than 1048576 bytes
# What it leaves running with its pipes open does not hold it up, and ends with its call.
$ ends daemon.v1 k14 'sleep 1000 & echo $! > pid; echo 5'; kill -0 $(cat pid) 2>/dev/null || echo gone
succeeded 0 None 5
gone
! cairn: working on <url>: daemon.v1; up to 4 at the same time
# Broken text on standard error is kept readable.
$ ends broken.v1 k15 'printf "bad \377 byte\n" >&2; exit 1' 2>/dev/null
pending 1 bad ? byte null
$ id=$(cairn job add v.v1); cairn work --handle 'v.v1=true' --until-idle --verbose --name me --lease 5s --concurrency 1
! cairn: working on <url>: v.v1; up to 1 at the same time
! cairn: v.v1 <id10>, call 1 of 3: completed
$ cairn job events $id | cut -d' ' -f3-
created    {}
leased     {"worker":"me","attempt":1}
started    {"worker":"me","attempt":1}
succeeded  {"worker":"me","attempt":1}
# It says that it works, and why a handler failed; --quiet says neither.
$ a=$(cairn job add loud.v1 --max-attempts 2); cairn work --handle 'loud.v1=echo out of paper >&2; exit 1' --until-idle
! cairn: working on <url>: loud.v1; up to 4 at the same time
! out of paper
! cairn: loud.v1 <id11>, call 1 of 2: failed: out of paper
$ a=$(cairn job add loud.v1); cairn work --quiet --handle 'loud.v1=exit 1' --until-idle
# With --output text any output is a JSON string.
$ text() { id=$(cairn job add t.v1); cairn work -q --output text --handle "t.v1=$1" --until-idle; cairn job show $id -o json | python3 -c 'import json,sys; j=json.load(sys.stdin); print(j["status"], ascii(j["result"]))'; }
$ text 'echo hello; echo "there \"you\""; echo'
succeeded 'hello\nthere "you"'
$ text 'echo 17'
succeeded '17'
$ text 'true'
succeeded ''
$ text 'printf "bad \377 byte, NUL \0 and tab\t"'
succeeded 'bad \ufffd byte, NUL \ufffd and tab\t'
$ id=$(cairn job add t.v1 --max-attempts 1); cairn work --output text --handle 't.v1=head -c 600000 /dev/zero | tr "\0" "\""' --until-idle
! cairn: working on <url>: t.v1; up to 4 at the same time
! cairn: t.v1 <id12>, call 1 of 1: failed: the handler's output is larger than 1048576 bytes
# Lists count calls as people do: the first is 1/3 while it runs and when it has succeeded.
$ mkfifo on off; id=$(cairn job add count.v1); show() { cairn job list --type count.v1 | awk 'NR > 1 {print $3, $4}'; cairn job show $id | grep attempts; }; show
pending 0/3
attempts     0/3
$ cairn work -q --handle 'count.v1=echo > on; read x < off' --until-idle & read < on; show; echo > off; wait; show
leased 1/3
attempts     1/3
succeeded 1/3
attempts     1/3
# All pages of events.
$ python3 -c 'print("workflow: wide\nversion: 1\nsteps:\n  - fork: f\n    join: all\n    branches:"); [print(f"      - [{{step: s{i}}}]") for i in range(600)]' > wide.yaml; cairn deploy wide.yaml; id=$(cairn start wide); cairn cancel $id --by me --reason why >/dev/null
wide version 1  deployed
$ cairn events $id 2>/dev/null | wc -l; n=$(cairn events $id --all | wc -l); [ $n -gt 1000 ] && echo more; cairn events $id --all -o json | python3 -c "import json,sys; p=json.load(sys.stdin); print(len(p['items']) == $n, p['next'])"; [ $(cairn events $id --all -o ids | sort -u | wc -l) = $n ] && echo same
100
more
True None
same
# A search goes on until it has found something, and to the end.
$ for how in '' --follow --all; do cairn events $id --type workflow_cancelled $how | wc -l; done; cairn events $id --step nobody --all -o json
1
1
1
{"items":[],"next":null}
$ cairn events $id --limit 1 2>&1 >/dev/null | sed 's/cursor [0-9]*/cursor N/'
There are more: add --cursor N or --all
# In a type % stands at the end or nowhere.
$ cairn work --handle 'a.%.v1=true'
! cairn: --handle cannot be "a.%.v1=true": in a type % may stand only at the end
[2]
$ cairn job list --type 'a%b'
! cairn: type "a%b" is not a pattern: % may stand only at the end
!     give an exact type, or a prefix such as billing.%
[2]
$ cairn work --handle 'a=true' --missing-jitter 2
! cairn: --missing-jitter must be a number from 0 to 1, not "2"
[2]
$ cairn work --handle 'a=true' --aging-rate x
! cairn: --aging-rate must be a number from 0 to 1000000, not "x"
[2]
$ cairn work -q --handle 'none.v1=true' --until-idle --missing-cooldown 10s --missing-jitter 0 --missing-throttle 0s --aging-rate 2
# A trace comes out in the log; what is not well-formed does not.
$ cairn job add trace.v1 --metadata '{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}' > /dev/null
$ cairn job add trace.v1 --metadata '{"traceparent": "00-x\ny"}' > /dev/null
$ cairn work --handle 'trace.v1=true' --until-idle --concurrency 1 -v
! cairn: working on <url>: trace.v1; up to 1 at the same time
! cairn: trace.v1 <id13>, call 1 of 3, traceparent 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01: completed
! cairn: trace.v1 <id14>, call 1 of 3: completed
$ cairn job add trace.v1 --metadata '{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}' --max-attempts 1 > /dev/null
$ cairn work --handle 'trace.v1=exit 1' --until-idle --log-format json 2>&1 | tail -n 1 | grep -o '"level":.*'
"level":"warning","event":"task","type":"trace.v1","task":"<id15>","attempt":1,"outcome":"failed","error":"exit status 1","traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","text":"trace.v1 <id15>, call 1 of 1, traceparent 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01: failed: exit status 1"}
# A level leaves out what matters less: that it works, failures, and the rest.
$ cairn job add level.v1 > /dev/null
$ cairn work --handle 'level.v1=true' --until-idle --log-level warning
$ cairn job add level.v1 > /dev/null
$ cairn work --handle 'level.v1=true' --until-idle --log-level debug --log-format json 2>&1 | grep -o '"level":"[a-z]*","event":"[a-z]*"'
"level":"info","event":"worker"
"level":"debug","event":"task"
$ cairn job add level.v1 --max-attempts 1 > /dev/null
$ cairn work --handle 'level.v1=exit 1' --until-idle --log-level warning
! cairn: level.v1 <id16>, call 1 of 1: failed: exit status 1
$ cairn job add level.v1 --max-attempts 1 > /dev/null
$ cairn work --handle 'level.v1=exit 1' --until-idle --log-level error
$ cairn work --handle 'level.v1=true' --log-level loud
! cairn: --log-level cannot be "loud": it takes one of: error warning info debug
[2]
# The instance's input and earlier outputs, in a file that goes with the command; jobs have none.
$ printf '{workflow: parcel, version: 1, steps: [{step: weigh}, {step: label}]}' > parcel.yaml
$ cairn deploy parcel.yaml > /dev/null
$ cairn start parcel --input '{"to":"ann"}' > /dev/null
$ cairn job add plain.v1 > /dev/null
$ cairn work -q --context --handle 'weigh=echo 250' --handle 'label=echo "$CAIRN_CONTEXT_FILE" > where; cat "$CAIRN_CONTEXT_FILE" >&2' --handle 'plain.v1=echo "[$CAIRN_CONTEXT_FILE]" >&2' --until-idle --concurrency 1 2>&1 | sed 's/": /":/g' | sort
[]
{"input":{"to":"ann"},"outputs":{"weigh":250}}
$ test -e "$(cat where)" || echo gone
gone
$ cairn start parcel > /dev/null
$ cairn work -q --handle 'weigh=echo 250' --handle 'label=echo "[$CAIRN_CONTEXT_FILE]" >&2' --until-idle
! []
