# stores: sqlite
# A copy of a store while a server writes to it is a whole store of one moment.
$ cairn serve --url sqlite:live.db --listen 127.0.0.1:0 2>log & server=$!; until grep -q listening log 2>/dev/null; do sleep 0.05; done; http=$(grep -o 'http://[0-9.:]*' log)
$ seq 3000 > payloads; cairn job add before.v1 --payloads-from payloads --url $http >/dev/null
$ (while [ ! -e enough ]; do cairn job add during.v1 --payload '{"text": "'$(head -c 2000 /dev/zero | tr '\0' x)'"}' --url $http; done) >during & writer=$!
$ until [ -s during ]; do sleep 0.05; done; cairn backup copy.db --url sqlite:live.db | sed 's/[0-9]* bytes/N bytes/'; touch enough; wait $writer
copied live.db to copy.db: N bytes
$ stat -c %a copy.db; ls copy.db*
600
copy.db
$ cairn doctor --url sqlite:copy.db | grep -c error
0
[1]
$ cairn job list --type before.v1 --all -o ids --url sqlite:copy.db | wc -l
3000
$ [ $(cairn job list --type during.v1 --all -o ids --url sqlite:copy.db | wc -l) -ge 1 ] && echo some
some
# Whatever was recorded before the copy began is in it, and goes on in it.
$ cairn work --url sqlite:copy.db -q --handle 'during.v1=cat' --until-idle; cairn job list --url sqlite:copy.db --type during.v1 --status pending --all -o ids
$ cairn backup copy.db --url sqlite:live.db
! cairn: "copy.db" exists already
!     name another file: a backup is never replaced
[1]
$ kill $server; wait $server
$ cairn backup other.db --url sqlite:none.db
! cairn: could not open "none.db": unable to open database file
[3]
$ sqlite3 foreign.db 'CREATE TABLE t (a)'; cairn backup other.db --url sqlite:foreign.db
! cairn: "foreign.db" is not a store of Cairn
[3]
$ cairn backup no/folder.db --url sqlite:live.db
! cairn: could not create "no/folder.db.part": No such file or directory
[3]
$ cairn backup other.db --url postgres://localhost/x
! cairn: cannot back up PostgreSQL: it has its own tools for that
!     pg_dump --schema=workflow, pg_basebackup, or what your provider has
[2]
$ cairn backup other.db --url http://127.0.0.1:1
! cairn: cannot back up "http://127.0.0.1:1": only SQLite files can be
!     run it on the server's machine with --url sqlite:FILE
[2]
$ ls other*
! ls: cannot access 'other*': No such file or directory
[2]
$ cairn backup json.db --url sqlite:live.db -o json | sed 's/:[0-9]*}/:N}/'
{"store":"live.db","file":"json.db","bytes":N}
