# The store itself.
$ newest() { sed -E 's/version [0-9]+/version N/g; s/"(from|to|number)":[1-9][0-9]*/"\1":N/g' | sed '4,$d'; }
$ sql() { case $CAIRN_URL in sqlite:*) python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()' "${CAIRN_URL#sqlite:}" "$1";;
> *) psql -qd "$CAIRN_URL" -c "$(echo "$1" | sed 's/workflow_migration/workflow.cairn_schema/g; s/number/version/g')";; esac; }
# Nothing is made by a dry run.
$ cairn migrate --dry-run | newest
<url>: would create the tables, version N
  0001_jobs: the <*>
  0002_workflows: definitions, instances<*>
$ cairn migrate --dry-run -o json | python3 -c 'import json, sys; plan = json.load(sys.stdin); print(plan["from"], len(plan["would_apply"]) > 20, *plan["would_apply"][0].values(), sep="|")'
0|True|1|0001_jobs|the <*>|none; the store is new
$ cairn list
! cairn: could not open <*>
!     check the URL; to create <*>: cairn migrate --url <*>
[3]
$ plain() { sed -E 's/version [0-9]+/version N/; s/"(from|to)":[1-9][0-9]*/"\1":N/g; /applied 0+[4-9]|applied 0+[1-9][0-9]/d'; }
$ cairn migrate | plain
<url>: created the tables, version N
  applied 0001_jobs
  applied 0002_workflows
  applied 0003_functions
$ cairn migrate | plain
<url>: nothing to do; the tables have version N
$ cairn migrate -o json | plain
{"url":"<url>","from":N,"to":N,"applied":[]}
$ cairn migrate --dry-run | plain; cairn migrate --dry-run -o json | plain
<url>: nothing to do; the tables have version N
{"url":"<url>","from":N,"to":N,"would_apply":[]}
# A store that is behind stays so, and one that is newer is refused.
$ sql 'DELETE FROM workflow_migration WHERE number >= 13'
$ cairn migrate --dry-run | newest
<url>: would bring the tables from version N to version N
  0013_pauses: who has paused an instance, why and when; NULL unless it is paused
      locks: <*>
$ cairn migrate --dry-run -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["would_apply"][0]["name"])'
0013_pauses
$ case $CAIRN_URL in sqlite:*) cairn migrate --dry-run | sed -n 3p;; *) echo '      locks: all writers, until it is done';; esac
      locks: all writers, until it is done
$ cairn migrate --dry-run | grep -c 'locks: .'  | sed 's/^1[0-9]$\|^[2-9][0-9]$/each/'
each
$ sql "INSERT INTO workflow_migration (number, name, applied_at) SELECT 9999, 'later', applied_at FROM workflow_migration WHERE number = 1"
$ cairn migrate --dry-run
! cairn: cannot <*>9999<*>
!     use <*>
[3]
$ sql 'DELETE FROM workflow_migration WHERE number >= 13'
$ cairn migrate --dry-run | head -2 | tail -1 | cut -d: -f1
  0013_pauses
$ rm -f cairn.db; cairn migrate --dry-run --url sqlite:other.db | newest | head -1; ls
sqlite:other.db: would create the tables, version N
# No store from here on but that of the next command.
$ cairn migrate --url sqlite:other.db | head -1 | newest; export CAIRN_URL=sqlite:other.db
sqlite:other.db: created the tables, version N
$ cairn doctor | head -1
CHECK      RESULT  FINDING
$ cairn doctor -o json | python3 -m json.tool >/dev/null && echo valid
valid
$ cairn version | cut -d' ' -f1
cairn
libcairn
sqlite
libpq
$ cairn version -o json | python3 -m json.tool >/dev/null && cairn --version | head -1; cairn -V | head -1
cairn 0.1.0
cairn 0.1.0
