# shellcheck shell=bash
# refs.sh: part of run: runs read from a commit, the check of a pull request, growth of a repository. Sourced; uses its functions and variables.

# A bare repository of N small runs in one experiment, written by git itself.
many_runs() # FOLDER N
{
    git init -q --bare "$1" || return 1
    awk -v n="$2" 'function blob(path, text) { printf "M 100644 inline %s\ndata %d\n%s\n", path, length(text), text }
    BEGIN {
        e = "1804881343"; t = "mlruns/" e "/"
        printf "commit refs/heads/main\ncommitter n <a@b> 1795325996 +0000\ndata 1\nx\n"
        blob(t "meta.yaml", "artifact_location: \"mlruns/" e "\"\ncreation_time: 1767225600000\nexperiment_id: \"" e "\"\nlast_update_time: 1767225600000\nlifecycle_stage: \"active\"\nname: \"default\"\n")
        for (i = 0; i < n; i++) {
            id = sprintf("%08x%08x4%07x%08x", (i * 2654435761) % 4294967296, i, i, (i * 40503) % 4294967296); s = 1795325996000 - i * 1000; p = t id "/"
            blob(p "meta.yaml", "artifact_uri: \"mlruns/" e "/" id "/artifacts\"\nend_time: " s + 900 "\nentry_point_name: \"\"\nexperiment_id: \"" e "\"\nlifecycle_stage: \"active\"\nrun_id: \"" id "\"\nrun_name: \"ior " i "\"\nsource_name: \"\"\nsource_type: 4\nsource_version: \"\"\nstart_time: " s "\nstatus: 3\ntags: []\nuser_id: \"jo\"\n")
            blob(p "params/a", "1"); blob(p "metrics/run.wall_s", s " 0.9 0\n"); blob(p "metrics/rate_MiB_per_s", s " " i ".5 0\n")
            blob(p "tags/benchwrap.verdict", "pass"); blob(p "tags/benchmark", "ior"); blob(p "artifacts/stdout.log", "run " i "\n")
        } }' OFMT='%.0f' CONVFMT='%.0f' | git -C "$1" fast-import --quiet
}

if wanted refs; then
    mkdir refs && cd refs || exit 2
    for many in 1000 10000 ${BENCH_BIG:+100000}; do
        [ -z "${BENCH_QUICK:-}" ] || many=300
        many_runs "r$many" "$many" || exit 1
        t=$("$M" time -n "$(rounds 7)" -w 2 -- "$BW" ls --all --ref main -t "$PWD/r$many/mlruns" --- "$BW" ls --ref main -t "$PWD/r$many/mlruns" --- git -C "r$many" ls-tree -r --name-only main 2> >(grep -v 'shows them all' >&2)) || exit 1
        mapfile -t r <<<"$t"
        bar="<=$([ "$many" = 100000 ] && echo 2 || echo 0.3)"
        row refs "ls over $many runs of a commit, warm" "$(calc "$(first "${r[1]}")/1e3")" s "$bar" "s: git ls-tree -r $(calc "$(first "${r[2]}")/1e3")"
        row refs "ls --all over $many runs of a commit, warm" "$(calc "$(first "${r[0]}")/1e3")" s "$bar" -
        [ -z "${BENCH_QUICK:-}" ] || break
    done
    cd "$work" || exit 2
