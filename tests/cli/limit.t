# How many tasks may be leased at one time, or begin in a time.
$ cairn limit set mail --types 'mail.%' --concurrency 2 --rate 100/1m
mail  mail.%: 2 at a time, 100/1m
$ cairn limit set tenants --types import.v1 --concurrency 1 --per-group
tenants  import.v1: 1 at a time, for each group
$ cairn limit list | awk '{$1 = $1} 1'
NAME TYPES CONCURRENCY RATE PER TAKEN WAITING
mail mail.% 2 100/1m store 0 0
tenants import.v1 1 group 0 0
$ cairn limit show mail | grep -v _at
name         mail
types        mail.%
concurrency  2
rate         100/1m
per          store
taken        0
waiting      0
$ cairn limit show tenants -o json | grep -o '"concurrency": *1,\|"rate": *null\|"per_group": *true' | tr -d ' '
"concurrency":1,
"rate":null
"per_group":true
$ for group in a a b; do cairn job add import.v1 --group $group >/dev/null; done; cairn job show $(cairn job list -o ids | head -1) | grep group
group        b
$ cairn limit show tenants | grep 'taken\|waiting'
taken        0
waiting      3
$ cairn limit set none --types t
! cairn: concurrency or rate must be given
[2]
$ cairn limit set none --concurrency 1
! cairn: limit set needs --types PATTERN
[2]
$ cairn limit set none --types t --rate 5
! cairn: --rate cannot be "5": it takes a number and a duration, such as 100/1m
[2]
$ cairn limit remove mail tenants other
mail  removed
tenants  removed
! cairn: limit "other" does not exist
[1]
$ cairn limit list
NAME  TYPES  CONCURRENCY  RATE  PER  TAKEN  WAITING
