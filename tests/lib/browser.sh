# shellcheck shell=sh
# browser.sh: pages in headless Chromium, and axe-core. Sourced after tap.sh.

# browser_find: sets $browser and $axe; status 1 and a reason on stdout where one is missing.
browser_find()
{
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "no Chromium"; return 1; }
    axe=$CACHE/axe-core/axe.min.js
    [ -s "$axe" ] || { mkdir -p "$CACHE/axe-core" && (cd "$CACHE/axe-core" && npm pack --silent axe-core@4 >/dev/null && tar -xzf axe-core-*.tgz && mv package/axe.min.js .); }
    [ -s "$axe" ] || { echo "no axe-core"; return 1; }
}

# browser_run FILE SCHEME JAVASCRIPT: opens a copy of the page with axe-core and a script, which sets the title "RESULT …"; prints what follows RESULT.
# SCHEME: 1 light, 0 dark.
browser_run()
{
    browser_copy=$(dirname "$1")/.copy-$(basename "$1")
    python3 - "$1" "$axe" "$3" <<'P' >"$browser_copy"
import re, sys
page, axe, script = open(sys.argv[1], encoding="utf-8").read(), open(sys.argv[2], encoding="utf-8").read(), sys.argv[3]
page = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", page)
print(page[:page.rindex("</body>")] + "<script>" + axe + "</script><script>" + script + "</script></body></html>")
P
    "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/chrome" --blink-settings=preferredColorScheme="$2" --virtual-time-budget=20000 \
        --dump-dom "file://$PWD/$browser_copy" 2>/dev/null | sed -n 's,.*<title>RESULT \(.*\)</title>.*,\1,p' | head -n 1
    rm -f "$browser_copy"
}
# shellcheck disable=SC2034 # for the tests
browser_audit='axe.run(document,{resultTypes:["violations"]}).then(r=>{document.title="RESULT "+r.violations.map(v=>v.id+"("+v.nodes.length+")").join(" ")+"."},e=>{document.title="RESULT error "+e})'

# browser_requests FILE…: the addresses beyond files that the browser asks for while it shows the pages, without the browser's own.
browser_requests()
{
    for browser_page in "$@"; do
        "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/chrome2" --log-net-log="$WORK/net.json" --net-log-capture-mode=Everything \
            --screenshot="$WORK/page.png" "file://$PWD/$browser_page" >/dev/null 2>&1
        grep -oE '"url":"https?://[^"]*"' "$WORK/net.json" | grep -vE 'google|gvt1|chrome' | sort -u
    done
}
