#!/bin/sh
# Runs of a commit: ls, show, compare on refs without a checkout, export-tree.
# sanitizer: yes, because trees of others are read
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
export GIT_CONFIG_GLOBAL="$WORK/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\nname = Site\nemail = site@users.noreply.github.com\n[init]\ndefaultBranch = main\n' >gitconfig
git init -q work && cd work || exit 1
"$BENCHWRAP" -q -e first -- sh -c 'echo first' >/dev/null
git add -A mlruns && git commit -q -m one
"$BENCHWRAP" -q -e second --tag colour=red --repeat 2 -- sh -c 'echo second; exit 0' >/dev/null 2>&1
"$BENCHWRAP" -q -e second -- sh -c 'exit 4' >/dev/null
git add -A mlruns && git commit -q -m two
ids() { python3 -c 'import json,sys; print(*sorted(r["id"] for r in json.load(sys.stdin)))'; }

same "a commit lists the same runs as the tree" "$("$BENCHWRAP" ls --all --json --ref HEAD)" "$("$BENCHWRAP" ls --all --json)"
is "an older commit has fewer" "$("$BENCHWRAP" ls --json --ref HEAD~1 | ids | wc -w)" 1
same "filters hold" "$("$BENCHWRAP" ls --all --json --ref main -e second --status FAILED)" "$("$BENCHWRAP" ls --all --json -e second --status FAILED)"
same "a run is shown as from the tree" "$("$BENCHWRAP" show --ref main last~1 --json)" "$("$BENCHWRAP" show last~1 --json)"
same "… as text too" "$("$BENCHWRAP" show main:last)" "$("$BENCHWRAP" show last)"
same "a commit by an operand" "$("$BENCHWRAP" show --json HEAD~1:last)" "$("$BENCHWRAP" show --json "$("$BENCHWRAP" ls --json -e first | ids)")"
like "runs of two commits are compared" "$("$BENCHWRAP" compare HEAD~1:last HEAD:last)" '^run.wall +m?s +[0-9.]+'
like "… by groups of one" "$("$BENCHWRAP" compare --ref main --by experiment)" '^B  experiment=second +.*[0-9]+ runs? of second'
git clone -q --bare . ../bare.git
same "a bare repository" "$(cd ../bare.git && "$BENCHWRAP" ls --all --json --ref main)" "$("$BENCHWRAP" ls --all --json)"
git -C ../bare.git branch -q pr main
git remote add origin ../bare.git && git fetch -q
same "a remote's branch after a fetch" "$("$BENCHWRAP" ls --json --ref origin/pr | ids)" "$("$BENCHWRAP" ls --json --ref main | ids)"
same "from elsewhere by --tree" "$(cd / && "$BENCHWRAP" ls --json --ref main --tree "$WORK/work/mlruns" | ids)" "$("$BENCHWRAP" ls --json | ids)"
if [ ! -e /.git ]; then is "... and a tree in / has its repository there, not in the working directory" "$("$BENCHWRAP" ls --ref main --tree /mlruns 2>&1 | grep -c "no git repository")" 1; fi
git clone -q --no-checkout ../bare.git ../reviewer
same "a clone without a tree: ls" "$(cd ../reviewer && "$BENCHWRAP" ls --json --ref origin/pr | ids)" "$("$BENCHWRAP" ls --json | ids)"
same "… show --ref" "$(cd ../reviewer && "$BENCHWRAP" show --json --ref origin/pr last)" "$("$BENCHWRAP" show --json last)"
same "… show REF:RUN" "$(cd ../reviewer && "$BENCHWRAP" show --json origin/pr:last)" "$("$BENCHWRAP" show --json last)"
same "… compare, each operand with its commit" "$(cd ../reviewer && "$BENCHWRAP" compare --json origin/main:last,origin/pr:last~1 vs origin/pr:last 2>/dev/null)" "$("$BENCHWRAP" compare --json origin/main:last,origin/pr:last~1 vs origin/pr:last 2>err)"
like "… a run on both sides is said" "$(cat err)" '^benchwrap: compare: the run [0-9a-f]{8} is both in A and in B$'
like "… one operand without needs the tree" "$(cd ../reviewer && "$BENCHWRAP" compare origin/main:last last 2>&1)" 'no runs in .*/mlruns yet'
mkdir -p sub && cp -r mlruns sub/mlruns && rm -rf sub/mlruns/*/[0-9a-f]*[0-9a-f]/artifacts/none && git add sub && git commit -qm sub
same "a tree below the root by its path" "$("$BENCHWRAP" ls --json --ref HEAD:sub/mlruns | ids)" "$("$BENCHWRAP" ls --json | ids)"
same "… and from there by itself" "$(cd sub && "$BENCHWRAP" ls --json --ref HEAD | ids)" "$("$BENCHWRAP" ls --json | ids)"

like "no such commit: what to do" "$("$BENCHWRAP" ls --ref nothing 2>&1)" 'no commit nothing \("git fetch" brings'
like "no tree in it" "$("$BENCHWRAP" ls --ref HEAD:else 2>&1)" 'HEAD has no folder else'
like "an option is no commit" "$("$BENCHWRAP" ls --ref=--all 2>&1)" 'expected the name of a commit'
like "no repository" "$(cd / && "$BENCHWRAP" ls --ref main 2>&1)" 'in no git repository'

# export-tree
is "runs are written" "$("$BENCHWRAP" export-tree main ../out)" "5 runs written to ../out/mlruns"
ok "… byte for byte" diff -r mlruns ../out/mlruns
is "once more nothing is" "$("$BENCHWRAP" export-tree --json main ../out)" '{"written": 0, "already_there": 5, "damaged": 0}'
is "a selection" "$("$BENCHWRAP" export-tree main ../some/mlruns -e second --status FINISHED)" "3 runs written to ../some/mlruns"
ok "… is a tree that passes" "$BENCHWRAP" check ../some
mkdir -p ../clash/mlruns/$(ls mlruns | head -n 1) && echo 'name: "x"' >../clash/mlruns/$(ls mlruns | head -n 1)/meta.yaml
like "another experiment in its place is told" "$("$BENCHWRAP" export-tree main ../clash 2>&1)" 'is another experiment'
bad=$(printf '#!/bin/sh\n' | git hash-object -w --stdin)
tree=$(printf '120000 blob %s\tlink\n' "$bad" | git mktree)
run=$(printf '040000 tree %s\tartifacts\n100644 blob %s\tmeta.yaml\n' "$tree" "$bad" | git mktree)
exp=$(printf '040000 tree %s\t0123456789abcdef0123456789abcdef\n' "$run" | git mktree)
all=$(printf '040000 tree %s\t1804881343\n' "$exp" | git mktree)
top=$(printf '040000 tree %s\tmlruns\n' "$all" | git mktree)
git branch evil "$(git commit-tree -m evil "$top" </dev/null)"
like "a link is not written" "$("$BENCHWRAP" export-tree evil ../evil 2>&1)" 'neither a file nor a folder'
is "… and nothing half" "$(find ../evil -name link -o -name '0123*')" ""
is "a damaged run is listed as such" "$("$BENCHWRAP" ls --ref evil >/dev/null 2>&1; echo $?)" 1
git -C ../bare.git config uploadpack.allowFilter true
git clone -q -c gc.auto=0 -c maintenance.auto=false --no-checkout --filter=blob:none "file://$WORK/bare.git" ../partial
like "a partial clone says what it lacks" "$(cd ../partial && "$BENCHWRAP" ls --ref origin/pr 2>&1; echo "rc $?")" 'git fetch --refetch --no-filter'
git -C ../partial config --unset remote.origin.partialclonefilter
same "… and lists all once that has been brought" "$(cd ../partial && git fetch -q --refetch --no-filter && "$BENCHWRAP" ls --json --ref origin/pr | ids)" "$("$BENCHWRAP" ls --json --ref origin/pr | ids)"
git clone -q -c gc.auto=0 -c maintenance.auto=false --no-checkout --filter=blob:none "file://$WORK/bare.git" ../lazy
like "sync fetches what it lacks" "$(cd ../lazy && "$BENCHWRAP" sync --ref origin/pr --to http://127.0.0.1:1 --dry-run 2>&1)" "sent nothing, 1 run refused or failed, $(($("$BENCHWRAP" ls --all --json --ref origin/pr | ids | wc -w) - 1)) not tried"
done_testing
