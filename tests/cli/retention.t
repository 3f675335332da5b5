# How long history is kept.
$ cairn migrate >/dev/null; cairn retention
WHAT       STATUS     KEPT
jobs       succeeded  30d
jobs       failed     90d
jobs       cancelled  30d
instances  completed  30d
instances  failed     90d
instances  cancelled  30d
instances  aborted    90d
keys       -          90d
$ cairn retention set --jobs succeeded=7d,failed=90m --instances failed=never --keys 1y
WHAT       STATUS     KEPT
jobs       succeeded  7d
jobs       failed     90m
jobs       cancelled  30d
instances  completed  30d
instances  failed     never
instances  cancelled  30d
instances  aborted    90d
keys       -          365d
$ cairn retention show -o json | python3 -c 'import json, sys; a = json.load(sys.stdin); print(a["jobs"]["failed"], a["instances"]["failed"], a["keys_ms"], a["set_at"] is not None)'
5400000 None 31536000000 True
$ cairn retention set
! cairn: say what: --jobs, --instances or --keys
[2]
$ cairn retention set --jobs succeeded
! cairn: --jobs cannot be "succeeded": an age is a duration such as 7d or 12h, a number of years such as 1y, or never
[2]
$ cairn retention set --keys soon 2>&1 | cut -c1-30
cairn: --keys cannot be "soon"
$ cairn retention set --jobs running=1d 2>&1 | head -1
cairn: jobs may have succeeded, failed and cancelled, each in milliseconds up to a hundred years, or null for ever
# A purge by hand.
$ for n in 1 2 3; do cairn job add mail.v1 --key m$n >/dev/null; done; cairn job add post.v1 >/dev/null
$ cairn work --handle mail.v1=cat --until-idle -q
$ cairn purge
! cairn: say which: --older-than, --status, --workflow or --type
[2]
$ cairn purge --older-than 1d
removed 0 jobs and 0 instances
$ cairn purge --older-than 0s --dry-run
would remove 3 jobs and 0 instances
$ cairn purge --status succeeded,completed -o json
{"jobs":3,"instances":0,"next":null}
$ cairn job list -o ids | wc -l
1
$ cairn job add mail.v1 --key m2 -o json | sed 's/"id":"[^"]*"/ID/'
{ID,"existing":true}
$ cairn purge --status running 2>&1 | cut -c1-30
cairn: status must be succeede
# What is read creates nothing.
$ cairn retention --url sqlite:none.db 2>&1 | head -1 | sed 's/.*: //'
there is no such file
$ ls none.db 2>/dev/null
[2]
$ cairn retention set --keys 1d --url sqlite:new.db >/dev/null; ls new.db
new.db
