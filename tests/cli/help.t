# stores: sqlite
# Alone it says what it is and what to try.
$ cairn | head -4
cairn stores work and makes sure that it is executed.

Usage: cairn COMMAND [options]
$ cairn --help | cmp - <(cairn) && cairn help | cmp - <(cairn)
$ cairn job --help
cairn job: add, list, show and control jobs

Commands:
  job add          add a job, and print its id
  job list         list jobs, newest first
  job show         show all fields of jobs
  job events       print the events of a job, oldest first
  job cancel       cancel jobs that have not ended
  job retry        make failed or cancelled jobs pending again
  job delete       delete jobs; they are no longer claimed or listed

More: cairn job COMMAND --help
$ cairn help job add
cairn job add: add a job, and print its id

Usage: cairn job add TYPE [options]

Once the id is printed the job is stored and will be executed, even if the
processes on this machine crash. With -o json it prints {"id", "existing"}; with
--payloads-from {"items": [{"id", "existing"}, ...]}; with --wait the job as it
ended.

--wait prints to standard error what the job is waiting for, after 3 seconds and
whenever that changes. --timeout ends the waiting, not the job: exit code 4.

Options:
  --payload JSON|@FILE|-  input of the job (default {})
  --payloads-from FILE|-  add a job for each line, with the line as its payload;
                          500 in a commit
  --key KEY               if a job has this key, print its id and add nothing
  --on-existing WHAT      if the key is known: return that job (default), fail,
                          restart_failed, which retries it if it has failed, or
                          new_if_ended, which takes the key from a job that has
                          ended: return fail restart_failed new_if_ended
  --debounce DURATION     run this long after the job was added last, with the
                          last payload: a pending job with the key is moved back
  --metadata JSON|@FILE|-
                          object that goes to the handler beside the payload, at
                          most 8 KiB (default none)
  --tag NAME=VALUE        tag it, so that it is found by job list --tag; may be
                          given up to 16 times
  --group GROUP           groups of a type take turns, and limits can count each
                          (default: none)
  --priority N            jobs with a lower number go first (default 100)
  --at TIME               run not before this time, in RFC 3339
  --in DURATION           run not before this much time has passed, such as 90s
                          or 1h30m
  --max-attempts N        maximum number of calls, including the first (default
                          3)
  --call-timeout DURATION
                          a call that takes longer has failed (default: no
                          limit)
  --retry JSON            delay before a failed call is made again, such as
                          {"backoff": "exponential", "base_ms": 1000, "max_ms":
                          60000, "jitter": 0.1} (default: quadratic, 60000, no
                          limit, 0.1)
  --wait                  wait until the job has ended; exit code 0 if it
                          succeeded, else 1
  --timeout DURATION      with --wait: stop waiting after this much time, with
                          exit code 4 (default: never)
  --url URL               the store: sqlite:FILE, postgres://... or http://...
                          (default: $CAIRN_URL, else sqlite:cairn.db)
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
$ listed() { cairn help $1 | sed -n 's/^  \([a-z]\+\( [a-z.]\+\)\?\)   *[a-z].*/\1/p'; }
$ commands() { listed | while read -r name dots; do if [ "$dots" ]; then listed $name; else echo $name; fi; done; }
$ commands | wc -l
76
$ cairn help --man > manual
$ commands | while read -r command; do
>     cairn help $command > help || echo "$command: no help"
>     grep -q '^Example:' help || echo "$command: no example"
>     grep -q "^.SS cairn ${command}\$" manual || echo "$command: not in the manual"
>     cairn completion fish -- $command '' | tee -a words | sed -n 's/^--\([a-z-]*\).*/\1/p' |
>     while read -r option; do
>         grep -q -e "--$option" help || echo "$command: --$option is not in help"
>         grep -q -F -e "\\-\\-$(echo $option | sed 's/-/\\-/g')" manual ||
>             echo "$command: --$option is not in the manual"
>     done
> done
$ grep -c '^--' words
507
