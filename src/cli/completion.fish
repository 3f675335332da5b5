# fish completion for cairn; cairn completion fish | source
function __cairn_words
    cairn completion fish -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c cairn -f -n 'count (__cairn_words) >/dev/null' -a '(__cairn_words)'
