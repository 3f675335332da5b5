# bash completion for cairn; in ~/.bashrc: eval "$(cairn completion bash)"
_cairn() {
    local words IFS=$'\n'
    words=$("${COMP_WORDS[0]}" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o bashdefault -o default -F _cairn cairn
