# stores: sqlite
# Wrong usage is named, the nearest right one is offered, and the exit code is 2.
$ cairn jbo list
! cairn: "jbo" is not a command
!     Did you mean: cairn job
!     All commands: cairn help
[2]
$ cairn job lsit
! cairn: "job lsit" is not a command
!     Did you mean: cairn job list
!     All commands: cairn help
[2]
$ cairn lsit
! cairn: "lsit" is not a command
!     Did you mean: cairn list
!     All commands: cairn help
[2]
# Two wrong letters of three are no spelling mistake.
$ cairn foo
! cairn: "foo" is not a command
!     All commands: cairn help
[2]
$ cairn help job foo
! cairn: "job foo" is not a command
!     All commands: cairn help
[2]
$ cairn xyzzy
! cairn: "xyzzy" is not a command
!     All commands: cairn help
[2]
$ cairn job
! cairn job: add, list, show and control jobs
!
! Commands:
!   job add          add a job, and print its id
!   job list         list jobs, newest first
!   job show         show all fields of jobs
!   job events       print the events of a job, oldest first
!   job cancel       cancel jobs that have not ended
!   job retry        make failed or cancelled jobs pending again
!   job delete       delete jobs; they are no longer claimed or listed
!
! More: cairn job COMMAND --help
[2]
# One of two options is needed.
$ cairn schedule set nightly --every 5m
! cairn: schedule set needs --cron EXPR or --every, and --workflow NAME or --job
[2]
$ cairn schedule set nightly --job mail.v1
! cairn: schedule set needs --cron EXPR or --every, and --workflow NAME or --job
[2]
$ cairn job list --statsu failed
! cairn: --statsu is not an option of cairn job list
!     Did you mean: --status
!     All options: cairn job list --help
[2]
$ cairn --bad
! cairn: --bad is not an option of cairn
!     All options: cairn --help
[2]
$ cairn job list -x
! cairn: -x is not an option of cairn job list
!     All options: cairn job list --help
[2]
$ cairn job list --status done
! cairn: --status cannot be "done": it takes one or several of: pending leased succeeded failed cancelled active ended
[2]
$ cairn job list --limit many
! cairn: --limit cannot be "many": it takes an integer from 1 to 1000
[2]
$ cairn job list --limit 0
! cairn: --limit cannot be "0": it takes an integer from 1 to 1000
[2]
$ cairn job list --limit 1001
! cairn: --limit cannot be "1001": it takes an integer from 1 to 1000
[2]
$ cairn job list --limit
! cairn: --limit needs a value: --limit N
[2]
$ cairn job list --all=yes
! cairn: --all takes no value
[2]
$ cairn job list -o xml
! cairn: --output cannot be "xml": it takes one of: table json ids
[2]
$ cairn doctor -o ids
! cairn: --output cannot be "ids": it takes one of: table json
[2]
$ cairn job add
! cairn: job add needs TYPE
!     Usage: cairn job add TYPE [options]
[2]
$ cairn job add a.v1 b.v1
! cairn: job add cannot take "b.v1"
!     Usage: cairn job add TYPE [options]
[2]
$ cairn job add a.v1 --at tomorrow
! cairn: --at cannot be "tomorrow": it takes a time in RFC 3339, such as 2030-01-31T06:30:00Z
[2]
$ cairn job add a.v1 --in 5
! cairn: --in cannot be "5": it takes a duration: integers with d, h, m, s or ms, such as 90s or 1h30m
[2]
$ cairn job add a.v1 --in 5s --at 2030-01-31T06:30:00Z
! cairn: --at and --in exclude each other
[2]
$ cairn job add a.v1 --max-attempts 0
! cairn: --max-attempts cannot be "0": it takes an integer from 1 to 2147483647
[2]
$ cairn job add a.v1 --priority 99999999999
! cairn: --priority cannot be "99999999999": it takes an integer from -2147483648 to 2147483647
[2]
$ cairn work
! cairn: work needs a handler: --handle TYPE=COMMAND
!     Example: cairn work --handle 'hello.v1=cat' --until-idle
[2]
$ cairn work --handle nothing
! cairn: --handle cannot be "nothing": it takes TYPE=COMMAND
[2]
$ cairn work --handle '=cat'
! cairn: --handle cannot be "=cat": it takes TYPE=COMMAND
[2]
$ cairn work --handle a.v1=cat --handle a.v1=true
! cairn: --handle has two commands for "a.v1"
[2]
$ cairn completion tcsh
! cairn: cannot complete for "tcsh": it takes bash, zsh or fish
[2]
$ cairn job add a.v1 --in 30m1h
! cairn: --in cannot be "30m1h": it takes a duration: integers with d, h, m, s or ms, such as 90s or 1h30m
[2]
$ cairn start w --timeout 1s
! cairn: --timeout needs --wait
[2]
$ cairn work --handle a.v1=cat --quiet --verbose
! cairn: --quiet and --verbose exclude each other
[2]
# What other tools call it.
$ for word in jobs ls get describe terminate enqueue 'job ls' 'job get' 'dlq retry' 'dlq ls' stop run worker history 'registry ls'; do cairn $word 2>&1 | sed -n "s/^ *Did you mean:/$word:/p"; done
jobs: cairn job list
ls: cairn list
get: cairn show
describe: cairn show
terminate: cairn abort
enqueue: cairn job add
job ls: cairn job list
job get: cairn job show
dlq retry: cairn dlq requeue
dlq ls: cairn dlq list
stop: cairn cancel
run: cairn start
worker: cairn work
history: cairn events
registry ls: cairn registry list
$ cairn help nothing
! cairn: "nothing" is not a command
!     All commands: cairn help
[2]
$ cairn help jobs
! cairn: "jobs" is not a command
!     Did you mean: cairn help job list
!     All commands: cairn help
[2]
$ cairn help wrok
! cairn: "wrok" is not a command
!     Did you mean: cairn help work
!     All commands: cairn help
[2]
$ cairn registry set a.v1
! cairn: registry set needs --runtime RUNTIME
[2]
$ cairn registry set a.v1 --runtime go --enable --disable
! cairn: --enable and --disable exclude each other
[2]
$ cairn bench jobs --raw --url http://127.0.0.1:1
! cairn: --raw cannot be used with "http://127.0.0.1:1": it speaks to sqlite: and postgres: only
[2]
$ cairn job events a --follow -o json
! cairn: --follow cannot print one JSON document: leave one of them out
[2]
# A wrong URL is wrong usage, too.
$ cairn job list --url nonsense
! cairn: cannot open "nonsense": no store has such a URL
!     use sqlite:FILE, postgres://HOST/DATABASE or http://HOST:PORT
[2]
# Nothing of this has made a store.
$ ls -A . ..
.:

..:
.logs
script
work
# An option is found by its beginning, by its spelling, by a part of its name and by what others call it.
$ for option in --prio --delay --attempts --payloda --zebra; do cairn job add t.v1 $option 5 2>&1 | sed -n 2p; done
    Did you mean: --priority
    Did you mean: --in
    Did you mean: --max-attempts
    Did you mean: --payload
    All options: cairn job add --help
# A text that is not UTF-8 is named.
$ cairn job add "$(printf 'a\377')"
! cairn: the type is not UTF-8
[2]
$ cairn job add t.v1 --key "$(printf 'a\377')"
! cairn: --key is not UTF-8
[2]
$ cairn job list --count --by status
STATUS     COUNT
pending    0
leased     0
succeeded  0
failed     0
cancelled  0
$ cairn job list --by status
! cairn: --by needs --count
[2]
$ cairn job list --count --by stand
! cairn: --by cannot be "stand": it takes one of: status
[2]
