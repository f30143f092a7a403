#!/bin/sh
# benchwrap report: a run as one page that loads nothing.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
"$BENCHWRAP" -e io --name '<b>n</b>' -- sh -c 'echo "rate: 500 MiB/s"; echo "<script>alert(1)</script>"' >/dev/null 2>&1
"$BENCHWRAP" report last -o r.html
is "report succeeds" $? 0
ok "it is a page" grep -q '^<!DOCTYPE html>' r.html
ok "with the metric" grep -q '>rate<' r.html
ok "and the output, escaped" grep -q '&lt;script&gt;alert(1)' r.html
ok "the name is escaped" grep -q '<h1>&lt;b&gt;n&lt;/b&gt;</h1>' r.html
ok "nothing of the run is markup" sh -c '! grep -q "<script>alert\|<b>" r.html'
ok "it names no other address" sh -c '! grep -qE "(src|href)=\"[a-z]*:?//" r.html'
done_testing
