# stores: sqlite
# Where the definition is gone, or is another's, the steps are a flat list.
$ sql() { python3 -c 'import os, sqlite3, sys; c = sqlite3.connect(os.environ["CAIRN_URL"][7:]); c.execute(sys.argv[1]); c.commit()' "$1"; }
$ printf 'workflow: w\nversion: 1\nsteps: [{parallel: p, steps: [{step: a}, {step: b}]}, {step: c}]\n' | cairn deploy -
w version 1  deployed
$ id=$(cairn start w); cairn show $id | sed '1,/^$/d'
● p (parallel)          running
├─ ○ a                  ready
├─ ○ b                  ready
└─ ○ p_join (join all)  pending
○ c                     pending
$ sql "UPDATE workflow_definition SET content = '{\"steps\":[{\"parallel\":\"p\",\"steps\":[{\"step\":\"a\"}]},{\"step\":\"b\"},7,{}]}'"
$ cairn show $id | sed '1,/^$/d'
✓ p (fork)       completed
○ a              ready
○ b              ready
○ p_join (join)  pending
○ c              pending
$ sql 'DELETE FROM workflow_definition'
$ cairn show $id | sed '1,/^$/d'
✓ p (fork)       completed
○ a              ready
○ b              ready
○ p_join (join)  pending
○ c              pending
