# fish completion of echoline: calls the program, which computes the candidates.
function __echoline_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l answer ($before[1] __complete -- $before[2..] "$current" 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path "$current"
        case folders
            __fish_complete_directories "$current" ""
        case words
            printf '%s\n' $answer[2..]
    end
end
complete -c echoline -f -a '(__echoline_complete)'
