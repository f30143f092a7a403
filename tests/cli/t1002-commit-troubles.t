#!/bin/sh
# What can be wrong around a commit: no identity, no repository, odd repositories, locks, full disks; the repository stays whole, the runs stay.
# sanitizer: long, because the same code is walked by t1000
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTLIB/commits.sh"
git_ready || { skip "troubles of commits" "git or libgit2 is not installed"; done_testing; exit; }
cd "$WORK" || exit
bw() { "$BENCHWRAP" "$@"; }
refused() # NAME PATTERN COMMAND…: fails, with a sentence
{
    refused_name=$1 refused_pattern=$2
    shift 2
    if "$@" >"$WORK/out" 2>"$WORK/err"; then tap_fail "$refused_name" "it succeeded: $(cat "$WORK/out")"; else like "$refused_name" "$(cat "$WORK/err")" "$refused_pattern"; fi
}
# A commit that a run above asked for may come late and take this run too: what is asked is that it succeeds and that every run is then in the branch.
all_committed() # NAME
{
    bw commit >"$WORK/out" 2>&1
    all=$?
    for meta in mlruns/*/*/meta.yaml; do git cat-file -e "$branch:$meta" 2>/dev/null || all="$all $meta"; done
    is "$1" "$all" 0
}
whole() { is "git fsck after $1" "$(git fsck --strict --no-progress --no-dangling 2>&1)" ""; }

mkdir none && refused "no repository" 'is in no git repository.*benchwrap init' bw commit --tree none
bw init --private --site lab r >/dev/null && cd r || exit
branch=benchwrap/lab/$(git config benchwrap.clone)
refused "a site that names no branch" '--site: expected 1 to 40 of a-z' bw init --site 'A b' .
export BENCHWRAP_COMMIT=none
bw -q -- true

# no identity: the recorder keeps the run and the next one tells
mv "$HOME/.gitconfig" "$HOME/kept"
refused "no identity" 'user.name "Your Name"' bw commit
BENCHWRAP_COMMIT=run "$BENCHWRAP" -q -- true
tries=0; until [ -s .benchwrap/commit-trouble ] || [ $tries -gt 600 ]; do sleep 0.05; tries=$((tries + 1)); done
like "the next run tells why the one before is not committed" "$(BENCHWRAP_COMMIT=run "$BENCHWRAP" -- true 2>&1)" 'not committed: git does not know who commits.*benchwrap commit'
mv "$HOME/kept" "$HOME/.gitconfig"
BENCHWRAP_COMMIT=run "$BENCHWRAP" -q -- true; commits_wait 4
tries=0; while [ -e .benchwrap/commit-trouble ] && [ $tries -lt 600 ]; do sleep 0.05; tries=$((tries + 1)); done
is "nothing was lost, and nothing is told any more" "$(committed_runs) $(ls .benchwrap/commit-trouble 2>&1 | grep -c 'No such')" "4 1"

# somebody's lock
bw -q -- true
: >".git/refs/heads/$branch.lock"
if long_tests; then refused "a lock that was left is explained" "$branch.lock is there for [0-9]+ s.*rm " bw commit; fi
ok "and still there" test -e ".git/refs/heads/$branch.lock"
rm ".git/refs/heads/$branch.lock"

# A lock that benchwrap noted before it was killed is removed; one that came later under the same name is not.
lock=.git/refs/heads/$branch.lock
noted() { printf 'process 1 on here\nlock refs/heads/%s %s\n' "$branch" "$(stat -c '%i %.9W' "$1" | sed 's/\.0*\([0-9]\)/ \1/')" >.git/benchwrap/turn; }
: >"$lock"; noted "$lock"
bw -q -- true; ok "a lock that a killed benchwrap left is removed" bw commit
is "... and the run is committed" "$(ls "$lock" 2>&1 | grep -c 'No such')$(git ls-tree -r -d --name-only "$branch" mlruns | grep -cE '/[0-9a-f]{32}$')" "1$(ls -d mlruns/*/????????????????????????????????/ | wc -l)"
: >"$lock"; noted "$lock"; mv "$lock" "$lock.old"; : >"$lock"
if long_tests; then bw -q -- true; refused "another lock of that name stays" "$branch.lock is there for [0-9]+ s" bw commit; fi
ok "... in its place" test -e "$lock"
rm "$lock" "$lock.old"
all_committed "without it the run is committed"

# the branch itself is checked out
bw -q -- true
git checkout -q "$branch" 2>/dev/null
refused "the branch is checked out" 'is checked out.*git switch main' bw commit
git checkout -q main
git checkout -q --detach; echo x >>README.md; git add README.md
all_committed "a detached HEAD and a dirty index are no matter"
is "and stay" "$(git status --short) $(git symbolic-ref -q HEAD)" "M  README.md "
git reset -q --hard; git checkout -q main; whole "all that"

# a full disk in the middle of the pack: files of ours may grow to 4 KiB
bw -q -- true
tip=$(git rev-parse "$branch")
refused "no room for the pack" 'the repository is as it was|No space|too large|writ' sh -c "trap '' XFSZ; ulimit -f 4; exec \"$BENCHWRAP\" commit"
is "the branch stays" "$(git rev-parse "$branch")" "$tip"
is "nothing half is left among the packs" "$(ls .git/objects/pack | grep -cv '^pack-.*\.\(pack\|idx\|rev\)$')" 0
whole "a full disk"
all_committed "then there is room"

