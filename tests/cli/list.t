# Newest first, with filters.
$ cairn migrate >/dev/null; cairn job list
ID  TYPE  STATUS  ATTEMPT  PRIORITY  DUE  CREATED  KEY
$ cairn job add a.one.v1 >/dev/null; cairn job add a.two.v1 --key k2 --in 30d >/dev/null; cairn job add b.one.v1 --priority 7 >/dev/null
$ cairn job list
ID  TYPE  STATUS  ATTEMPT  PRIORITY  DUE  CREATED  KEY
<id1>  b.one.v1  pending  0/3  7  <ago>  <ago>
<id2>  a.two.v1  pending  0/3  100  in 29d  <ago>  k2
<id3>  a.one.v1  pending  0/3  100  <ago>  <ago>
$ cairn job list --type 'a.%' -o ids
<id2>
<id3>
$ cairn job list --key k2 -o ids
<id2>
$ cairn job list --status pending -o ids | wc -l
3
$ cairn job list --status failed -o ids
# Pages: what follows is named, in JSON as "next".
$ cairn job list --limit 2 -o ids >ids 2>more; wc -l <ids; sed 's/cursor .* or/cursor CURSOR or/' more
2
There are more: add --cursor CURSOR or --all
$ next=$(cairn job list --limit 2 -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["next"])')
$ cairn job list --limit 2 --cursor "$next" -o ids
<id3>
$ cairn job list --cursor nonsense
! cairn: cursor is invalid
[2]
# JSON is one document, whatever the number of pages.
$ seq 1 1500 | cairn job add c.v1 --payloads-from - >/dev/null
$ cairn job list --all -o json | python3 -c 'import json,sys; a=json.load(sys.stdin); print(len(a["items"]), a["next"], len({i["id"] for i in a["items"]}))'
1503 None 1503
$ cairn job list --type none -o json
{"items":[],"next":null}
# Several statuses, groups of them, keys by their beginning, texts, times.
$ cairn job list --status pending,failed --type 'a.%' -o ids
<id2>
<id3>
$ cairn job list --status ended -o ids; cairn job list --status active --key 'k%' -o ids
<id2>
$ cairn job add d.v1 --payload '{"to": "Atlantis"}' >/dev/null; cairn job list --has Atlantis | sed 1d | cut -d' ' -f3
d.v1
$ cairn job list --due false -o ids
<id2>
$ cairn job list --since 1h --until 2999-01-01T00:00:00Z --type 'b%' -o ids
<id1>
$ cairn job list --until 1h -o ids
$ cairn job list --since yesterday
! cairn: --since cannot be "yesterday": it takes a time in RFC 3339, such as 2030-01-31T06:30:00Z, or a duration before now, such as 90s or 1h30m
[2]
# How many there are of each status.
$ cairn job list --count
STATUS     COUNT
pending    1504
leased     0
succeeded  0
failed     0
cancelled  0
$ cairn job list --count --type 'a.%' --status failed,pending -o json
{"counts":{"pending":{"n":2,"is_more":false},"failed":{"n":0,"is_more":false}}}
$ cairn job list --count --status ended | sed 1d | cut -d' ' -f1 | tr '\n' ' '
succeeded failed cancelled
$ cairn job list --count --status gone; cairn job list --count --has x; cairn job list --count -o ids
! cairn: --status cannot be "gone": it takes one or several of: pending leased succeeded failed cancelled active ended
! cairn: --count cannot be used with --has
! cairn: --count cannot be used with -o ids
[2]
$ cairn list --count --status active -o json
{"counts":{"pending":{"n":0,"is_more":false},"running":{"n":0,"is_more":false},"waiting_signal":{"n":0,"is_more":false},"paused":{"n":0,"is_more":false},"compensating":{"n":0,"is_more":false},"dlq":{"n":0,"is_more":false}}}
# Of a workflow, where those stand that have begun and not ended.
$ printf 'workflow: nap\nversion: 1\nsteps:\n  - sleep: nap\n    for: 1h\n' > nap.yaml; cairn deploy nap.yaml > /dev/null; cairn start nap -o ids > id
$ cairn list --count --by stand --workflow nap
STAND     COUNT
lost      0
running   0
retrying  0
sleeping  1
waiting   0
$ cairn list --stand sleeping -o ids | diff - id; cairn list --stand waiting -o ids
$ cairn list --count --by stand --workflow nap --status running
! cairn: --count --by stand cannot be used with --status
[2]
$ cairn list --count --stand sleeping
! cairn: --count cannot be used with --stand
[2]
$ cairn list --count --by stand
! cairn: by stand needs a workflow
[2]
# A search looks at 20,000 at a time, or for 100 ms; a page that is empty for that reason is followed.  Whether
# more is left behind what was found depends on the time that it took.
$ seq 1 21000 | cairn job add e.v1 --payloads-from - >/dev/null; cairn job list --has Atlantis 2>/dev/null | sed 1d | cut -d' ' -f3
d.v1
$ cairn job list --has Atlantis -o json | python3 -c 'import json,sys; a=json.load(sys.stdin); print(len(a["items"]), a["items"][0]["type"])'
1 d.v1
$ cairn job list --has Nowhere
ID  TYPE  STATUS  ATTEMPT  PRIORITY  DUE  CREATED  KEY
