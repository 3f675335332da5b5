# What starts by itself.
$ cairn schedule list 2>/dev/null; cairn schedule set nightly --cron '30 2 * * MON-FRI' --tz Asia/Kolkata --job report.v1 --input '{"kind": "short"}' | sed 's/at .*/at TIME/'
nightly  next at TIME
$ cairn schedule set ping --every 90s --job ping.v1 --overlap queue --catch-up none --paused
ping  paused
$ cairn schedule list | sed 's|in [0-9]*[dhms]|SOON|' | awk '{$1 = $1} 1'
NAME WHEN STARTS NEXT LAST RUNS
nightly 30 2 * * MON-FRI Asia/Kolkata job report.v1 SOON -
ping every 90s job ping.v1 paused -
$ cairn schedule list -o ids
nightly
ping
$ cairn schedule next nightly --count 2 -o json | grep -o 'T02:30:00+05:30' | wc -l
2
$ cairn schedule next ping | wc -l
6
$ id=$(cairn schedule trigger ping -o ids); cairn job show $(cairn job list -o ids) | grep -E '^(type|schedule|status)'
type         ping.v1
status       pending
schedule     ping
$ cairn work -q --handle 'ping.v1=exit 65' --until-idle; cairn schedule show ping | grep -vE '_at'
name         ping
when         every 90s
starts       job ping.v1
overlap      queue
catch_up     none
runs         <time> failed <id1>
$ cairn schedule trigger ping > /dev/null; cairn work -q --handle 'ping.v1=true' --until-idle; cairn schedule show ping | grep -o '; .* failed'
; <time> failed
$ cairn schedule resume ping | sed 's/at .*/at TIME/'
ping  next at TIME
$ cairn schedule pause ping nightly --by ann --reason holidays
ping  paused
nightly  paused
$ cairn schedule set nightly --cron '0 24 * * *' --job report.v1
! cairn: cron: hour "24" is out of range
!     allowed are * and numbers from 0 to 23, with ranges (0-2), steps (*/2) and lists (0,2)
[2]
$ cairn schedule set nightly --cron '0 2 * * *' --tz Atlantis --job report.v1
! cairn: time zone "Atlantis" does not exist
!     give an IANA name such as Europe/Berlin, or UTC
[2]
$ cairn schedule set nightly --cron '0 2 * * *' --every 1h --job report.v1
! cairn: --cron and --every exclude each other
[2]
$ cairn schedule set nightly --job report.v1
! cairn: schedule set needs --cron EXPR or --every, and --workflow NAME or --job
[2]
$ cairn schedule remove nightly
nightly  removed
$ cairn schedule show nightly
! cairn: schedule "nightly" does not exist
[1]
