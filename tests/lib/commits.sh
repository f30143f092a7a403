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

committed_runs() # [GITDIR]: how many runs the branches of this clone have that HEAD has not; one commit may hold several
{
    git -C "${1:-.}" log --branches='benchwrap/*' --not HEAD --diff-filter=A --name-only --format= -- 'mlruns/*/*/meta.yaml' 2>/dev/null | sort -u | wc -l
}

commits_wait() # COUNT [GITDIR]: until the branches have so many runs that HEAD has not; the recorder commits them after the launcher's end
{
    commits_expected=$1 commits_place=${2:-.}
    wait_until '[ "$(committed_runs "$commits_place")" -ge "$commits_expected" ]' 120
}
