# stores: sqlite
# Tokens are added, listed and removed by name; other lines stay as they are.
$ hide() { sed 's/cairn_[0-9a-f]\{64\}/SECRET/;s/^#/COMMENT/'; }
$ cairn token add shop --role produce --token-file tokens | hide
SECRET
$ stat -c %a tokens
600
$ printf '# by hand\nview by-hand-by-hand' >> tokens
$ cairn token add 'the operator' --role operate --token-file tokens -o json | hide
{"name":"the operator","role":"operate","token":"SECRET"}
$ hide < tokens
produce SECRET shop
COMMENT by hand
view by-hand-by-hand
operate SECRET the operator
$ cairn token list --token-file tokens
NAME          ROLE
shop          produce
              view
the operator  operate
$ cairn token list --token-file tokens -o json
{"items":[{"name":"shop","role":"produce"},{"name":"","role":"view"},{"name":"the operator","role":"operate"}],"next":null}
$ cairn token add shop --role work --token-file tokens
! cairn: token file "tokens" has a token with the name "shop"
!     cairn token remove 'shop' --token-file tokens
[1]
$ cairn token remove nobody --token-file tokens
! cairn: token file "tokens" has no token with the name "nobody"
[1]
# Nothing is removed if one of the names is wrong.
$ cairn token remove shop nobody --token-file tokens
! cairn: token file "tokens" has no token with the name "nobody"
[1]
$ chmod 640 tokens; cairn token remove shop --token-file tokens; hide < tokens; stat -c %a tokens
COMMENT by hand
view by-hand-by-hand
operate SECRET the operator
640
$ cairn token add $'J\xfcrgen' --role view --token-file tokens 2>&1 | tail -n 1
    1 to 127 bytes of UTF-8 without control characters, spaces at the ends, or # first
$ cairn token add ' x' --role view --token-file tokens
! cairn: " x" cannot be the name of a token
!     1 to 127 bytes of UTF-8 without control characters, spaces at the ends, or # first
[2]
$ cairn token add x --role boss --token-file tokens
! cairn: --role cannot be "boss": it takes one of: view produce work operate
[2]
$ cairn token list --token-file none
! cairn: there is no token file "none"
[1]
$ cairn token add x --role view --token-file no/folder
! cairn: could not lock the folder of token file "no/folder": No such file or directory
[1]
# A running server knows a new token after SIGHUP, and refuses a removed one; a file that cannot be read changes nothing.
$ token=$(cairn token add bob --role operate --token-file tokens)
$ cairn serve --listen 127.0.0.1:0 --token-file tokens 2>log & server=$!; until grep -q listening log 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log)
$ CAIRN_TOKEN=$token cairn job list --url $http -o ids
$ operator=$(sed -n 's/^operate \(cairn_[0-9a-f]*\) the operator/\1/p' tokens)
$ curl -sN -H "Authorization: Bearer $token" $http/v1/stream >bob.txt & bob=$!; until grep -qs cairn bob.txt; do sleep 0.05; done
$ curl -sN -H "Authorization: Bearer $operator" $http/v1/stream >operator.txt & stream=$!; until grep -qs cairn operator.txt; do sleep 0.05; done
$ cairn token remove bob --token-file tokens; new=$(cairn token add eve --role operate --token-file tokens)
$ kill -HUP $server; until grep -q 'read tokens' log; do sleep 0.05; done
# His stream ends with his token; that of another goes on.
$ wait $bob; kill -0 $stream && CAIRN_TOKEN=$operator cairn job add stream.v1 --url $http >/dev/null
$ until grep -q 'event: created' operator.txt; do kill -0 $stream || break; sleep 0.05; done; grep -c 'event: created' operator.txt; kill $stream
1
$ CAIRN_TOKEN=$token cairn job list --url $http -o ids
! cairn: the token is unknown
!     put the token into $CAIRN_TOKEN
[1]
$ CAIRN_TOKEN=$new cairn job list --url $http -o ids >/dev/null
$ chmod 644 tokens; kill -HUP $server; until grep -q 'stays' log; do sleep 0.05; done; cut -d' ' -f2- log | grep stays
error token file "tokens" can be read by every user; what was read before stays (chmod 600 tokens)
$ CAIRN_TOKEN=$new cairn job list --url $http -o ids >/dev/null
# Without its last token a server lets nobody in, but does not start.
$ chmod 600 tokens; sed -i '/^#/!d' tokens; kill -HUP $server; until [ $(grep -c 'read tokens' log) = 2 ]; do sleep 0.05; done
$ CAIRN_TOKEN=$new cairn job list --url $http -o ids >/dev/null
! cairn: the token is unknown
!     put the token into $CAIRN_TOKEN
[1]
$ kill $server; wait $server
$ cairn serve --listen 127.0.0.1:0 --token-file tokens
! cairn: token file "tokens" has no token
!     cairn token add NAME --role ROLE --token-file tokens
[2]
$ cut -d' ' -f2- log | tail -2
info stopping
info stopped
