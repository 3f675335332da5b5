# What a step has started is drawn below it, and so are the children of that.
$ printf 'workflow: day\nversion: 1\nsteps:\n  - fork: both\n    branches:\n      - [{start: first, workflow: order}]\n      - [{start: second, workflow: order}]\n' > day.yaml
$ printf 'workflow: order\nversion: 1\nsteps:\n  - start: bill\n    workflow: billing\n  - start: log\n    workflow: audit\n    wait: false\n' > order.yaml
$ printf 'workflow: billing\nversion: 1\nsteps:\n  - wait: paid\n    event: paid\n' > billing.yaml
$ printf 'workflow: audit\nversion: 1\nsteps:\n  - wait: seen\n    event: seen\n' > audit.yaml
$ cairn deploy day.yaml order.yaml billing.yaml audit.yaml > /dev/null
$ settle() { cairn work -q --handle nobody=cat --until-idle; }
$ day=$(cairn start day -o ids); settle
$ cairn show $day | sed '1,/^$/d'
● both (fork)              running
├─ … first (start)         waiting
│  └─ ● order              running         <id1>
│     └─ … bill (start)    waiting
│        └─ … billing      waiting_signal  <id2>, paid: Waits for the event paid, without limit.
├─ … second (start)        waiting
│  └─ ● order              running         <id3>
│     └─ … bill (start)    waiting
│        └─ … billing      waiting_signal  <id4>, paid: Waits for the event paid, without limit.
└─ ○ both_join (join all)  pending
# Two steps that start the same workflow have each their own; what is not waited for is named beside its step.
$ first=$(cairn list --workflow order -o ids | tail -1); bill=$(cairn list --parent $first -o ids)
$ cairn signal $bill paid > /dev/null; cairn pause $(cairn list --workflow billing --status active -o ids) > /dev/null; settle
$ cairn show $day | sed '1,/^$/d'
● both (fork)              running
├─ ✓ first (start)         completed
│  └─ ✓ order              completed  <id1>
│     └─ ✓ bill (start)    completed
│        └─ ✓ billing      completed  <id2>
├─ … second (start)        waiting
│  └─ ● order              running    <id3>
│     └─ … bill (start)    waiting
│        └─ ‖ billing      paused     <id4>, Paused <time>. 1 step is held.
└─ ○ both_join (join all)  pending
$ cairn list --parent none | sed 1d | awk '{print $2}'
audit
day
$ cairn list --count --parent none | grep running
running         1
$ cairn show $first | sed '1,/^$/d'
✓ bill (start)  completed
└─ ✓ billing    completed  <id2>
✓ log (start)   completed  started <id5>
# A step that begins again has another child; the earlier one is no longer drawn.
$ printf 'workflow: again\nversion: 1\nsteps:\n  - start: try\n    workflow: billing\n' > again.yaml
$ cairn deploy again.yaml > /dev/null; again=$(cairn start again -o ids); settle; old=$(cairn list --parent $again -o ids)
$ cairn abort $old --by me --reason test > /dev/null; settle; cairn show $again | sed '1,/^$/d'
✗ try (start)  failed   aborted
└─ – billing   aborted  <id6>
$ cairn retry $again > /dev/null; settle; cairn show $again | sed '1,/^$/d'; cairn list --parent $again -o ids | wc -l
… try (start)  waiting
└─ … billing   waiting_signal  <id7>, paid: Waits for the event paid, without limit.
2
# A map counts its elements and draws a few: those that failed first, then those under way.
$ printf 'workflow: post\nversion: 1\nsteps:\n  - map: mail\n    over: "{{ .readers }}"\n    max_parallel: 4\n    join: {at_least: 3}\n    steps:\n      - step: send\n        max_attempts: 1\n      - wait: answer\n        event: answer\n' > post.yaml
$ cairn deploy post.yaml > /dev/null; post=$(cairn start post --input '{"readers": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}' -o ids)
$ cairn work -q --concurrency 1 --handle 'send=read n; test $n -gt 6 || { echo no such reader >&2; exit 65; }' --until-idle
! no such reader
! no such reader
! no such reader
! no such reader
! no such reader
! no such reader
$ cairn show $post | sed '1,/^$/d'
… mail (map)    waiting  6 failed, 4 running of 12
├─ ✗ post:mail  failed   <id8>, send: no such reader
├─ ✗ post:mail  failed   <id9>, send: no such reader
├─ ✗ post:mail  failed   <id10>, send: no such reader
├─ ✗ post:mail  failed   <id11>, send: no such reader
├─ ✗ post:mail  failed   <id12>, send: no such reader
└─ … and 5 more: cairn list --parent <id13> --workflow post:mail
$ cairn list --parent $post --status failed -o ids | wc -l
6
$ for id in $(cairn list --parent $post --status waiting_signal -o ids | head -3); do cairn signal $id answer; done > /dev/null
$ cairn work -q --handle 'send=cat' --until-idle; cairn show $post | sed '1,/^$/d'
✓ mail (map)    completed  3 done, 6 failed, 3 cancelled of 12
├─ ✗ post:mail  failed     <id8>, send: no such reader
├─ ✗ post:mail  failed     <id9>, send: no such reader
├─ ✗ post:mail  failed     <id10>, send: no such reader
├─ ✗ post:mail  failed     <id11>, send: no such reader
├─ ✗ post:mail  failed     <id12>, send: no such reader
└─ … and 7 more: cairn list --parent <id13> --workflow post:mail
# For programs nothing has changed: the instance, its steps and decisions.
$ cairn show $post -o json | jq -c '[has("children"), (.steps | length), (.decisions | length)]'
[false,1,0]
