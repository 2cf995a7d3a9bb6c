# bash completion of echoline: the program itself knows what may follow.
_echoline() {
  local current=${COMP_WORDS[COMP_CWORD]} answer kind
  COMPREPLY=()
  mapfile -t answer < <("${COMP_WORDS[0]/#\~/$HOME}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  kind=${answer[0]-}
  # "=" is a word of its own to bash, and nothing of it is in the candidates.
  [[ $current == "=" ]] && current=
  case $kind in
    files)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      ;;
    folders)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      ;;
    words)
      COMPREPLY=("${answer[@]:1}")
      COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
      ;;
  esac
}
complete -F _echoline echoline
