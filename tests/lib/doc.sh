# shellcheck shell=bash
# doc.sh: follow a page of docs/ literally. Sourced after tap.sh.

# doc_follow PAGE SECTION [PREFIX]: the section's console commands in their order, in this shell; each has status 0 and prints what the page shows.
# doc_here FILE, which the test defines, prints a command with the test's own places, by doc_places.
doc_follow()
{
    export GIT_PROGRESS_DELAY=600 # git shows its progress on a busy machine, also where it is quiet
    rm -rf "$WORK/doc" && mkdir "$WORK/doc"
    python3 "$TESTLIB/doc.py" blocks "$ROOT/docs/$1" "$WORK/doc" "$2" || { tap_fail "the section \"$2\" of $1"; return; }
    for doc_command in "$WORK"/doc/*.command; do
        doc_text=$(doc_here "$doc_command") && [ -n "$doc_text" ] || { tap_fail "${3:-}$2: $(cat "$doc_command")" "doc_here prints no command"; continue; }
        eval "$doc_text" >"$WORK/doc.out" 2>&1 </dev/null
        doc_status=$?
        doc_difference=$(python3 "$TESTLIB/doc.py" form "${doc_command%.command}.sample" "$WORK/doc.out" 2>&1) || doc_status="$doc_status, and prints what the page does not show"
        is "${3:-}$2: $(cat "$doc_command")" "$doc_status" 0
        [ "$doc_status" = 0 ] || printf '%s\n' "$doc_difference" "$(cat "$WORK/doc.out")" | sed 's/^/# /' >&2
    done
}

# doc_places FILE FROM TO …: a command with each text FROM replaced by TO.
doc_places() { python3 "$TESTLIB/doc.py" places "$@"; }
