#!/bin/sh
# A build notices that an optional header or library appeared, changed or disappeared since the last build in the same folder.
# sanitizer: no, because it builds with flags of its own
. "$(dirname "$0")/../lib/tap.sh"
cd "$ROOT" || exit 1
unset MAKELEVEL MAKEFLAGS
real=${CC:-cc}
o=$WORK/o object=$WORK/o/obj/benchmarks/native/llmload/agent/api.o

# The compiler sees links to the system's headers, so that one of them can be hidden without touching the system.
flags=-nostdinc
n=0
$real -E -v -x c /dev/null 2>&1 | sed -n '/^#include </,/^End/s/^ //p' >"$WORK/dirs"
while read -r dir; do
    n=$((n + 1))
    mkdir "$WORK/include.$n"
    ln -s "$dir"/* "$WORK/include.$n/"
    flags="$flags -isystem $WORK/include.$n"
done <"$WORK/dirs"
printf '#!/bin/sh\nexec %s "$@" %s\n' "$real" "$flags" >"$WORK/cc"
chmod +x "$WORK/cc"
mkdir "$WORK/pc"
for dir in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
    for f in "$dir"/*.pc; do [ ! -e "$f" ] || [ -e "$WORK/pc/${f##*/}" ] || ln -s "$f" "$WORK/pc/"; done
done
header=$(find "$WORK"/include.* -maxdepth 1 -name microhttpd.h | head -n 1)
[ -n "$header" ] || { skip "optional parts" "libmicrohttpd-dev is not installed"; done_testing; exit; }
file=$(readlink -f "$header")

build() { PKG_CONFIG_LIBDIR="$WORK/pc" make -s O="$o" CC="$WORK/cc" CFLAGS=-O0 "$object" 2>&1; }
targets() { PKG_CONFIG_LIBDIR="$WORK/pc" make -n O="$o" CC="$WORK/cc" CFLAGS=-O0 all tests 2>&1; }
agents() { if grep -qa 'this build has no agents' "$object"; then echo none; else echo some; fi; }
time_of() { stat -c %y "$1"; }

rm "$header"
is "without the header it builds" "$(build)" ""
is "  and has no agents" "$(agents)" none
ln -s "$file" "$header"
is "with the header it builds again" "$(build)" ""
is "  and has agents" "$(agents)" some
before=$(time_of "$object")
build
is "  once" "$(time_of "$object")" "$before"
rm "$header"
{ cat "$file"; echo "/* a newer one */"; } >"$header"
touch -d 2001-01-01 "$header"
build
ok "a header whose new version has an old time is compiled in" test "$before" != "$(time_of "$object")"
rm "$header"
build
is "without the header again: no agents" "$(agents)" none

# Parts that are targets of their own.
if [ -e "$WORK/pc/sentencepiece.pc" ] && targets | grep -q 'sentencepiece[.]cc'; then
    build
    before=$(time_of "$object")
    mkdir -p "$o/libexec/benchwrap"
    touch "$o/libexec/benchwrap/llmload-sentencepiece.so"
    rm "$WORK/pc/sentencepiece.pc"
    is "without SentencePiece its object is no target" "$(targets | grep -c 'sentencepiece[.]cc')" 0
    build
    ok "  everything else is compiled again" test "$before" != "$(time_of "$object")"
    PKG_CONFIG_LIBDIR="$WORK/pc" make -s O="$o" CC="$WORK/cc" CFLAGS=-O0 no-pieces
    ok "  the object of an earlier build is removed" test ! -e "$o/libexec/benchwrap/llmload-sentencepiece.so"
else
    skip "SentencePiece hidden" "libsentencepiece-dev or a C++ compiler is not installed"
fi

# What the Makefile queries by pkg-config is part of the state that it compares.
state=$(sed -n 's/^BW_[A-Z]* *:= *\([a-z].*\)/\1/p' Makefile | sed 's/#.*//' | tr '\n' ' ')
for p in $(sed -n 's/.*pkg-config --exists \([a-z0-9. _-]*\) 2>.*/\1/p' Makefile) \
    $(sed -n 's,.*/\* link: \(.*\) \*/.*,\1,p' benchmarks/native/*/main.c); do
    like "the state of a build includes $p" " $state " " $p "
done
done_testing
