#!/bin/sh
# The house: includes keep to docs/layers.txt, and the check sees a breach; the build tells what is missing; the two commands are runnable.
# without the program: scripts are what is tested
# sanitizer: long, because scripts are what is tested
. "$(dirname "$0")/../lib/tap.sh"

ok "every include keeps to docs/layers.txt" "$ROOT/scripts/check-layers"
breach() # FILE INCLUDE PATTERN: a tree with one more include is refused, by name of file and line
{
    rm -rf "$WORK/tree"
    mkdir "$WORK/tree"
    (cd "$ROOT" && find scripts/check-layers docs/layers.txt wrapper mlruns-format probes benchmarks -type f ! -path "*/samples/*" -print0 | tar --null -T - -cf -) | tar -C "$WORK/tree" -xf -
    sed -i "1i $2" "$WORK/tree/$1"
    out=$("$WORK/tree/scripts/check-layers")
    is "refused: $2 in $1" "$?" 1
    like "it names file, line and rule" "$out" "^$1:1: $2: docs/layers.txt "
}
breach wrapper/base/str.c '#include "mlruns-format/record.h"'
breach wrapper/launch/main.c '#include "probes/probe.h"'
breach mlruns-format/key.c '#include "cmd/cmd.h"'
breach mlruns-format/key.c '#include <hwloc.h>'
breach wrapper/base/fs.c '#include <curl/curl.h>'

# The examples of the howtos: they compile in the tree, and no name in them is another one's. The linker would take the first of two without a word.
rm -rf "$WORK/tree"
mkdir "$WORK/tree"
(cd "$ROOT" && find scripts/check-names scripts/check-layers docs/layers.txt wrapper mlruns-format probes benchmarks -type f ! -path "*/samples/*" -print0 | tar --null -T - -cf -) | tar -C "$WORK/tree" -xf -
example() # HOWTO FILE: its C code that begins with a comment of this file's name
{
    awk -v begin="/* ${2##*/}: " '/^ *```c$/ { match($0, /^ */); n = RLENGTH; inside = 1; next } /^ *```$/ { if (inside && ours) exit; inside = ours = 0; next }
        inside { line = substr($0, n + 1); if (index(line, begin) == 1) ours = 1; if (ours) print line }' "$ROOT/docs/$1" >"$WORK/tree/$2"
    ok "$1: the example compiles" sh -c 'test -s "$1" && cd "$2" && ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Iwrapper -I. -Wall -Wextra -Wshadow -Werror -fsyntax-only "$1"' - "$WORK/tree/$2" "$WORK/tree"
}
example howto-probe.md probes/battery.c
example howto-command.md wrapper/cmd/cmd_count.c
example howto-exporter.md wrapper/exporters/count.c
is "... their names are their own" "$("$WORK/tree/scripts/check-names")" ""
is "... and their includes keep to docs/layers.txt" "$("$WORK/tree/scripts/check-layers")" ""

# A machine that lacks something: the package is named in a sentence.
out=$(cd "$ROOT" && PKG_CONFIG_LIBDIR=/nowhere PKG_CONFIG_PATH='' scripts/check-packages hwloc libcjson)
is "missing libraries: status" "$?" 1
like "missing library: its package" "$out" '^benchwrap: the library hwloc is missing: install the package libhwloc-dev \(Debian\), hwloc-devel'
out=$(cd "$ROOT" && CC=no-such-compiler scripts/check-packages hwloc)
like "missing compiler: its package" "$out" '^benchwrap: the C compiler \(no-such-compiler\) is missing: install the package gcc'
mkdir "$WORK/pc"
printf 'Name: hwloc\nDescription: x\nVersion: 2.9\nCflags: -I/nowhere\n' >"$WORK/pc/hwloc.pc"
printf '#!/bin/sh\necho "<stdin>:1:10: fatal error: hwloc.h: No such file or directory" >&2\nexit 1\n' >"$WORK/cc"
chmod +x "$WORK/cc"
out=$(cd "$ROOT" && CC="$WORK/cc" PKG_CONFIG_LIBDIR="$WORK/pc" scripts/check-packages hwloc)
like "a library without its header is told" "$out" '^benchwrap: the header hwloc.h is missing'

