# The same commands over a server.
$ cairn serve --listen=127.0.0.1:0 2>log & server=$!; until grep -q listening log 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log)
$ id=$(cairn job add web.v1 --payload '{"n":1}' --url $http)
$ cairn job show $id --url $http -o json | cmp - <(cairn job show $id -o json) && echo same
same
$ cairn --url $http work --handle 'web.v1=cat' --until-idle
$ cairn job list --url $http -o json | grep -o '"status":"[a-z]*"'
"status":"succeeded"
$ cairn job cancel $id --url $http
! cairn: cannot cancel job "<id1>": it is succeeded
[1]
$ cairn doctor --url $http -o json | python3 -m json.tool >/dev/null && echo valid
valid
$ kill $server; wait $server
$ cairn serve --url http://127.0.0.1:1
! cairn: cannot serve "http://127.0.0.1:1": it is a server already
!     give a store with --url, such as sqlite:cairn.db
[2]
$ cairn serve --idle-timeout 0
! cairn: --idle-timeout cannot be "0": it takes an integer from 1 to 86400
[2]
$ cairn serve extra
! cairn: serve cannot take "extra"
!     Usage: cairn serve [options]
[2]
