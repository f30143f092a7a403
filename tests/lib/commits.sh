# shellcheck shell=sh
# commits.sh: results repositories in tests: sourced behind tap.sh. Git has an identity that is nobody's.

git_ready()
{
    command -v git >/dev/null 2>&1 && ldconfig -p 2>/dev/null | grep -q 'libgit2\.so' || return 1
    git config --global user.name Ada
    git config --global user.email ada@example.org
    git config --global init.defaultBranch main
    git config --global maintenance.auto false # nothing of git's may still run when the place is removed
    git config --global protocol.file.allow always
}

commits_wait() # COUNT [GITDIR]: until the branches of this clone have so many commits that HEAD has not; the recorder makes them after the launcher's end
{
    commits_tries=0
    until [ "$(git -C "${2:-.}" rev-list --count --branches='benchwrap/*' ^HEAD 2>/dev/null || echo 0)" -ge "$1" ]; do
        commits_tries=$((commits_tries + 1))
        [ $commits_tries -lt 1200 ] || { echo "# still waiting for $1 commits"; return 1; }
        sleep 0.05
    done
}