# Without root and without sudo quickstart says what an administrator installs.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir -p "$WORK/bin"
    for t in sh dirname id cat sed grep awk mktemp rm env printf; do ln -sf "$(command -v $t)" "$WORK/bin/$t"; done
    printf '#!/bin/sh\nexit 100\n' >"$WORK/bin/apt-get"
    chmod 755 "$WORK" "$WORK/bin" "$WORK/bin/apt-get"
    mkdir "$WORK/scripts" && cp -r "$ROOT/scripts/install-needs" "$ROOT/scripts/packaging" "$WORK/scripts/"
    chmod -R a+rX "$WORK/scripts"
    out=$(cd / && PATH="$WORK/bin" "$(command -v setpriv)" --reuid 65534 --regid 65534 --clear-groups "$WORK/scripts/install-needs" build 2>&1)
    is "no root, no sudo: status" "$?" 1
    like "no root, no sudo: the line for the administrator" "$out" 'apt-get install .*libhwloc-dev'
    like "  and the way without root" "$out" 'make install PREFIX=\$HOME/.local'
else
    skip_here "no root, no sudo" "this test gives root away, it has none"
fi

# prove stops every other test at TAP's word for giving up: a test file fails alone (tap_stop).
word='Bail out'
is "no test ends all others" "$(cd "$ROOT" && grep -rln "$word!" tests --include='*.sh' --include='*.t' --include='*.c' --include='*.py' --include='*.h')" ""
mkdir "$WORK/prove"
printf '. "%s/tap.sh"\ntap_stop "the server starts"\n' "$TESTLIB" >"$WORK/prove/a.t"
printf '. "%s/tap.sh"\nok "runs" true\ndone_testing\n' "$TESTLIB" >"$WORK/prove/b.t"
out=$(prove -j 1 -e sh "$WORK/prove" 2>&1)
is "a file that stops fails the run" "$?" 1
like "  and is the only one that fails" "$out" 'a\.t .*Tests: 1 Failed: 1'
like "  while the others run" "$out" 'b\.t \.+ ok'

# A test waits for a condition, as long as a busy machine needs, and in one way: wait_until.
is "no test has a loop of its own that waits" "$(cd "$ROOT" && grep -rnE '(^|[^\\])\$\(seq .*(&&|\|\|) break; sleep|wait_for\(\)|until_file\(\)' tests/cli tests/long tests/lib --include='*.t' --include='*.sh')" ""
wait_until '[ -e "$WORK/never" ]' 1 2>"$WORK/waited"
is "a wait has an end, and says for what it was" "$? $(cat "$WORK/waited")" '1 # t0900-house: not so after 1 s: [ -e "$WORK/never" ]'

# ---- lint prose: the words that the glossary avoids ----
printf '/* whole: "the\n * recorder tells" */\nchar *text = "told"; // looked at\n' >"$WORK/words.c"
printf 'A figure of merit is at least `told`.\n\n```\nnobody looks\n```\nThe run is recorded\nby somebody.\n' >"$WORK/words.md"
out=$(cd "$ROOT" && scripts/lint prose "$WORK/words.c" "$WORK/words.md")
is "lint prose fails where it finds a word" "$?" 1
is "  in comments and paragraphs, with file and line" "$(printf '%s\n' "$out" | sed -n "s|^$WORK/\([^ ]* \"[a-z]*\"\).*|\1|p" | sort)" "$(printf '%s\n' 'words.c:1: "whole"' 'words.c:2: "tells"' 'words.c:3: "looked"' 'words.md:7: "somebody"')"
like "  and counts" "$out" "4 words in 2 files"
printf 'The run is recorded.\n' >"$WORK/words.md"
ok "  and is content without one" sh -c "cd '$ROOT' && scripts/lint prose '$WORK/words.md'"

# ---- check-links: documents refer to files and headings that exist ----
printf '# One `thing`, twice\n[a](#one-thing-twice) [b](#other) ![c](lint.png)\n' >"$WORK/links.md"
out=$(cd "$ROOT" && scripts/check-links "$WORK/links.md")
is "check-links: a file and a heading that do not exist have their line" "$out" "$WORK/links.md:2: #other: no such heading
$WORK/links.md:2: lint.png: no such file"
ok "  and documents have no such link" "$ROOT/scripts/check-links"

is "every test may be run" "$(find "$ROOT/tests/cli" "$ROOT/tests/long" -name '*.t' ! -perm -u+x)" ""
for f in scripts/quickstart scripts/test .ci/run; do ok "$f may be run" test -x "$ROOT/$f"; done
done_testing
