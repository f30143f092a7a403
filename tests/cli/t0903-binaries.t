#!/bin/bash
# The built programs: random addresses, nothing writable after start, no executable stack; equal bytes from two folders.
# sanitizer: no, it links otherwise
. "$(dirname "$0")/../lib/tap.sh"
command -v readelf >/dev/null || { skip "how the programs are linked" "readelf"; done_testing; exit; }
cd "$WORK" || exit 1
CC=${CC:-cc}
gcc_like=$($CC -dumpmachine 2>/dev/null)
static=$($CC -print-file-name=rcrt1.o 2>/dev/null)
marked() { readelf -nW "$1" 2>/dev/null | grep -q 'IBT, SHSTK'; }

for file in "$BUILD"/bin/benchwrap "$BUILD"/libexec/benchwrap/benchwrap-core "$BUILD"/bin/llmload "$BUILD"/bin/llmfake "$BUILD"/bin/taskrate "$BUILD"/libexec/benchwrap/*.so; do
    [ -e "$file" ] || continue
    name=${file##*/}
    readelf -hldW "$file" >elf 2>/dev/null
    if grep -q 'There is no dynamic section' elf; then
        case $static in
        /*) tap_fail "$name: position independent" "it is linked at a fixed address" ;;
        *) skip_here "$name: position independent" "this libc has no start code for it (rcrt1.o)" ;;
        esac
        continue
    fi
    like "$name: position independent" "$(grep 'Type:' elf)" 'DYN'
    like "$name: relocated data is read-only" "$(grep GNU_RELRO elf)" RELRO
    like "$name: all of it, bound at start" "$(grep -E 'BIND_NOW|Flags: NOW' elf)" NOW
    like "$name: no executable stack" "$(grep GNU_STACK elf)" ' RW '
    is "$name: no segment is writable and executable" "$(grep -E ' RWE ' elf)" ""
    is "$name: no text relocations, no search path" "$(grep -E 'TEXTREL|R(UN)?PATH' elf)" ""
done
case $gcc_like in
x86_64-*)
    if echo 'int x;' | $CC -Werror -fcf-protection -c -x c -o cet.o - 2>/dev/null && marked cet.o; then
        ok "objects are marked for CET" marked "$BUILD/obj/wrapper/launch/fd.o"
        if marked "$($CC -print-file-name=Scrt1.o)" && marked "$($CC -print-file-name=crti.o)"; then
            ok "so is the recorder" marked "$BUILD/libexec/benchwrap/benchwrap-core"
        else
            skip_here "so is the recorder" "the start code of this libc carries no such note (Debian 12)"
        fi
    fi ;;
esac
# Symbols that check bounds: of FORTIFY_SOURCE.
like "bounds are checked" "$(readelf -sW "$BUILD/libexec/benchwrap/benchwrap-core" | grep -oE '__(snprintf|memcpy|vsnprintf)_chk' | sort -u | head -1)" _chk

# Two folders, equal bytes: some objects, and in the slow tier the programs.
what="build/obj/wrapper/base/str.o build/obj/wrapper/launch/fd.o"
! long_tests || what="build/bin/benchwrap build/libexec/benchwrap/benchwrap-core build/bin/taskrate"
for folder in one another/deeper; do
    mkdir -p "$folder"
    (cd "$ROOT" && tar -cf - Makefile VERSION scripts wrapper mlruns-format probes benchmarks) | tar -C "$folder" -xf -
    # shellcheck disable=SC2086 # a list of files
    (cd "$folder" && env -u MAKEFLAGS -u O CCACHE_DISABLE=1 make -s O=build $what >make.log 2>&1) || tap_fail "built in $folder" "$(tail -5 "$folder/make.log")"
    # shellcheck disable=SC2086
    (cd "$folder" && sha256sum $what) >"${folder%%/*}.sums"
done
is "builds in two folders have equal bytes" "$(cat another.sums)" "$(cat one.sums)"
done_testing
