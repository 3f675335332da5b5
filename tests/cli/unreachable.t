# stores: sqlite
# What cannot be reached, or is no store, is exit code 3.
$ echo 'not a database, but long enough to be looked at as if it were one' > text; cairn job list --url sqlite:text
! cairn: cannot open the store: "<folder>/work/text" is not an SQLite database
!     SQLite: file is not a database (26)
[3]
$ cairn job add a.v1 --url sqlite:no/such/folder/x.db
! cairn: cannot open "<folder>/work/no/such/folder/x.db": No such file or directory
!     SQLite: unable to open database file (14); system: No such file or directory
!     create the folder first: mkdir -p <folder>/work/no/such/folder
[3]
$ cairn job add a.v1 --url http://127.0.0.1:1 2>/dev/null
[3]
$ cairn work --handle a.v1=true --url sqlite:text 2>/dev/null
[3]
$ cairn bench jobs --url sqlite:text 2>/dev/null
[3]
$ cairn job add a.v1 >/dev/full
! cairn: could not write to standard output
[1]
# A worker whose store is lost waits, and says so; the file is put back, and it goes on.
$ cairn migrate > /dev/null; file=${CAIRN_URL#sqlite:}; cairn work --handle 'a.v1=true' 2> log & worker=$!; until grep -q 'working on' log 2> /dev/null; do sleep 0.05; done
$ cairn job add a.v1 --wait > /dev/null 2>&1; mv $file aside; until grep -q lost log; do sleep 0.05; done; mv aside $file; until grep -q again log; do sleep 0.05; done
$ cairn job add a.v1 --wait -o json | grep -o '"status":"[a-z]*"'; kill $worker; wait $worker; sed -n '2,3s/after [0-9]* ms/after N ms/; 2,3p' log
"status":"succeeded"
cairn: lost the store: could not begin to write: "<folder>/store.db" was removed while it was open
cairn: the store answers again after N ms
