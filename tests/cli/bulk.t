# One action on all that match.
$ for i in 1 2 3; do cairn job add mail.v1 >/dev/null; done; cairn job add post.v1 >/dev/null
$ cairn bulk cancel --on jobs --type mail.v1 --dry-run | sed 's/^[0-9a-f]\{8\}-.*/ID/'
3 match
ID
ID
ID
$ cairn bulk cancel --on jobs --type 'mail.%' 2>/dev/null
done: 3 done, 0 skipped
$ cairn bulk retry --on jobs --all 2>/dev/null
done: 3 done, 1 skipped, wrong_state 1
$ cairn bulk delete --on jobs $(cairn job list --type post.v1 -o ids) -o json 2>/dev/null | python3 -c 'import json, sys; a = json.load(sys.stdin); print(a["on"], a["action"], a["status"], a["done"], a["filter"])'
jobs delete done 1 None
$ cairn job list --status pending -o ids | wc -l
3
# A filter must be said, and an action that exists.
$ cairn bulk retry
! cairn: say which: by options such as --status failed, by ids, or by --all
[2]
$ cairn bulk explode --all 2>&1 | head -1
cairn: action "explode" does not exist for instances
# Instances are also chosen by their parent, and by where they stand.
$ cairn bulk pause --parent none --stand running --dry-run
0 match
$ cairn bulk pause --parent mine --dry-run 2>&1 | head -1
cairn: filter.parent must be the id of an instance, or none
$ cairn bulk cancel --all
! cairn: by is missing: who stops many says who and why, as by and reason
[2]
# One that nobody waited for is looked at by its id, and ended.
$ id=$(cairn bulk cancel --on jobs --type mail.v1 --by me --reason test --per-second 1 --limit 2 --no-wait); cairn bulk show $id | sed 's/: [0-9]* done.*//' | sed 's/^running$\|^done$/begun/'
begun
$ cairn bulk stop $id -o json | python3 -c 'import json, sys; a = json.load(sys.stdin); print(a["action"], a["on"], a["status"] in ("stopped", "done"))'
cancel jobs True
$ cairn bulk show $id | grep -c '^\(stopped\|done\): [012] done, 0 skipped$'
1
$ cairn bulk show
! cairn: show takes the id of one bulk action
[2]
$ cairn bulk stop $id --all
! cairn: stop takes the id of one bulk action
[2]
$ cairn bulk show 00000000-0000-7000-8000-000000000000 2>&1 | head -1
cairn: bulk action "<*>" does not exist
