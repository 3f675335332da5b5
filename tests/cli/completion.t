# stores: sqlite
# The scripts can be read by the shells that are here, and bash offers what fits.
$ cairn completion bash | bash -n
$ ! command -v zsh >/dev/null || cairn completion zsh | zsh -n
$ ! command -v fish >/dev/null || cairn completion fish | fish -n
$ complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cairn; echo "${COMPREPLY[@]}"; }
$ eval "$(cairn completion bash)"; complete_line cairn ''
serve work deliver deploy validate simulate workflows versions graph start list show why events steps step signals logs wait signal approve reject approvals pause resume restart rerun retry cancel abort bulk errors purge workers types about overview migrate backup doctor version completion help dlq job limit outbox registry retention schedule token bench
$ complete_line cairn job ''
add list show events cancel retry delete
$ complete_line cairn --url x job l
list
$ complete_line cairn job list --st
--status
$ complete_line cairn job list --status ''
pending leased succeeded failed cancelled active ended
$ complete_line cairn job list -o j
json
$ complete_line cairn job add a.v1 --p
--payload --payloads-from --priority
