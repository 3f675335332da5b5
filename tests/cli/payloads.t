# Many jobs, one for each line.
$ printf '{"n":1}\n\n{"n":2}\n{"n":3}' | cairn job add many.v1 --payloads-from -
<id1>
<id2>
<id3>
$ seq 1 1201 > numbers; cairn job add many.v2 --payloads-from numbers | sort -u | wc -l
1201
$ cairn job list --type many.v2 --all -o ids | wc -l
1201
$ printf '1\n2\n' | cairn job add many.v3 --payloads-from - -o json
{"items":[{"id":"<id4>","existing":false},{"id":"<id5>","existing":false}]}
$ cairn job add many.v4 --payloads-from /dev/null -o json
{"items":[]}
# A bad line is named; what was committed before it stays.
$ printf '1\nnope\n' | cairn job add many.v5 --payloads-from -
! cairn: line 2 is not JSON
!     line 1, column 4: invalid token near 'nope'
!     0 jobs were added before that.
[2]
$ cairn job list --type many.v5 -o ids
$ cairn job add many.v6 --payloads-from missing
! cairn: could not read "missing": No such file or directory
[2]