# a run that git could not hold stays out, the others do not
bw -q -- true; bad=$(ls -t mlruns/*/ -d | head -n 1)$(ls -t "$(ls -td mlruns/*/ | head -n 1)" | head -n 1)
ln -s /etc/passwd "$bad/artifacts/link"; bw -q -- true
bw commit >"$WORK/out" 2>"$WORK/err"; is "a link is not followed" "$?" 1
like "which run and why" "$(cat "$WORK/err")" 'is not committed: artifacts/link is a link'
like "the other is committed" "$(cat "$WORK/out")" '^1 run committed'
rm "$bad/artifacts/link"; bw commit >/dev/null

# bare, worktree, shallow, SHA-256
git clone -q --bare . ../bare.git; git worktree add -q ../wt -b other; git clone -q --depth 1 "file://$PWD" ../shallow
git -C ../bare.git config benchwrap.clone 89abcdef; git -C ../bare.git for-each-ref --format='delete %(refname)' refs/heads/benchwrap | git -C ../bare.git update-ref --stdin
like "into a bare repository" "$(bw commit --repo ../bare.git)" '^[0-9]+ runs committed to benchwrap/lab/89abcdef'
is "with all files" "$(git -C ../bare.git ls-tree -r --name-only benchwrap/lab/89abcdef mlruns | wc -l)" "$(find mlruns -type f | wc -l)"
cd ../wt && bw -q -- true && like "from a worktree, to the one branch of the clone" "$(bw commit)" "^1 run committed to $branch"
cd ../shallow && bw init --site lab --private . >/dev/null && bw -q -- true && like "in a shallow clone" "$(bw commit)" '^1 run committed'; whole "a shallow commit"
if git init -q --object-format=sha256 ../big 2>/dev/null; then
    refused "SHA-256 is told, not tried" 'SHA-256' bw commit --repo ../big
fi

# signed as git signs
if command -v ssh-keygen >/dev/null 2>&1; then
    cd "$WORK/r" && ssh-keygen -q -t ed25519 -N '' -C '' -f "$WORK/key" && echo "ada@example.org $(cat "$WORK/key.pub")" >"$WORK/signers"
    git config gpg.format ssh; git config user.signingKey "$WORK/key"; git config commit.gpgSign true; git config gpg.ssh.allowedSignersFile "$WORK/signers"
    bw -q -- true; ok "a signed commit" bw commit
    like "git verifies it" "$(git verify-commit "$branch" 2>&1)" 'Good "git" signature for ada@example.org'
    git config user.signingKey "$WORK/nokey"; bw -q -- true
    refused "a key that is not there" 'signing the commit' bw commit
    git config commit.gpgSign false
else
    skip_here "signed by ssh" "there is no ssh-keygen"
fi

signed_by_gnupg() # FORMAT KEY WORDS
{
    git config commit.gpgSign true; git config gpg.format "$1"; git config user.signingKey "$2"
    bw -q -- true; ok "a commit signed by $1" bw commit
    like "git verifies that" "$(git verify-commit "$branch" 2>&1)" "$3"
    git config commit.gpgSign false
}
GNUPGHOME=$WORK/gnupg; export GNUPGHOME
mkdir -m 700 "$GNUPGHOME" && cd "$WORK/r" || exit
if command -v gpg >/dev/null 2>&1; then
    gpg -q --batch --pinentry-mode loopback --passphrase '' --quick-generate-key 'Ada <ada@example.org>' ed25519 sign never 2>/dev/null
    signed_by_gnupg openpgp ada@example.org 'Good signature from "Ada <ada@example.org>'
    git config commit.gpgSign true; git config user.signingKey nobody@example.org; bw -q -- true
    refused "a key that gpg has not" 'signing the commit.*No secret key' bw commit
    git config commit.gpgSign false
else
    skip "signed by gpg" "gpg (gnupg)"
fi
if long_tests && ! command -v gpgsm >/dev/null 2>&1; then
    skip "signed by gpgsm" "gpgsm"
elif long_tests; then
    printf '%s\n' 'Key-Type: RSA' 'Key-Length: 2048' 'Key-Usage: sign, cert' 'Serial: random' 'Name-DN: CN=Ada,O=Lab' 'Name-Email: ada@example.org' '%no-protection' >../request
    gpgsm -q --batch --pinentry-mode loopback --passphrase '' --generate-key --output ../cert.pem ../request 2>/dev/null; gpgsm -q --batch --import ../cert.pem 2>/dev/null
    print=$(gpgsm --list-keys 2>/dev/null | sed -n 's/.*fingerprint: //p' | head -n 1)
    echo "$print S relax" >"$GNUPGHOME/trustlist.txt"; echo disable-crl-checks >"$GNUPGHOME/gpgsm.conf"; gpgconf --kill gpg-agent
    signed_by_gnupg x509 "0x$(printf '%s' "$print" | tr -d :)" 'Good signature from "/CN=Ada/O=Lab"'
fi
command -v gpgconf >/dev/null 2>&1 && gpgconf --kill all
whole "everything"
done_testing