fi
if wanted check; then
    mkdir check && cd check || exit 2
    git init -q -b main . && git config gc.auto 0 && git config user.name n && git config user.email a@b && "$BW" -- true && git add mlruns && git commit -qm base && git checkout -q -b pr || exit 1
    find "$top"/benchmarks/catalogue/*/samples -name stdout -size +0 | LC_ALL=C sort | head -n 300 | tr '\n' '\0' | xargs -0 "$BW" import >/dev/null 2>&1
    git add mlruns && git commit -qm runs
    n=$("$BW" check --json --range main..pr | sed -n 's/^ *"runs": *\([0-9]*\).*/\1/p')
    t=$("$M" time -n "$(rounds 7)" -w 1 -- "$BW" check --range main..pr --- git fsck --strict --- sh -c 'find mlruns -type f -print0 | xargs -0 sha256sum') || exit 1
    mapfile -t r <<<"$t"
    row check "check of a pull request of ${n:-?} runs" "$(calc "$(first "${r[0]}")/1e3")" s '<=5' "s: git fsck --strict $(calc "$(first "${r[1]}")/1e3"), sha256sum of the files $(calc "$(first "${r[2]}")/1e3")"
    row check "  as often git fsck --strict" "$(calc "$(first "${r[0]}")/$(first "${r[1]}")")" times '<=8' ""
    # Recorded runs of 150 files, in a public repository.
    mkdir ../check-150 && cd ../check-150 || exit 2
    many=300; [ -z "${BENCH_QUICK:-}" ] || many=30
    git init -q -b main . && git config gc.auto 0 && git config user.name n && git config user.email a@b && git config benchwrap.site s || exit 1
    printf 'profile: public\n' >benchwrap.yaml && git add benchwrap.yaml && git commit -qm base && git checkout -q -b pr || exit 1
    for i in $(seq "$many"); do
        BENCHWRAP_COMMIT=none "$BW" -a 'part*' -- sh -c 'echo "copy.rate $1.5 MiB/s"; seq $(($1 % 9 * 100)); for f in 1 2 3 4 5 6 7 8 9; do echo "$1 $f" >part$f; done' - "$i" >/dev/null || exit 1
    done
    rm -f part* && git add -f mlruns && git commit -qm runs
    files=$(calc "$(find mlruns -type f | wc -l)/$many")
    n=$("$BW" check --json --range main..pr | sed -n 's/^ *"runs": *\([0-9]*\).*/\1/p;s/^ *"errors": *//p' | tr -d ',' | tr '\n' ' ')
    [ "$n" = "$many 0 " ] || { echo "bench: check: expected $many runs without errors, got $n" >&2; exit 1; }
    t=$("$M" time -n "$(rounds 7)" -w 1 -- "$BW" check --range main..pr --- git fsck --strict) || exit 1
    mapfile -t r <<<"$t"
    read -r _ _ resident <<<"$("$M" once -- "$BW" check --range main..pr)"
    row check "check of a pull request of $many runs, ${files%.*} files each" "$(calc "$(first "${r[0]}")/1e3")" s '<=5' "s: git fsck --strict $(calc "$(first "${r[1]}")/1e3")"
    row check "  as often git fsck --strict" "$(calc "$(first "${r[0]}")/$(first "${r[1]}")")" times '<=8' ""
    row check "memory of it (resident)" "$resident" MB '<=200' -
    cd "$work" || exit 2
fi
packed() { git -C "$1" count-objects -v | awk '/^size-pack/ { print $2 }'; } # KiB
if wanted growth; then
    mkdir growth && cd growth || exit 2
    export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b BENCHWRAP_COMMIT=none
    many=500; [ -z "${BENCH_QUICK:-}" ] || many=40
    git init -q -b main at-once && git init -q -b main singly || exit 1
    (cd at-once && for i in $(seq "$many"); do "$BW" -- sh -c "echo result $i; seq $((i % 7 * 100))" >/dev/null || exit 1; done) || exit 1
    content=$(find at-once/mlruns -mindepth 2 -maxdepth 2 -type d -name '*[0-9a-f]' ! -name tags | while read -r run; do tar -c -C "$run" . | gzip -6 | wc -c; done | awk '{ s += $1 } END { print s / NR / 1024 }')
    "$BW" commit --repo "$PWD/at-once" --tree "$PWD/at-once/mlruns" >/dev/null || exit 1
    row growth "growth of a repository by a run, $many in one commit" "$(calc "$(packed at-once)/$many")" KiB '<=22' "KiB: tar and gzip of a run $(calc "$content")"
    n=0
    for run in at-once/mlruns/*/????????????????????????????????; do
        to=singly/${run#*/}; mkdir -p "${to%/*}" && cp -r "$run" "$to" && "$BW" commit --repo "$PWD/singly" --tree "$PWD/singly/mlruns" >/dev/null || exit 1
        n=$((n + 1))
        [ "$(find singly/.git/objects/pack -name '*.pack' | wc -l)" -gt 2 ] || { at=$n kib=$(packed singly); } # it has just put its packs together
    done
    row growth "the same, each in its own commit, after the last repack" "$(calc "$kib/$at")" KiB '<=22' "$at runs; as it is then, packs waiting for the next: $(calc "$(packed singly)/$n")"
    unset BENCHWRAP_COMMIT
    cd "$work" || exit 2
fi
