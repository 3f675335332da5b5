#compdef cairn
# zsh completion for cairn; put this into a file _cairn in a folder of $fpath
_cairn() {
    local -a items
    items=("${(@f)$("$words[1]" completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n $items[1] ]]; then _describe cairn items; else _files; fi
}
if [[ $funcstack[1] == _cairn ]]; then _cairn "$@"; else compdef _cairn cairn; fi
