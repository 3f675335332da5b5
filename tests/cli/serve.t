# The same commands over a server.
$ cairn serve --listen=127.0.0.1:0 2>log & server=$!; until grep -q listening log 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log)
# Two servers cannot listen at one place, and a path that is not the server's is a wrong URL.
$ cairn serve --listen ${http#http://} 2>&1 | sed "s/${http#http://}/HOST:PORT/"
cairn: could not listen on HOST:PORT: Address already in use
    stop the program that listens there, or choose another address with --listen; port 0 is any free port
$ cairn job list --url $http/nothing 2>&1 | sed "s,$http,HTTP,"
cairn: the server at HTTP/nothing does not answer as Cairn does
    is `cairn serve` running there, and is the path of the URL right?
$ id=$(cairn job add web.v1 --payload '{"n":1}' --url $http)
# A server does not know at once which workers are there, so its sentence may differ.
$ plain() { python3 -c 'import json, sys; job = json.load(sys.stdin); del job["why"]; print(job)'; }
$ cairn job show $id --url $http -o json | plain | cmp - <(cairn job show $id -o json | plain) && echo same
same
$ cairn --url $http work -q --handle 'web.v1=cat' --until-idle
$ cairn job list --url $http -o json | grep -o '"status":"[a-z]*"'
"status":"succeeded"
$ cairn job cancel $id --url $http
! cairn: cannot cancel job "<id1>": it is succeeded
[1]
$ cairn doctor --url $http -o json | python3 -m json.tool >/dev/null && echo valid
valid
$ kill $server; wait $server
# The token of a lease stands in the query of a context, and in no line of the log.
$ cairn serve --listen=127.0.0.1:0 --log-level debug 2>log3 & server=$!; until grep -q listening log3 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log3)
$ curl -s -o answer -w '%{http_code}\n' "$http/v1/tasks/$id/context?worker=w1&token=top-secret"
400
$ kill $server; wait $server; grep -c 'debug GET /v1/tasks/.*/context 400' log3; grep -c top-secret log3
1
0
[1]
# Every option is understood by the server, and a token is asked for.
$ printf 'operate secret-secret-secret-secret-1\nproduce other-secret-other-secret-22\n' > tokens; chmod 600 tokens
$ cairn serve --listen 127.0.0.1:0 --token-file tokens --max-connections 10 --idle-timeout 5 --virtual-clock 2>log2 & server=$!; until grep -q listening log2 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log2)
$ cairn job list --url $http -o ids >/dev/null
! cairn: no token
!     put the token into $CAIRN_TOKEN
[1]
$ CAIRN_TOKEN=wrong cairn job list --url $http -o ids >/dev/null
! cairn: the token is unknown
!     put the token into $CAIRN_TOKEN
[1]
$ CAIRN_TOKEN=secret-secret-secret-secret-1 cairn job list --url $http -o ids | wc -l
1
$ CAIRN_TOKEN=other-secret-other-secret-22 cairn job cancel $id --url $http
! cairn: cannot cancel job "<id1>": it is succeeded
[1]
$ kill $server; wait $server
$ cairn serve --quiet --listen 127.0.0.1:0 --max-connections 0
! cairn: --max-connections cannot be "0": it takes an integer from 1 to 1000000
[2]
$ cairn serve --url http://127.0.0.1:1
! cairn: cannot serve "http://127.0.0.1:1": it is a server already
!     give a store with --url, such as sqlite:cairn.db
[2]
$ cairn serve --idle-timeout 0
! cairn: --idle-timeout cannot be "0": it takes an integer from 1 to 86400
[2]
$ cairn serve --request-timeout 0
! cairn: --request-timeout cannot be "0": it takes an integer from 1 to 86400
[2]
$ cairn serve extra
! cairn: serve cannot take "extra"
!     Usage: cairn serve [options]
[2]
# The trace of a request is in its line of the log: of its header, else of the metadata in its body.
$ cairn serve --listen=127.0.0.1:0 --log-level debug 2>log5 & server=$!; until grep -q listening log5 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log5)
$ curl -s -o answer -H 'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' $http/v1/clock
$ curl -s -o answer -d '{"type": "t.v1", "metadata": {"traceparent": "00-11111111111111111111111111111111-2222222222222222-00"}}' $http/v1/jobs
$ curl -s -o answer -H 'traceparent: 00-forged info stopped' $http/v1/registry
$ kill $server; wait $server; grep ' debug ' log5 | sed 's/.* debug //; s/ [0-9]*us/ US/'
GET /v1/clock 200 US traceparent 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
POST /v1/jobs 201 US traceparent 00-11111111111111111111111111111111-2222222222222222-00
GET /v1/registry 200 US
# Who changes a setting, or removes something with its history, is told without being asked for: no event keeps it.
$ printf 'operate secret-secret-secret-secret-1 ada\n' > tokens; cairn serve --listen 127.0.0.1:0 --token-file tokens 2>log4 & server=$!; until grep -q listening log4 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log4)
$ call() { curl -s -o answer -H 'Authorization: Bearer secret-secret-secret-secret-1' -X "$@"; }
$ call PUT -d '{"keys_ms": null}' $http/v1/retention; call GET $http/v1/retention; call PUT -d '{"keys_ms": "x"}' $http/v1/retention
$ call POST -d '{"type": "t.v1"}' $http/v1/jobs; call DELETE $http/v1/jobs/$id; call POST -d '{"status": "failed"}' $http/v1/purge
$ kill $server; wait $server; grep ' info [A-Z]' log4 | sed 's/.* info //; s/ [0-9]*us/ US/'
PUT /v1/retention 200 US by ada
DELETE /v1/jobs/<id1> 200 US by ada
POST /v1/purge 200 US by ada
# Connections are never more than there are files for, and with hardly any files there is no server.
$ (ulimit -n 31; cairn serve --listen 127.0.0.1:0)
! cairn: cannot serve: the limit of open files is 31, and it takes 32 at least
!     raise it with ulimit -n, or LimitNOFILE of its service
[1]
$ (ulimit -n 20; cairn serve --listen 127.0.0.1:0 --max-connections 1)
! cairn: cannot serve: the limit of open files is 20, and it takes 32 at least
!     raise it with ulimit -n, or LimitNOFILE of its service
[1]
$ few() { (ulimit -n $1; exec cairn serve --listen 127.0.0.1:0 $2 2>few$1) & server=$!; until grep -q listening few$1 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' few$1); cairn job list --url $http -o ids | wc -l; kill $server; wait $server; grep -o 'at most.*' few$1; }
$ few 32; few 100; few 128; few 200; few 34 --max-connections=17
2
at most 16 connections instead of 10000: the limit of open files is 32
2
at most 50 connections instead of 10000: the limit of open files is 100
2
at most 64 connections instead of 10000: the limit of open files is 128
2
at most 136 connections instead of 10000: the limit of open files is 200
2
[1]
