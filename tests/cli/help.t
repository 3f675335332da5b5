# stores: sqlite
# Alone it says what it is and what to try.
$ cairn | head -4
cairn records work that must happen, and makes sure that it happens.

Usage: cairn COMMAND [options]
$ cairn --help | cmp - <(cairn) && cairn help | cmp - <(cairn)
$ cairn job --help
cairn job: record jobs, look at them, change their course

Commands:
  job add          record a job, and print its id
  job list         list jobs, newest first
  job show         show jobs whole
  job events       tell what happened to a job, oldest first
  job cancel       cancel jobs that have not ended
  job retry        make failed or cancelled jobs pending again
  job delete       delete jobs: neither claimed nor listed again

More: cairn job COMMAND --help
$ cairn help job add
cairn job add: record a job, and print its id

Usage: cairn job add TYPE [options]

When the id is printed the job is recorded and will be executed, whatever
happens to this machine's processes. With -o json it prints {"id", "existing"};
with --payloads-from {"items": [{"id", "existing"}, ...]}.

Options:
  --payload JSON|@FILE|-  the input of the job; {} if not given
  --payloads-from FILE|-  add a job for every line, which is its payload; 500 in
                          a commit
  --key KEY               if a job has this key, print its id and record nothing
  --priority N            lower goes first; 100 if not given
  --at TIME               not before, in RFC 3339
  --in DURATION           not before this much time has passed, such as 90s or
                          1h30m
  --max-attempts N        calls in all, the first included; 3 if not given
  --url URL               where the work is kept: sqlite:FILE, postgres://...,
                          http://...; else $CAIRN_URL, else sqlite:cairn.db
  -o, --output FORM       human-readable table (default), json, or ids, one on
                          each line
  -h, --help              print this help

Example:
  cairn job add billing.invoice.v1 --payload '{"order": 17}' --key order-17
  cairn job add report.daily.v1 --at 2030-01-31T06:30:00Z
  cairn job add mail.send.v1 --payloads-from mails.jsonl
$ cairn job add --help | cmp - <(cairn help job add)
# Options may stand before the command as well.
$ cairn --help job cancel | head -1
cairn job cancel: cancel jobs that have not ended
# Every command has help with an example, and help and manual name each of its options.
$ commands() { cairn help | sed -n 's/^  \([a-z]\+\( [a-z]\+\)\?\)   *[a-z].*/\1/p'; }
$ commands | wc -l
40
$ cairn help --man > manual
$ commands | while read -r command; do
>     cairn help $command > help || echo "$command: no help"
>     grep -q '^Example:' help || echo "$command: no example"
>     grep -q "^.SS cairn ${command}\$" manual || echo "$command: not in the manual"
>     cairn completion fish | grep "__cairn_at \"$command\"" | sed -n 's/.* -l \([a-z-]*\).*/\1/p' |
>     while read -r option; do
>         grep -q -e "--$option" help || echo "$command: --$option is not in help"
>         grep -q -F -e "\\-\\-$(echo $option | sed 's/-/\\-/g')" manual ||
>             echo "$command: --$option is not in the manual"
>     done
> done
$ cairn completion fish | grep -c -e ' -l '
221
