# Who works, and for which types.
$ cairn job add mail.v1 >/dev/null; cairn job add post.v1 >/dev/null; cairn workers; cairn types
NAME  STATE  TYPES  HOLDS  PLACES  LAST_SEEN  RUNTIME  VIA
TYPE  READY  OLDEST  LATER  LEASED  WORKERS  SERVED  RUNTIME
mail.v1  1  <ago>  0  0  0  no
post.v1  1  <ago>  0  0  0  no
$ mkfifo started go; cairn work -q --name w1 --handle 'mail.v1=echo > started; read x < go' --until-idle & read < started; cairn workers | sed 's/  *[^ ]*$//'; cairn types; echo > go; wait
NAME  STATE  TYPES  HOLDS  PLACES  LAST_SEEN  RUNTIME
w1  live  mail.v1  1  5  <ago>
TYPE  READY  OLDEST  LATER  LEASED  WORKERS  SERVED  RUNTIME
mail.v1  0  0  1  1  yes
post.v1  1  <ago>  0  0  0  no
$ cairn workers -o ids; cairn types -o ids
post.v1
# A worker that has ended is not there any more.
$ cairn why $(cairn job list --status pending -o ids)
No worker that serves post.v1 is there.
    cairn work --handle 'post.v1=COMMAND'
$ cairn doctor | grep '^workers'
workers    warning  tasks of 1 type are ready and no live worker serves them, such as "post.v1": start one; see cairn types and cairn workers
# What needs a person, how much happens, and where it waits.
$ cairn overview | grep -v '^happened\|^calls'
needs  unserved_types 1
instances  -
waiting  post.v1 1 (<ago>, no worker)
workers  -
$ cairn overview --range 7d -o json | python3 -c 'import json, sys; a = json.load(sys.stdin); print(sorted(a), len(a["series"]["started"]))'
['counts', 'errors', 'needs', 'recent', 'series', 'types', 'workers'] 168
$ cairn overview --range 2h
! cairn: --range cannot be "2h": it takes one of: 1h 6h 24h 7d 30d
[2]
