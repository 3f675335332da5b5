$ cairn migrate >/dev/null; cairn registry list
TYPE  RUNTIME  ENABLED  DESCRIPTION
$ cairn registry set billing.invoice.v1 --runtime go --description 'sends invoices'
billing.invoice.v1  go  enabled
$ cairn registry set mail.v1 --runtime python --disable
mail.v1  python  disabled
$ cairn registry list
TYPE                RUNTIME  ENABLED  DESCRIPTION
billing.invoice.v1  go       yes      sends invoices
mail.v1             python   no
$ cairn registry list -o ids
billing.invoice.v1
mail.v1
$ cairn registry list -o json | python3 -m json.tool >/dev/null && echo valid
valid
$ cairn registry list --limit 1 -o ids 2>/dev/null
billing.invoice.v1
$ cairn registry set mail.v1 --runtime python -o json
{"workflow_name":"mail.v1","intent_type":"workflow","runtime":"python","is_enabled":true,"description":null,"created_at":"<time>","updated_at":"<time>"}
$ cairn registry set mail.v1 --runtime ''
! cairn: runtime is empty
[2]
$ cairn registry set mail.v1 --runtime Go
! cairn: runtime "Go" must be 1 to 64 of a-z, 0-9, _, . and -, and begin with a letter
[2]
$ cairn work -q --handle 'mail.v1=true' --runtime 'go 1' --until-idle
! cairn: runtime "go 1" must be 1 to 64 of a-z, 0-9, _, . and -, and begin with a letter
[2]
# A disabled type is not claimed; a worker of another runtime is refused.
$ cairn registry set mail.v1 --runtime python --disable; cairn job add mail.v1 >/dev/null
mail.v1  python  disabled
$ cairn work -q --handle 'mail.v1=true' --until-idle; cairn job list --status pending -o ids | wc -l
1
$ cairn registry set mail.v1 --runtime python --enable
mail.v1  python  enabled
$ cairn work -q --handle 'mail.v1=true' --runtime go --until-idle; cairn job list --status pending -o ids | wc -l
1
! cairn: runtime "go" cannot claim type "mail.v1": it belongs to "python"
!     change the owner with: cairn registry set mail.v1 --runtime go
$ cairn work -q --handle 'mail.v1=true' --runtime python --until-idle; cairn job list --status pending -o ids | wc -l
0
