# The same commands over a server.
$ cairn serve --listen=127.0.0.1:0 2>log & server=$!; while ! grep -q listening log; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log)
$ id=$(cairn job add web.v1 --payload '{"n":1}' --url $http)
$ cairn job show $id --url $http -o json | cmp - <(cairn job show $id -o json) && echo same
$ cairn --url $http work --handle 'web.v1=cat' --until-idle
$ cairn job list --url $http -o json | grep -o '"status":"[a-z]*"'
$ cairn job cancel $id --url $http
$ cairn doctor --url $http -o json | python3 -m json.tool >/dev/null && echo valid
$ kill $server; wait $server
$ cairn serve --url $http
$ cairn serve --idle-timeout 0
$ cairn serve extra
