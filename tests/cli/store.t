# The store itself.
$ cairn migrate
$ cairn migrate -o json
$ cairn doctor | head -1
$ cairn doctor -o json | python3 -m json.tool >/dev/null && echo valid
$ cairn version | cut -d' ' -f1
$ cairn version -o json | python3 -m json.tool >/dev/null && cairn --version | head -1
