# What a handler gets, and what its end means.
$ ends() { id=$(cairn job add "$1" --payload '{"n":1}' --max-attempts 2 --key "$2"); cairn work --handle "$1=$3" --until-idle; cairn job show $id -o json | python3 -c 'import json,sys; j=json.load(sys.stdin); print(j["status"], j["attempt"], j["last_error"], json.dumps(j["result"]))'; }
$ ends echo.v1 k1 'cat'
succeeded 0 None {"n": 1}
$ ends none.v1 k2 'true'
succeeded 0 None null
$ ends blank.v1 k3 'echo; echo'
succeeded 0 None null
$ ends text.v1 k4 'echo hello'
pending 1 the handler's output is not JSON: line 1, column 5: invalid token near 'hello' null
$ ends again.v1 k5 'echo not yet >&2; exit 75'
pending 1 not yet null
! not yet
$ ends dead.v1 k6 'echo first >&2; echo "cannot ever" >&2; exit 65'
failed 1 cannot ever null
! first
! cannot ever
$ ends fail.v1 k7 'exit 1'
pending 1 exit status 1 null
$ ends error.v1 k8 'printf "one\ntwo\n\n" >&2; exit 3'
pending 1 two null
! one
! two
!
$ ends half.v1 k9 'printf "no newline" >&2; exit 3'
pending 1 no newline null
! no newline
$ ends kill.v1 k10 'kill -SEGV $$'
pending 1 killed by SIGSEGV null
$ ends missing.v1 k11 './no-such-command 2>/dev/null'
pending 1 exit status 127 null
$ ends env.v1 k12 'echo "[\"$CAIRN_TYPE\",\"$CAIRN_KEY\",\"$CAIRN_ATTEMPT\",\"$CAIRN_INSTANCE\",\"$CAIRN_STEP\",${#CAIRN_TASK}]"'
succeeded 0 None ["env.v1", "k12", "1", "", "", 36]
# A prefix; the exact type wins.
$ cairn job add p.a.v1 >/dev/null; cairn job add p.b.v1 >/dev/null
$ cairn work --handle 'p.%=echo 1' --handle 'p.b.v1=echo 2' --until-idle; cairn job list --type 'p.%' -o json | grep -o '"type":"[^"]*"\|"result":[0-9]'
"type":"p.b.v1"
"result":2
"type":"p.a.v1"
"result":1
# Neither reading a large input nor writing a large output gets it stuck.
$ python3 -c 'print("\"" + "x" * 900000 + "\"")' > large; id=$(cairn job add large.v1 --payload @large)
$ cairn work --handle 'large.v1=exec <&-; echo 1' --until-idle; cairn job show $id -o json | grep -o '"status":"[a-z]*"'
"status":"succeeded"
$ id=$(cairn job add copy.v1 --payload @large); cairn work --handle 'copy.v1=cat' --until-idle; cairn job show $id -o json | wc -c | sed 's/^18[0-9]*$/both/'
both
$ ends flood.v1 k13 'head -c 3000000 /dev/zero | tr "\0" 1'
pending 1 the handler's output is larger than 1048576 bytes null
# What it leaves running with its pipes open does not hold it up.
$ ends daemon.v1 k14 'sleep 1000 & echo $! > pid; echo 5'; kill $(cat pid)
succeeded 0 None 5
# Broken text on standard error is kept readable.
$ ends broken.v1 k15 'printf "bad \377 byte\n" >&2; exit 1' 2>/dev/null
pending 1 bad ? byte null
$ id=$(cairn job add v.v1); cairn work --handle 'v.v1=true' --until-idle --verbose --name me --lease 5s --concurrency 1
! cairn: v.v1 <id1>, call 1: completed
$ cairn job events $id | cut -d' ' -f3-
created    {}
leased     {"worker":"me","attempt":1}
started    {"worker":"me","attempt":1}
succeeded  {"worker":"me","attempt":1}
