# Events that handlers emit are delivered to a URL; here to none.
$ cat > shop.yaml <<'END'
> workflow: shop
> version: 1
> steps: [{step: pay}]
> END
$ cairn deploy shop.yaml
shop version 1  deployed
$ cairn deliver
! cairn: deliver needs an address: --to URL
[2]
$ cairn deliver --to ftp://example.org/
! cairn: --to cannot be "ftp://example.org/": it takes http://... or https://...
[2]
$ cairn deliver --to http://ann:secret@example.org/
! cairn: --to cannot be "http://ann:secret@example.org/": a name and a password in it would be written to the log
[2]
$ cairn deliver --to http://127.0.0.1:1/ --events 'a%b'
! cairn: --events cannot be "a%b": it takes a name, or a prefix such as order.%
[2]
$ cairn deliver --to http://127.0.0.1:1/ --timeout 10s --lease 11s
! cairn: --lease must be at least 2 seconds longer than --timeout
[2]
$ (umask 077; echo short > secret); cairn deliver --to http://127.0.0.1:1/ --secret-file secret
! cairn: the first line of the secret file "secret" has 5 bytes: it must have 16 to 1024, without blanks
!     Make one with: (umask 077; openssl rand -hex 32 > secret)
[2]
$ echo 0123456789abcdef > open; chmod 644 open; cairn deliver --to http://127.0.0.1:1/ --secret-file open
! cairn: secret file "open" can be read by every user
!     chmod 600 open
[2]
# Nothing waits.
$ cairn deliver --to http://127.0.0.1:1/ --until-idle -q
$ cairn outbox list
ID  INSTANCE  EVENT  CREATED  FAILED  NEXT  ERROR
$ cairn outbox list --status dead -o json
{"items":[],"next":null}
$ cairn outbox list --status odd
! cairn: --status cannot be "odd": it takes one of: dead waiting
[2]
