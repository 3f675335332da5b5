# A workflow file is checked without a store; all that is wrong is told with its place.
$ cat > order.yaml <<'END'
> workflow: order
> version: 1
> steps:
>   - step: reserve
>     handler: billing.reserve.v1
>   - wait: settled
>     event: payment.settled
>   - step: ship
>     max_attempts: 1
> END
$ cairn validate order.yaml
order.yaml: ok
$ printf 'workflow: bad\nversion: 0\nsteps:\n  - step: a\n    colour: red\n  - step: a\n' > bad.yaml
$ cairn validate order.yaml bad.yaml
order.yaml: ok
! bad.yaml:2:10: workflow "bad": version must be a whole number from 1
! bad.yaml:5:5: step "a": unknown key "colour"
! bad.yaml:6:11: step "a": the name is already used in line 4
[1]
$ cairn validate bad.yaml -o json
{"items":[{"file":"bad.yaml","flaws":[{"line":2,"column":10,"message":"workflow \"bad\": version must be a whole number from 1"},{"line":5,"column":5,"message":"step \"a\": unknown key \"colour\""},{"line":6,"column":11,"message":"step \"a\": the name is already used in line 4"}]}]}
[1]
$ cairn validate nothing.yaml
! cairn: could not read "nothing.yaml": No such file or directory
[2]
$ cairn validate - < order.yaml
(standard input): ok
# Deploying the same again changes nothing; other content under the same version is refused.
$ cairn migrate >/dev/null; cairn workflows
NAME  VERSION  KIND  DEPLOYED  HASH
$ cairn deploy bad.yaml order.yaml
! bad.yaml:2:10: workflow "bad": version must be a whole number from 1
! bad.yaml:5:5: step "a": unknown key "colour"
! bad.yaml:6:11: step "a": the name is already used in line 4
[1]
$ cairn workflows -o json
{"items":[],"next":null}
$ cairn deploy order.yaml
order version 1  deployed
$ cairn deploy order.yaml
order version 1  existing
$ sed 's/ship/send/' order.yaml > other.yaml
$ cairn deploy other.yaml
! cairn: cannot deploy workflow "order" version 1: it is already deployed with different content
!     raise the version to 2
[1]
$ sed 's/version: 1/version: 2/' other.yaml | cairn deploy - -o json
{"name":"order","version":2,"hash":"a40013b2d700168beae9a40ebb0d2c3f0d9836d67c081159d96d95d85c9952d1","existing":false}
$ cairn workflows | sed 's/  *[0-9a-f]\{12\}$//'
NAME  VERSION  KIND  DEPLOYED  HASH
order  1  workflow  <ago>
order  2  workflow  <ago>
$ cairn workflows --limit 1 -o json | python3 -c 'import json,sys; print(json.load(sys.stdin)["items"][0]["definition"]["steps"][1])'
{'wait': 'settled', 'event': 'payment.settled'}
# A file that is there is drawn, else what is deployed.
$ cairn graph order.yaml
order, version 1
├─ step reserve · billing.reserve.v1
├─ wait settled · for payment.settled
└─ step ship
$ cairn graph order | tail -1
└─ step send
$ cairn graph order --version 1 | tail -1
└─ step ship
$ cairn graph order --form dot | head -1
digraph "order" {
$ cairn graph order --form mermaid | head -1
flowchart TD
$ cairn graph nothing
! cairn: workflow "nothing" does not exist
!     nor is there a file of this name
[1]
$ cairn graph bad.yaml
! cairn: bad.yaml:2:10: workflow "bad": version must be a whole number from 1
!     5:5: step "a": unknown key "colour" 6:11: step "a": the name is already used in line 4
[1]
