# stores: sqlite
# A server with a certificate; who connects trusts an authority of its own.
$ authority() { openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 30 -subj /CN=authority 2>/dev/null; }
$ certificate() { openssl req -new -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj /CN=$2 2>/dev/null; openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days $3 -out $1.pem -extfile <(echo "subjectAltName=DNS:$2") 2>/dev/null; chmod 600 $1.key; }
$ authority; certificate good localhost 30; certificate wrong example.com 30; certificate old localhost -1
$ serve() { rm -f log; cairn serve --url sqlite:tls.db --listen localhost:0 --tls-cert $1.pem --tls-key $1.key "${@:2}" 2>log & server=$!; until grep -q listening log 2>/dev/null; do sleep 0.05; done; https=$(grep -o 'https://[^ ,"]*' log | head -1 | sed 's/127.0.0.1/localhost/;s/\[::1\]/localhost/'); }
$ serve good --log-format json --log-level debug
$ CAIRN_CA_FILE=ca.pem cairn job add a.v1 --url $https >/dev/null
$ CAIRN_CA_FILE=ca.pem cairn work --url $https -q --handle a.v1=cat --until-idle
$ CAIRN_CA_FILE=ca.pem cairn job list --url $https -o json | grep -o '"status":"[a-z]*"'
"status":"succeeded"
$ grep -o '"event":"request","method":"POST","path":"/v1/jobs","status":201' log
"event":"request","method":"POST","path":"/v1/jobs","status":201
$ python3 -c 'import json; [json.loads(line) for line in open("log")]; print("every line is JSON")'
every line is JSON
# Neither a scheme that does not fit nor a file that is not there looks like a server that is down.
$ cairn job list --url http${https#https} 2>&1 | grep -c 'its URL begins with https:'
1
$ CAIRN_CA_FILE=none.pem cairn job list --url $https 2>&1 | tail -n 1
    check the file that CAIRN_CA_FILE names
# An authority that is not trusted, another name, and a certificate that is over are refused.
$ cairn job list --url $https 2>&1 | grep -c 'local issuer certificate'
1
$ kill $server; wait $server; serve wrong
$ CAIRN_CA_FILE=ca.pem cairn job list --url $https 2>&1 | grep -c 'no alternative certificate subject name matches'
1
$ kill $server; wait $server; serve old
$ CAIRN_CA_FILE=ca.pem cairn job list --url $https 2>&1 | tail -n 2
    SSL certificate problem: certificate has expired
    its certificate must be valid now, for this host, and signed by an authority of this system or of the file that CAIRN_CA_FILE names
# The log says so, and warns of one that ends soon or begins later.
$ grep -c 'warning certificate "old.pem" ended at .*Z: renew it, and send SIGHUP to the server' log
1
# After SIGHUP the certificate is the new one, and who was connected stays so.
$ (echo 'GET /healthz HTTP/1.1'; echo 'Host: localhost'; echo; until [ -e renewed ]; do sleep 0.05; done; echo 'GET /healthz HTTP/1.1'; echo 'Host: localhost'; echo 'Connection: close'; echo) | sed -u 's/$/\r/' | openssl s_client -quiet -connect ${https#https://} >answers 2>/dev/null & client=$!
$ until grep -q 200 answers 2>/dev/null; do sleep 0.05; done; cp good.pem old.pem; cp good.key old.key; kill -HUP $server; until grep -q 'read tokens and certificate again' log; do sleep 0.05; done
$ CAIRN_CA_FILE=ca.pem cairn job list --url $https -o ids | wc -l
1
$ touch renewed; wait $client; grep -c 'HTTP/1.1 200' answers
2
$ printf '[ca]\ndefault_ca=c\n[c]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n' >ca.conf; touch index; echo 01 >serial
$ dated() { openssl ca -batch -notext -config ca.conf -cert ca.pem -keyfile ca.key -in good.csr -out $1.pem -startdate $(date -u -d "$2" +%Y%m%d%H%M%SZ) -enddate $(date -u -d "$3" +%Y%m%d%H%M%SZ) 2>/dev/null; cp good.key $1.key; : >index; }
$ dated soon '-70 days' '20 days'; dated short '-1 day' '2 days'; dated later '1 day' '90 days'
$ renew() { cp $1 old.pem; before=$(wc -l <log); kill -HUP $server; until tail -n +$((before + 1)) log | grep -q "$2"; do sleep 0.05; done; tail -n +$((before + 1)) log | sed 's/^[^ ]* //'; }
$ renew soon.pem ends
info read tokens and certificate again
warning certificate "old.pem" ends at <time>: renew it, and send SIGHUP to the server
$ renew later.pem valid
info read tokens and certificate again
warning certificate "old.pem" is not valid before <time>: clients refuse it until then
# One that lives for three days has enough left after one of them; the second one in the file has not.
$ renew short.pem again
info read tokens and certificate again
$ cat soon.pem >>short.pem; renew short.pem ends
info read tokens and certificate again
warning certificate "old.pem" ends at <time>: renew it, and send SIGHUP to the server
$ grep -c warning log
4
# A pair that does not fit changes nothing.
$ cp wrong.key old.key; kill -HUP $server; until grep -q stays log; do sleep 0.05; done; grep -o 'certificate "old.pem" and.*' log
certificate "old.pem" and private key "old.key" cannot be used: The certificate and the given key do not match.; what was read before stays
$ CAIRN_CA_FILE=ca.pem cairn job list --url $https -o ids | wc -l
1
$ kill $server; wait $server
$ rm log; cairn serve --url sqlite:tls.db --listen 127.0.0.1:0 2>log & server=$!; until grep -q listening log 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log)
$ cairn job list --url https${http#http} 2>&1 | grep -c 'its URL begins with http:'
1
$ kill $server; wait $server
$ cairn serve --tls-cert good.pem
! cairn: --tls-cert needs --tls-key
[2]
$ cairn serve --tls-cert good.pem --tls-key none.key
! cairn: could not open private key "none.key": No such file or directory
[2]
$ chmod 644 good.key; cairn serve --tls-cert good.pem --tls-key good.key
! cairn: private key "good.key" can be read by every user
!     chmod 600 good.key
[2]
$ cairn serve --tls-cert ca.key --tls-key wrong.key 2>&1 | grep -c 'cannot be used'
1
