#!/bin/bash
# Help and manual come from the same rows and say the same; every command has both; the examples run; completions load.
# sanitizer: long, because one verb after the other is only started
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
PATH=$(dirname "$BENCHWRAP"):$PATH
verbs=$("$BENCHWRAP" help --list)
long_names() { grep -oE -- '--[a-z][a-z-]+' | sort -u; }
# option names of the OPTIONS part of a manual page / of a help text
man_names() { sed 's/\\f[BIR]//g; s/\\-/-/g' | awk '/^\.SH/ {on = $2 == "OPTIONS"} on && /^\.TP/ {getline; print}' | long_names; }
help_names() { sed -n 's/^  \(-., \|    \)\(--[a-z][a-z-]*\).*/\2/p' | sort -u; }

like "there are commands" "$(echo "$verbs" | wc -l)" '^[1-9][0-9]+$'
same "help of the program and its manual have the same options" "$("$BENCHWRAP" help options | help_names)" "$("$BENCHWRAP" help --man | man_names)"
like "among them --timeout" "$("$BENCHWRAP" help options | help_names)" '^--timeout$'
is "the first screen has at most 40 lines of 80 columns" "$("$BENCHWRAP" help | awk 'length > 80 || NR > 40')" ""
readme=$(sed -n '/^## Start here/,/^## Record/s/.*| `benchwrap \([a-z]*\).*/\1/p' "$ROOT/README.md" | sort -u)
for command in $readme; do like "the first screen has $command, which README begins with" "$("$BENCHWRAP" help)" "^[A-Z][a-z]* +$command +|^ +$command +"; done
is "what the first screen names is there" "$("$BENCHWRAP" help | help_names | comm -23 - <("$BENCHWRAP" help options | help_names))" ""
same "help --all is help commands" "$("$BENCHWRAP" help --all)" "$("$BENCHWRAP" help commands)"
same "-h is --help" "$("$BENCHWRAP" -h)" "$("$BENCHWRAP" --help)"
same "help is --help" "$("$BENCHWRAP" help)" "$("$BENCHWRAP" --help)"
{ "$BENCHWRAP" help; "$BENCHWRAP" help options; "$BENCHWRAP" help commands; } | awk 'length > 100' >long.txt
is "no line of the help is longer than 100" "$(wc -l <long.txt)" 0
for verb in $verbs; do
    "$BENCHWRAP" "$verb" --help >"$verb.help" 2>"$verb.err"
    is "$verb --help ends 0" "$?$(cat "$verb.err")" 0
    "$BENCHWRAP" help --man "$verb" >"$verb.1"
    is "$verb: help and manual have the same options" "$(help_names <"$verb.help")" "$(man_names <"$verb.1")"
    like "$verb: the list of commands has it" "$("$BENCHWRAP" help commands)" "^.{12}$verb +[A-Z]"
    is "$verb: its help begins with what it does, usage and an example" "$(sed -n '3s/^usage: benchwrap .*/usage/p; 4,6{/^  \$ .*benchwrap/{s/.*/example/p;q}}' "$verb.help" | tr '\n' ' ')" "usage example "
    like "$verb: the program's manual names it" "$("$BENCHWRAP" help --man)" "benchwrap\\\\-$verb \(1\)"
    like "$verb: has examples" "$(cat "$verb.1")" '^\.SH EXAMPLES'
    if command -v man >/dev/null && command -v groff >/dev/null; then
        is "$verb: man has nothing to complain of" "$(groff -man -ww -Tutf8 "$verb.1" 2>&1 >/dev/null)" ""
    else
        skip "$verb: man has nothing to complain of" "groff is not installed"
    fi
done
# Words of docs and help are those of the field: who acts, what is printed. The texts are joined, so that a line end hides nothing.
bin=$(dirname "$BENCHWRAP")
{ for verb in $verbs; do cat "$verb.help"; done; "$BENCHWRAP" help; "$BENCHWRAP" help options; "$BENCHWRAP" help commands
    for program in llmload taskrate llmfake; do "$bin/$program" help; "$bin/$program" help options; done; } >all.help 2>&1
unclear='\b(is|are) (wanted|asked|heard|looked|told)\b|\b(tells?|told|looked (at|for)|lies|nobody|somebody|meanwhile|for (those )?who|beside the)\b'
phrases() { tr '\n' ' ' | sed 's/  */ /g' | grep -oiE ".{0,40}($unclear).{0,20}"; }
is "the search finds an unclear phrase over a line end" "$(printf 'a FILE\n   is wanted\n' | phrases)" "a FILE is wanted "
is "no help has an unclear phrase" "$(phrases <all.help)" ""
"$BENCHWRAP" help --man >main.1
if command -v groff >/dev/null; then
    is "groff has nothing to complain of the program's page" "$(groff -man -ww -Tutf8 main.1 2>&1 >/dev/null)" ""
