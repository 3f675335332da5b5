# The store itself.
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
