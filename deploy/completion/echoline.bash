# bash completion of echoline: calls the program, which computes the candidates.
_echoline() {
  local current=${COMP_WORDS[COMP_CWORD]} answer kind
  COMPREPLY=()
  mapfile -t answer < <("${COMP_WORDS[0]/#\~/$HOME}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  kind=${answer[0]-}
  # bash treats "=" as a separate word, so the candidates do not contain it.
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