fi
"$BENCHWRAP" help nothing 2>err; is "help of no command" "$?" 125

# The examples, in a tree where what they name is there. Those that need another machine's programs are only planned.
for i in 1 2; do "$BENCHWRAP" -q -e io -p a=$i -- true; done
sample=$ROOT/benchmarks/catalogue/ior/samples/3.1.0-human-v/stdout
mkdir -p old ~/results ~/parsl-archive/mlruns; for f in out.txt slurm-1.out old/a.log ~/results/b.log; do { cat "$sample"; echo "# $f"; } >$f; done
for f in mine.yaml better.yaml rules.yaml; do cp "$ROOT/benchmarks/catalogue/ior/rules.yaml" $f; done
mkdir -p fake; for p in ior fio; do printf '#!/bin/sh\necho "%s $*"\n' $p >fake/$p; chmod +x fake/$p; done
sample=$ROOT/benchmarks/catalogue/ior/samples # what import and reparse are to read
cp "$sample/main-human-default/stdout" slurm-1.out; mkdir -p "$HOME/results" old; cp "$sample/4.0.0-human-vvv/stdout" "$HOME/results/x.log"
cp "$sample/3.0.1-human-reps3-fpp/stdout" old/a.log; for f in mine better; do cp "$ROOT/benchmarks/catalogue/ior/rules.yaml" $f.yaml; done
cp slurm-1.out output.log # for redact
mkdir -p ~/.config/benchwrap
git init -q results; git -C results config benchwrap.clone 01234567; git config --global user.name A; git config --global user.email a@b # what is committed to
sed -n 's/^\.B \$ //p' main.1 *.1 | sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\e/\\/g; s/\\(ti/~/g' | sort -u >examples
like "there are examples" "$(wc -l <examples)" '^[1-9][0-9]+$'
while read -r line; do
    case $line in
    *benchwrap\ parse*) continue ;; # tested with their outputs elsewhere
    *http://* | *--ref\ * | *--range\ * | *export-tree\ * | *benchwrap\ ui* | *benchwrap\ share*) continue ;; # tested with their servers and repositories elsewhere
    *slurm-stats* | *tracking.example.org* | */srv/git/*) continue ;; # with real servers and clusters elsewhere
    *reparse*) "$BENCHWRAP" -q -e ior --rules ior -- cat "$sample/main-human-default/stdout" >/dev/null ;;
    *history\ --to*) # where no change is found, nothing is sent
        printf 'exporters:\n  - {type: httpjson, name: annotations, url: "http://127.0.0.1:9/", template: "{}"}\n' >~/.config/benchwrap/config.yaml ;;
    *rules\ new*) rm -f rules.yaml ;;
    esac
    PATH=$WORK/fake:$PATH bash -c "$line" >out 2>&1 </dev/null
    status=$?
    rm -f ~/.config/benchwrap/config.yaml
    if [ $status -eq 0 ]; then tap_pass "runs: $line"; else tap_fail "runs: $line" "status $status: $(cat out)"; fi
done <examples

"$BENCHWRAP" completion bash >c.bash
ok "bash loads its completion" bash -n c.bash
# bash: candidates for a line given as words, the last one being completed
candidates() { bash -c '. ./c.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _benchwrap; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"; }
is "bash completes commands" "$(candidates benchwrap comp | sort | tr '\n' ' ')" "compare completion "
is "bash completes options of a command" "$(candidates benchwrap ls --exp)" "--experiment"
is "bash completes choices" "$(candidates benchwrap --capture p | tr '\n' ' ')" "pty pipe "
like "bash completes programs behind --" "$(candidates benchwrap -- tru)" '^true$'
"$BENCHWRAP" completion zsh >c.zsh
if command -v zsh >/dev/null; then ok "zsh loads its completion" zsh -n c.zsh; else skip_here "zsh loads its completion" "zsh is not installed"; fi
"$BENCHWRAP" completion fish >c.fish
if command -v fish >/dev/null; then ok "fish loads its completion" fish -n c.fish; else skip_here "fish loads its completion" "fish is not installed"; fi
"$BENCHWRAP" completion csh 2>err; is "another shell is refused" "$?" 125
done_testing
