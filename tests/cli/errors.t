# What went wrong, in groups.
$ for i in 1 2 3; do cairn job add mail.v1 --payload $i >/dev/null; done; cairn job add post.v1 >/dev/null
$ cairn work -q --handle 'mail.v1=read n; test $n = 2 && echo bounced >&2 || echo "user $n unknown" >&2; exit 65' --handle 'post.v1=echo no stamp >&2; exit 65' --concurrency 1 --until-idle 2>/dev/null
$ cairn errors --of jobs | sed 's/^\([0-9]*\)  *[0-9a-f]\{12\} /\1 G /'
N  GROUP  WORKFLOW  STEP  LAST  NEWEST  ERROR
2 G  mail.v1  <ago>  <id1>  user # unknown
1 G  post.v1  <ago>  <id2>  no stamp
1 G  mail.v1  <ago>  <id3>  bounced
$ group=$(cairn errors --of jobs --limit 1 -o ids); cairn job list --group $group -o json | grep -o '"last_error":"[^"]*"'
"last_error":"user 3 unknown"
"last_error":"user 1 unknown"
$ cairn errors --of jobs --type 'post.%' -o json
{"items":[{"group":"c5769003d7c9","workflow":null,"step":null,"type":"post.v1","is_undo":false,"pattern":"no stamp","sample":"no stamp","n":1,"first_at":"<time>","last_at":"<time>","newest":"<id2>"}],"next":null}
$ cairn errors
N  GROUP  WORKFLOW  STEP  LAST  NEWEST  ERROR
$ cat > load.yaml <<'END'
> workflow: load
> version: 1
> dlq: true
> steps: [{step: read, max_attempts: 1}, {step: write}]
> END
$ cairn deploy load.yaml >/dev/null; a=$(cairn start load); b=$(cairn start load); cairn work -q --handle 'read=echo "no file \"$CAIRN_INSTANCE\"" >&2; exit 1' --concurrency 1 --until-idle 2>/dev/null
$ cairn errors --workflow load | sed 's/ [0-9a-f]\{12\} / G /'
N  GROUP  WORKFLOW  STEP  LAST  NEWEST  ERROR
2  G  load  read  <ago>  2  no file #
$ cairn dlq list --group $(cairn errors -o ids) -o ids; cairn dlq list --instance $b -o ids; cairn dlq list --step write
2
1
2
ID  INSTANCE  WORKFLOW  STEP  CREATED  REASON  ERROR
# The group of a task is another one.
$ cairn job list --group tenant-7
! cairn: group must be a group of errors, 12 hexadecimal digits, as `cairn errors` and GET /v1/errors name it
[2]
$ cairn errors --of steps
! cairn: --of cannot be "steps": it takes one of: dlq instances jobs
[2]
