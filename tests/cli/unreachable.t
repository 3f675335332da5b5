# stores: sqlite
# What cannot be reached, or is no store, is exit code 3.
$ echo 'not a database, but long enough to be looked at as if it were one' > text; cairn job list --url sqlite:text
$ cairn job list --url sqlite:no/such/folder/x.db
$ cairn job add a.v1 --url http://127.0.0.1:1 2>/dev/null
$ cairn work --handle a.v1=true --url sqlite:text 2>/dev/null
$ cairn bench jobs --url sqlite:text 2>/dev/null
$ cairn job list >/dev/full
