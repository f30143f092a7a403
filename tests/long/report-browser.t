#!/bin/sh
# Reports and plots in Chromium, light and dark: accessible by axe-core, without a request to a network, sorted and filtered by the page's script.
. "$(dirname "$0")/../lib/tap.sh"
cd "$WORK" || exit 1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { skip "no Chromium"; done_testing; exit 0; }
axe=$CACHE/axe-core/axe.min.js
[ -s "$axe" ] || { mkdir -p "$CACHE/axe-core" && (cd "$CACHE/axe-core" && npm pack --silent axe-core@4 >/dev/null && tar -xzf axe-core-*.tgz && mv package/axe.min.js .); }
[ -s "$axe" ] || { skip "no axe-core"; done_testing; exit 0; }

cat >rate.sh <<'X'
awk -v b="${1:-500}" -v s="$$" 'BEGIN { srand(s); printf "rate: %.1f MB/s\nwait: %.2f ms\n", b * (0.97 + rand() * 0.06), 5 + rand() }'
X
for i in 1 2 3 4 5 6 7 8 9 10; do "$BENCHWRAP" -q -e io -p size=4k -- sh rate.sh >/dev/null; done
for i in 1 2 3; do "$BENCHWRAP" -q -e io -p size=8k -- sh rate.sh >/dev/null; done
"$BENCHWRAP" -q -e sweep --sweep n=100,200,400 --repeat 3 -- sh rate.sh '{n}' >/dev/null
"$BENCHWRAP" report last -o run.html
"$BENCHWRAP" report -e io -o experiment.html
"$BENCHWRAP" report -e io --by size -o groups.html

# The page in a browser, with a script added that a reader's copy does not have: prints what it found as the title.
browse() # PAGE SCHEME JAVASCRIPT
{
    python3 - "$1" "$axe" "$3" <<'P' >copy.html
import re, sys
page, axe, script = open(sys.argv[1], encoding="utf-8").read(), open(sys.argv[2], encoding="utf-8").read(), sys.argv[3]
page = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", page)
print(page[:page.rindex("</body>")] + "<script>" + axe + "</script><script>" + script + "</script></body></html>")
P
    "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/chrome" --blink-settings=preferredColorScheme="$2" --virtual-time-budget=20000 \
        --dump-dom "file://$WORK/copy.html" 2>/dev/null | sed -n 's,.*<title>RESULT \(.*\)</title>.*,\1,p' | head -n 1
}
audit='axe.run(document,{resultTypes:["violations"]}).then(r=>{document.title="RESULT "+r.violations.map(v=>v.id+"("+v.nodes.length+")").join(" ")+"."},e=>{document.title="RESULT error "+e})'
for page in run experiment groups; do
    is "$page: axe finds nothing, light" "$(browse $page.html 1 "$audit")" .
    is "$page: axe finds nothing, dark" "$(browse $page.html 0 "$audit")" .
done
is "a column is sorted" "$(browse experiment.html 1 'const t=[...document.querySelectorAll("table.data")].pop(),i=[...t.tHead.rows[0].cells].findIndex(c=>c.textContent.includes("rate"));
t.tHead.rows[0].cells[i].querySelector("button").click();const v=[...t.tBodies[0].rows].map(r=>Number(r.cells[i].dataset.v)).filter(x=>x);
document.title="RESULT "+(v.length>9&&v.every((x,k)=>!k||v[k-1]<=x))+" "+t.tHead.rows[0].cells[i].getAttribute("aria-sort")')" "true ascending"
is "rows are filtered" "$(browse experiment.html 1 'const f=[...document.querySelectorAll(".filter input")].pop();f.value="8k";f.dispatchEvent(new Event("input"));
document.title="RESULT "+document.querySelector(".filter [role=status]").textContent')" "3 of 13 rows"
"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/chrome" --virtual-time-budget=5000 --dump-dom "file://$WORK/experiment.html" >dom 2>/dev/null
ok "the script runs under the page's own policy" grep -q 'aria-label="Filter rows of runs"' dom
"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/chrome2" --log-net-log="$WORK/net.json" --net-log-capture-mode=Everything \
    --screenshot="$WORK/run.png" "file://$WORK/run.html" >/dev/null 2>&1
ok "a picture was made" [ -s run.png ]
ok "the page asks for nothing beyond its file" python3 - net.json <<'P'
import re, sys
text = open(sys.argv[1], encoding="utf-8", errors="replace").read()
asked = set(re.findall(r'"url":"(https?://[^"]*)"', text))
own = {u for u in asked if not re.search(r"google|gvt1|chrome", u)} # what the browser asks for itself
assert not own, own
P
done_testing
