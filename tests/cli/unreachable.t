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
