# The store itself.
$ cairn migrate
<url> is up to date: version 3, as this program expects
$ cairn migrate -o json
{"url":"<url>","schema":"version 3, as this program expects"}
$ cairn doctor | head -1
CHECK      RESULT  FINDING
$ cairn doctor -o json | python3 -m json.tool >/dev/null && echo valid
valid
$ cairn version | cut -d' ' -f1
cairn
libcairn
sqlite
libpq
$ cairn version -o json | python3 -m json.tool >/dev/null && cairn --version | head -1
cairn 0.1.0
