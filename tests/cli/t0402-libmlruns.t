#!/bin/sh
# libmlruns: each public header compiles alone and stands being included twice, and a program links with the library.
# sanitizer: long, because CI has fifteen minutes for everything
. "$(dirname "$0")/../lib/tap.sh"
CC=${CC:-cc}
cd "$ROOT" || exit
flags="-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Iwrapper -I."

for header in $(scripts/public-headers); do
    case $header in *.def) continue ;; esac
    printf '#include "%s"\n#include "%s"\ntypedef int some_declaration;\n' "$header" "$header" | sed 's|"wrapper/|"|' >"$WORK/alone.c"
    # shellcheck disable=SC2086
    ok "$header compiles alone" $CC $flags -fsyntax-only "$WORK/alone.c"
done

cat >"$WORK/program.c" <<'END'
#include "mlruns-format/tree.h"
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct record r;
    struct err err = {0};
    struct str name;
    uint32_t id;
    int root = open(argc > 1 ? argv[1] : ".", O_RDONLY | O_DIRECTORY);
    struct journal_head head = {.host = "h", .experiment = "ior", .run_name = "from a program", .tree = "", .user = "u", .job = "", .options = ""};
    record_new_id(head.id);
    record_init(&r, head.id, 1767225600123);
    record_param(&r, "a", STR("1"));
    r.status = RUN_FINISHED;
    r.end_ms = 1767225600999;
    if (tree_experiment(root, STR("ior"), &r.arena, &id, &name, &err) < 0 || tree_build(&r, &head, id, name, root, root, "../run", &err) < 0 ||
        tree_publish(root, id, r.id, root, "../run", &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    printf("%u/%s\n", id, r.id);
    record_deinit(&r);
    return 0;
}
END
if nm "$BUILD/lib/libmlruns.a" 2>/dev/null | grep -q '__asan_\|__ubsan_'; then
    skip_here "a program links with libmlruns" "the library is built with a sanitizer"
else
    # shellcheck disable=SC2086,SC2046
    $CC $flags -c -o "$WORK/program.o" "$WORK/program.c"
    # shellcheck disable=SC2086,SC2046
    ok "a program links with libmlruns" $CC $flags -o "$WORK/program" "$WORK/program.c" "$BUILD/lib/libmlruns.a" \
        $(pkg-config --libs $(sed -n 's/^Requires[^:]*: *//p' scripts/packaging/mlruns.pc.in)) -lm
    mkdir "$WORK/mlruns"
    run=$("$WORK/program" "$WORK/mlruns")
    like "and publishes a run" "$run" '^498177579/[0-9a-f]{32}$'
    like "which is there" "$(cat "$WORK/mlruns/$run/meta.yaml")" '^run_name: "from a program"$'
    # shellcheck disable=SC2086,SC2046
    ok "nothing that the library needs is missing" $CC -o "$WORK/complete" "$WORK/program.o" -Wl,--whole-archive "$BUILD/lib/libmlruns.a" -Wl,--no-whole-archive \
        $(pkg-config --libs $(sed -n 's/^Requires[^:]*: *//p' scripts/packaging/mlruns.pc.in)) -lm
    # A file of base/ that defines no name which another file of the library uses is too much.
    nm -P -A "$BUILD/lib/libmlruns.a" 2>/dev/null | awk '{ sub(/^[^[]*\[/, "", $1); sub(/\].*/, "", $1) }
        $3 == "U" { used[$2, ++n[$2]] = $1; next }
        $3 ~ /^[TDBR]$/ { of[$2] = $1; files[$1] = 1 }
        END { for (name in of) for (i = 1; i <= n[name]; i++) if (used[name, i] != of[name]) needed[of[name]] = 1
              for (file in files) if (!(file in needed)) print file }' | sort >"$WORK/surplus"
    is "nothing is in it that nothing of it needs" "$(while read -r file; do [ -e "mlruns-format/${file%.o}.c" ] || echo "$file"; done <"$WORK/surplus")" ""
fi
done_testing
