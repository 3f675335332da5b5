# Ids in part: the beginning, or the last 8 characters.
$ cat > pair.yaml <<'END'
> workflow: pair
> version: 1
> steps: [{step: one}]
> END
$ cairn deploy pair.yaml
pair version 1  deployed
$ a=$(cairn start pair); b=$(cairn start pair); j=$(cairn job add mail.v1); k=$(cairn job add mail.v1)
$ end() { echo "${1: -8}"; }
$ cairn pause $(end $a); cairn resume ${a:0:-1}; cairn pause $(end $a | tr a-f A-F) -o ids
<id1>  paused
<id1>  running
<id1>
$ [ "$(cairn show $(end $a) -o json)" = "$(cairn show $a -o json)" ] && cairn events $(end $a) | wc -l
6
$ cairn why $(end $b) | head -1; cairn why $(end $j) | head -1
one: <*>
<*>
$ cairn job show $(end $j) -o json | grep -c "$j"; cairn job cancel $(end $j); cairn wait $(end $j) --timeout 1s; cairn wait $(end $k) -o ids --timeout 1ms
1
<id2>  cancelled
<id2>  cancelled
! cairn: the timeout of 1ms has passed: <*> is pending
!     No worker that serves mail.v1 is there.
!     cairn work --handle 'mail.v1=COMMAND'
[4]
$ cairn bulk cancel --by me --reason test $(end $a) ${b:0:-2} --dry-run -o json | grep -o '"n":[0-9]*'
"n":2
$ cairn bulk cancel --on jobs $(end $k) --no-wait | wc -l
1
# Several fit, or none does.
$ cairn show ${a:0:4} 2>&1 | cut -d: -f1-2 | sed "s/${a:0:4}/BEGIN/"
cairn: "BEGIN" may be 2 instances
    give more of the id
$ cairn show ${a:0:4} 2>/dev/null
[1]
$ cairn pause ${a:0:4} $(end $b) -o json 2>/dev/null | grep -o '"code":"[a-z]*"\|"status":"[a-z]*"'
"code":"conflict"
"status":"paused"
$ cairn resume ffffffff
! cairn: instance "ffffffff" does not exist: no id begins with it, and none of the newest 20,000 ends with it
!     give the id, 4 or more characters of its beginning, or, of the newest 20,000, its last 8
[1]
$ cairn job show ffff0
! cairn: job "ffff0" does not exist: no id begins with it
!     give the id, 4 or more characters of its beginning, or, of the newest 20,000, its last 8
[1]
$ cairn show fff; cairn wait ffffffff
! cairn: instance "fff" does not exist
! cairn: there is no instance or job ffffffff
!     give the id, 4 or more characters of its beginning, or, of the newest 20,000, its last 8
[1]
$ cairn why ffffffff
! cairn: there is no instance or job ffffffff
!     give the id, 4 or more characters of its beginning, or, of the newest 20,000, its last 8
[1]
$ cairn bulk pause ffffffff
! cairn: instance "ffffffff" does not exist: no id begins with it, and none of the newest 20,000 ends with it
!     give the id, 4 or more characters of its beginning, or, of the newest 20,000, its last 8
[1]
# An id of the other kind is said to be one; with several ids at each.
$ job=$(cairn job add other.v1); instance=$(cairn start pair --key other)
$ cairn show $job
! cairn: instance "<id3>" does not exist
!     it is a job: cairn job show <id3>
[1]
$ cairn pause $job ffffffff-ffff-4fff-8fff-ffffffffffff
! cairn: instance "<id3>" does not exist
!     it is a job: cairn job show <id3>
! cairn: instance "<id4>" does not exist
[1]
$ cairn job cancel $instance
! cairn: job "<id5>" does not exist
!     it is an instance: cairn show <id5>
[1]
# A key that looks like a part of an id is none.
$ cairn start pair --key ffffffff-1 >/dev/null; cairn show ffffffff 2>&1 | grep -c 'does not exist'
1
