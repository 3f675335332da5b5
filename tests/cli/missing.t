# What only reads, or changes what is there, creates no store.
$ cairn job list
! cairn: could not open <*>
!     check the URL; to create <*>: cairn migrate --url <*>
[3]
$ while read command; do cairn $command >/dev/null 2>said; echo "$? $(grep -c '^cairn: could not open' said) cairn $command"; done <<'END'
> workflows
> graph order
> list
> show 1
> events 1
> logs 1
> signal 1 e
> approve 1 s --by me
> reject 1 s --by me
> pause 1
> resume 1
> restart 1
> retry 1
> cancel 1 --by me --reason why
> abort 1 --by me --reason why
> dlq list
> dlq show 1
> dlq requeue 1
> job list
> job show 1
> job events 1
> job cancel 1
> job retry 1
> job delete 1
> registry list
> registry set a.v1 --runtime go
> doctor
> END
3 1 cairn workflows
3 1 cairn graph order
3 1 cairn list
3 1 cairn show 1
3 1 cairn events 1
3 1 cairn logs 1
3 1 cairn signal 1 e
3 1 cairn approve 1 s --by me
3 1 cairn reject 1 s --by me
3 1 cairn pause 1
3 1 cairn resume 1
3 1 cairn restart 1
3 1 cairn retry 1
3 1 cairn cancel 1 --by me --reason why
3 1 cairn abort 1 --by me --reason why
3 1 cairn dlq list
3 1 cairn dlq show 1
3 1 cairn dlq requeue 1
3 1 cairn job list
3 1 cairn job show 1
3 1 cairn job events 1
3 1 cairn job cancel 1
3 1 cairn job retry 1
3 1 cairn job delete 1
3 1 cairn registry list
3 1 cairn registry set a.v1 --runtime go
3 1 cairn doctor
# Nothing has been made by any of them.
$ rm said; ls -A . ..
.:

..:
.logs
script
work
# A file without Cairn's tables is no store either, and stays as it is.
$ : > empty.db; cairn job list --url sqlite:empty.db; ls -A; wc -c < empty.db
empty.db
0
! cairn: could not open "<folder>/work/empty.db": it has no Cairn tables
!     check the URL; to create them: cairn migrate --url sqlite:<folder>/work/empty.db
# These create one.
$ for command in 'work --handle a.v1=cat --until-idle --quiet' 'migrate' 'start nothing' 'job add a.v1'; do cairn $command --url sqlite:new.db >/dev/null 2>&1; ls new.db; rm -f new.db*; done
new.db
new.db
new.db
new.db
$ printf 'workflow: w\nversion: 1\nsteps: [{step: s}]\n' > w.yaml; cairn deploy w.yaml --url sqlite:new.db; ls new.db
w version 1  deployed
new.db
$ cairn migrate >/dev/null; cairn job list
ID  TYPE  STATUS  ATTEMPT  PRIORITY  DUE  CREATED  KEY
