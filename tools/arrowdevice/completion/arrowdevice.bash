# SPDX-License-Identifier: Apache-2.0
# Completes words of the command arrowdevice in bash. The tool itself suggests the words.

_arrowdevice() {
  local line=${COMP_LINE:0:COMP_POINT} current prefix breaks reply
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current=${words[-1]}
  # Readline replaces only the text after the last word break, which may be a colon or an equals sign.
  breaks=${COMP_WORDBREAKS//[^=:]/}
  [[ -n $breaks ]] && prefix=${current%"${current##*["$breaks"]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r reply _; do
    COMPREPLY+=("${reply#"$prefix"}")
  done < <("${words[0]}" --complete "${words[@]:1}" 2>/dev/null)
  # The value of an option follows without a space.
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}

# Without a suggestion, bash completes names of files.
complete -o default -F _arrowdevice arrowdevice
