# Steps, signals and versions, each alone.
$ cat > pair.yaml <<'END'
> workflow: pair
> version: 1
> steps: [{step: one, handler: copy}, {wait: it, event: paid}]
> END
$ cairn deploy pair.yaml
pair version 1  deployed
$ id=$(cairn start pair --input '{"n": 1}'); cairn signal $id other --id s1 --payload '{"a":1}' | cut -d' ' -f3
kept
$ cairn work --handle copy=cat --until-idle -q
$ cairn steps $id
SEQ  STEP  KIND  STATUS  ATTEMPT  WORKER  ENDED  ID  ERROR
0  one  task  completed  1/3  <ago>  <id1>.0
1  it  wait  waiting  -  <id1>.1
$ cairn steps ${id: -8} -o ids --limit 1
<id1>.0
! There are more: add --cursor <*> or --all
$ cairn step $id.1 | head -7
id           <id1>.1
instance_id  <id1>
name         it
kind         wait
status       waiting
why          Waits for the event paid, without limit.
hint         cairn signal <id1> paid
$ cairn step $id.0 -o json | python3 -c 'import json, sys; print([(it["n"], it["kind"], it["outcome"]) for it in json.load(sys.stdin)["attempts_list"]])'
[(1, 'call', 'completed')]
$ cairn step $id.9
! cairn: step "<id1>.9" does not exist
[1]
$ cairn signal $id paid --id s2 >/dev/null; cairn signals $id
ID  EVENT  RECEIVED  TAKEN_BY  PAYLOAD
s1  other  <ago>  {"a":1}
s2  paid  <ago>  1
$ sed 's/version: 1/version: 2/' pair.yaml > more.yaml; cairn deploy more.yaml
pair version 2  deployed
$ cairn versions pair | cut -c1-17
VERSION  KIND
2        workflow
1        workflow
$ cairn versions nobody
! cairn: workflow "nobody" does not exist
[1]
$ cairn workflows --view summary; cairn workflows --view summary --kind function
NAME  KIND  NEWEST  LAST_START  INSTANCES
pair  workflow  2  <ago>  completed 1
NAME  KIND  NEWEST  LAST_START  INSTANCES
$ cairn about | cut -d' ' -f1 | tr '\n' ' '; cairn about -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["page"])'
version store clock now started_at features limits None
