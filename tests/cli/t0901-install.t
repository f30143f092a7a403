#!/bin/sh
# Installing without root into a folder of one's own: what is there works from any place, libmlruns can be linked, uninstall takes all away.
# sanitizer: no, because make would build again without it
. "$(dirname "$0")/../lib/tap.sh"
cd "$ROOT" || exit 1
unset MAKELEVEL

ok "make install into a home" make -s O="$BUILD" install PREFIX="$WORK/a home"
home="$WORK/a home"
cd "$WORK" || exit 1
for f in bin/benchwrap libexec/benchwrap/benchwrap-core share/man/man1/benchwrap.1 share/man/man1/benchwrap-help.1 lib/libmlruns.a lib/pkgconfig/mlruns.pc \
    share/bash-completion/completions/benchwrap share/zsh/site-functions/_benchwrap share/fish/vendor_completions.d/benchwrap.fish \
    share/doc/benchwrap/LICENSE; do
    ok "installed: $f" test -s "$home/$f"
done
is "the catalogue is in the program" "$("$home/bin/benchwrap" plan --json -- fio | grep -o '"shipped:[a-z]*"')" '"shipped:fio"'
mkdir w && cd w || exit 1
mv "$home" "$WORK/moved"
out=$("$WORK/moved/bin/benchwrap" -- sh -c 'echo out; exit 5' 2>err)
is "moved elsewhere it wraps: status" "$?" 5
is "moved elsewhere it wraps: output" "$out" out
ok "moved elsewhere it records" test -s "$(echo mlruns/[0-9]*/*/metrics/run.wall_s)"
ln -s "$WORK/moved/bin/benchwrap" "$WORK/link"
ok "through a symbolic link it finds its core" "$WORK/link" version
if command -v man >/dev/null && man -w man >/dev/null 2>&1 || command -v mandoc >/dev/null; then
    page=$( (MANPAGER=cat MANWIDTH=100 man -l "$WORK/moved/share/man/man1/benchwrap.1" 2>/dev/null || mandoc -Tascii "$WORK/moved/share/man/man1/benchwrap.1") | sed 's/.\x08//g')
    like "the manual page is readable" "$page" '^NAME'
    like "it has the options" "$page" 'kill-after'
else
    skip_here "manual page" "no man here"
fi

plain=$WORK/plain
ok "make install into another place" make -s -C "$ROOT" O="$BUILD" install PREFIX="$plain"
PKG_CONFIG_PATH="$plain/lib/pkgconfig"
export PKG_CONFIG_PATH
cat >use.c <<'C'
#include "mlruns-format/record.h"
#include "mlruns-format/tree.h"
#include <stdio.h>
int main(void)
{
    printf("%u\n", tree_experiment_id(STR("ior")));
    return 0;
}
C
flags=$(pkg-config --cflags mlruns) libs=$(pkg-config --libs --static mlruns)
cc=${CC:-cc}
# shellcheck disable=SC2086 # words
ok "a program of others links libmlruns" $cc -std=gnu11 -o use use.c $flags $libs
like "and it knows experiment ids" "$(./use 2>&1)" '^[0-9]+$'
for h in $("$ROOT/scripts/public-headers"); do
    h=${h#wrapper/}
    case $h in *.def) continue ;; esac
    printf '#include "%s"\n' "$h" >alone.c
    # shellcheck disable=SC2086
    ok "header reads alone: $h" $cc -std=gnu11 -Wall -Werror -fsyntax-only $flags alone.c
done

dead=$(cd "$plain/share/doc/benchwrap" && grep -oE '\]\([^):]+\)' README.md | sed 's/^](//; s/)$//; s/#.*//' | sort -u | while read -r link; do [ -e "$link" ] || echo "$link"; done)
is "the links of the installed README lead somewhere" "$dead" ""
flags() { make -s -C "$ROOT" O="$WORK/o" CFLAGS="$1" ${2:+"$2"} "$WORK/o/flags" 2>&1; } # CFLAGS [VARIABLE]: what make prints before it compiles
is "make compiles nothing again for the same flags, wherever it installs" "$(flags -O2; flags -O2; flags -O2 PREFIX=/x)" ""
is "... and names what changed" "$(flags -O1)" "make: the last build in $WORK/o had other flags or libraries, everything is compiled again; new is -O1"
ok "make uninstall" make -s -C "$ROOT" O="$BUILD" uninstall PREFIX="$plain"
is "uninstall leaves no file" "$(find "$plain" ! -type d)" ""
ok "DESTDIR is put before PREFIX" make -s -C "$ROOT" O="$BUILD" install DESTDIR="$WORK/stage" PREFIX=/usr
ok "staged program" test -x "$WORK/stage/usr/bin/benchwrap"
is "the .pc file names the final place" "$(sed -n 's/^prefix=//p' "$WORK/stage/usr/lib/pkgconfig/mlruns.pc")" /usr
done_testing
