/**
 * Programs of shells that complete svc. They run `svc __complete` with the words of the command line, and leave paths to
 * the shell, which knows its quoting. See `complete` for what it prints.
 */

/** Works from bash 3.2, which macOS has. Bash splits words at = and :, so they are joined again. */
const bash = String.raw`# Completion of svc for bash.
_svc() {
  local i word value line kind='' joins='' breaks='' prefix='' path
  local -a words=() paths=() others=()
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${'$'}{COMP_WORDS[i]}
    if [[ -n $joins || ( $word == [=:]* && ${'$'}{#words[@]} -gt 0 ) ]]; then
      words[${'$'}{#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    joins=''
    if [[ $word == *[=:] ]]; then joins=1; fi
  done
  word=${'$'}{words[${'$'}{#words[@]}-1]}
  # Bash replaces only what follows the last character at which it splits.
  if [[ $COMP_WORDBREAKS == *=* ]]; then breaks+='='; fi
  if [[ $COMP_WORDBREAKS == *:* ]]; then breaks+=':'; fi
  if [[ -n $breaks && $word == *[$breaks]* ]]; then prefix=${'$'}{word%"${'$'}{word##*[$breaks]}"}; fi
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
    else
      printf -v value %q "${'$'}{line%%$'\t'*}"
      COMPREPLY+=("${'$'}{value#"$prefix"}")
    fi
  done < <("$1" __complete "${'$'}{words[@]}" 2>/dev/null)
  path=$word
  if [[ $path == --*=* ]]; then path=${'$'}{path#*=}; fi
  if [[ $kind == :dirs || $kind == :files* ]]; then
    while IFS= read -r line; do
      if [[ ${'$'}{line##*/} == .* && ${'$'}{path##*/} != .* ]]; then continue; fi
      if [[ -d ${'$'}{line/#\~/$HOME} || $kind == :files || " ${'$'}{kind#:} " == *" ${'$'}{line##*.} "* ]]; then
        paths+=("$line")
      elif [[ $kind != :dirs ]]; then
        others+=("$line")
      fi
    done < <(compgen -f -- "$path")
    if [[ ${'$'}{#paths[@]} -eq 0 ]]; then paths=("${'$'}{others[@]}"); fi
  fi
  if [[ ${'$'}{#paths[@]} -gt 0 ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=("${'$'}{paths[@]}")
  fi
}
complete -F _svc svc
`

/** Can be sourced, or stored as `_svc` in a folder of `$fpath`. */
const zsh = String.raw`#compdef svc
# Completion of svc for zsh.
_svc() {
  local line kind
  local -a lines values
  lines=("${'$'}{(@f)$("${'$'}{(Q)words[1]}" __complete "${'$'}{(@Q)words[2,CURRENT-1]}" "${'$'}{(Q)PREFIX}" 2>/dev/null)}")
  kind=${'$'}{lines[1]}
  for line in "${'$'}{(@)lines[2,-1]}"; do
    values+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}")
  done
  if (( ${'$'}{#values} )); then
    _describe -t values value values
  fi
  case $kind in
    :dirs)
      compset -P '--*='
      _files -/
      ;;
    :files)
      compset -P '--*='
      _files
      ;;
    :files\ *)
      compset -P '--*='
      _files -g "*.(${'$'}{(j:|:)${'$'}{(s: :)kind#:files }})(-.)"
      ;;
  esac
}
if [[ ${'$'}{funcstack[1]} == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`

const fish = String.raw`# Completion of svc for fish.
function __svc_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l svc $words[1]
    set -e words[1]
    set -l lines ($svc __complete $words "$word" 2>/dev/null)
    set -l kind "$lines[1]"
    set -e lines[1]
    if test (count $lines) -gt 0
        printf '%s\n' $lines
    end
    set -l flag (string match -r -- '^--[^=]*=' "$word")
    set -l path (string replace -r -- '^--[^=]*=' '' "$word")
    switch $kind
        case :dirs
            __fish_complete_directories "$path" '' | string replace -r -- '^' "$flag"
        case ':files*'
            set -l paths (__fish_complete_path "$path")
            set -l extensions (string split ' ' -- $kind)
            set -e extensions[1]
            set -l kept $paths
            if test (count $extensions) -gt 0
                set kept (string match -r -- '^.*(?:/|\.(?:'(string join '|' -- $extensions)'))(?:\t.*)?$' $paths)
            end
            test (count $kept) -gt 0; or set kept $paths
            string replace -r -- '^' "$flag" $kept
    end
end
complete -c svc -f -k -a '(__svc_complete)'
`

/** The program of each shell. */
export const completionScripts = {bash, zsh, fish}

export type Shell = keyof typeof completionScripts

/**
 * How to set up completion, by shell: the command, and the file that it adds to or writes. `source` of bash 3.2 reads nothing
 * from a process substitution, so that `eval` is used. A new user has no configuration folder of fish.
 */
export const completionSetup: Readonly<Record<Shell, string>> = {
  bash: `echo 'eval "$(svc completion bash)"' >> ~/.bashrc`,
  zsh: `echo 'autoload -Uz compinit && compinit && source <(svc completion zsh)' >> ~/.zshrc`,
  fish: 'mkdir -p ~/.config/fish/completions && svc completion fish > ~/.config/fish/completions/svc.fish',
}
