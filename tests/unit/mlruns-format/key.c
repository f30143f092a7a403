/* key.c: which keys are legal, and what is made of the others. */
#include "mlruns-format/key.h"
#include "base/fs.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void keys_are_legal_or_made_so(void **state)
{
    static const struct { const char *text, *made; } rows[] = { /* made NULL: legal as it is */
        {"a", NULL}, {"write.max_MiB_per_s", NULL}, {"A b-c_d.e/f", NULL}, {"system/cpu", NULL}, {"0", NULL}, {"-", NULL}, {"a/b/c/d", NULL}, {"a..b", NULL},
        {"", "_"}, {"/", "_"}, {".", "_"}, {"..", "__"}, {"...", "_._"}, {"a.", "a_"}, {".a", "_a"}, {" a", "_a"}, {"a ", "a_"}, {"/a", "a"}, {"a/", "a"}, {"a//b", "a/b"},
        {"a/../b", "a/__/b"}, {"a/./b", "a/_/b"}, {"lat(us)", "lat_us_"}, {"a:b", "a_b"}, {"a\tb\nc", "a_b_c"}, {"\xc3\xbc", "_"}, {"\xff\xfe", "__"}, {"x=1", "x_1"},
        {"100%", "100_"}, {"\xf0\x9f\x98\x80", "_"}, {".gitkeep", "_gitkeep"}, {"a/.b", "a/_b"}, {"~", "_"}, {"a\\b", "a_b"}, {"\x1b[0m", "__0m"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 4096);
        int changed = key_make(&b, str_of(rows[i].text));
        if (key_legal(str_of(rows[i].text)) != !rows[i].made || changed != (rows[i].made != NULL) || !key_legal(buf_text(&b)) ||
            !str_is(buf_text(&b), rows[i].made ? rows[i].made : rows[i].text))
            fail_msg("\"%s\" became \"%s\" (changed %d)", rows[i].text, b.p, changed);
    }
}

static void long_keys_are_cut_and_stay_apart(void **state)
{
    char one[300], two[300];
    (void)state;
    memset(one, 'k', sizeof one);
    memcpy(two, one, sizeof one);
    two[299] = 'l';
    struct buf a CLEANUP_BUF, b CLEANUP_BUF;
    buf_init(&a, 4096);
    buf_init(&b, 4096);
    assert_true(key_legal((struct str){one, 250}));
    assert_false(key_legal((struct str){one, 251}));
    assert_int_equal(key_make(&a, (struct str){one, 300}), 1);
    key_make(&b, (struct str){two, 300});
    assert_int_equal(a.n, KEY_MAX);
    assert_true(key_legal(buf_text(&a)) && key_legal(buf_text(&b)));
    assert_false(str_eq(buf_text(&a), buf_text(&b)));
    memset(one, '/', sizeof one);
    one[0] = 'a';
    buf_clear(&a);
    key_make(&a, (struct str){one, 300});
    assert_string_equal(a.p, "a");
}

/* Whatever comes in, what comes out is legal, and a legal key is not touched. */
static void any_bytes_become_a_legal_key(void **state)
{
    unsigned seed = 7;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[600];
        size_t n = (size_t)(rand_r(&seed) % (round % 100 == 0 ? 600 : 12));
        for (size_t i = 0; i < n; i++)
            text[i] = rand_r(&seed) % 3 ? "a./ _-\\:"[rand_r(&seed) % 8] : (char)rand_r(&seed);
        struct buf b CLEANUP_BUF, again CLEANUP_BUF;
        buf_init(&b, 4096);
        buf_init(&again, 4096);
        key_make(&b, (struct str){text, n});
        assert_true(key_legal(buf_text(&b)));
        assert_int_equal(key_make(&again, buf_text(&b)), 0);
        assert_true(str_eq(buf_text(&b), buf_text(&again)));
    }
}

static void the_vectors_of_the_format(void **state)
{
    struct buf file CLEANUP_BUF;
    size_t rows = 0;
    (void)state;
    buf_init(&file, 1 << 20);
    assert_int_equal(fs_read(AT_FDCWD, "mlruns-format/vectors/keys.tsv", 1 << 19, 0, &file, NULL), 0);
    for (struct str rest = buf_text(&file), line; (line = str_cut(&rest, '\n')).n; rows++) {
        struct buf b CLEANUP_BUF;
        struct str text = str_cut(&line, '\t');
        buf_init(&b, 4096);
        key_make(&b, text);
        if (!str_eq(buf_text(&b), line))
            fail_msg("\"" STR_FMT "\" became \"%s\", wanted \"" STR_FMT "\"", STR_ARG(text), b.p, STR_ARG(line));
    }
    assert_true(rows >= 15);
}

static void segments(void **state)
{
    static const struct { const char *text, *made; } rows[] = {
        {"Max(MiB)", "max_mib"}, {"write", "write"}, {"Aggregate filesize", "aggregate_filesize"}, {"4k read", "n4k_read"}, {"", "x"}, {"__", "x"},
        {"a__b", "a_b"}, {" lead", "lead"}, {"trail ", "trail"}, {"\xc3\xbc" "ber", "ber"}, {"99", "n99"}, {"A", "a"}, {"%", "x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 256);
        buf_puts(&b, "p.");
        key_segment(&b, str_of(rows[i].text));
        if (strcmp(b.p + 2, rows[i].made) != 0)
            fail_msg("\"%s\" became \"%s\", wanted \"%s\"", rows[i].text, b.p + 2, rows[i].made);
    }
}

static void families_of_the_machine(void **state)
{
    static const struct { const char *key; bool result; } rows[] = {
        {"run.wall_s", false}, {"run.wall_s.median", false}, {"system/cpu_utilization_percentage", false}, {"counters.cycles", false},
        {"series.runs", false}, {"series.phase_ready_s", false}, {"series.phase_s", true}, {"fs2.used_end_percent", false}, {"slurm.cpu_s", false},
        {"memory.bw_MiB_per_s", true}, {"memory.bw_MiB_per_s.max", true}, {"run.p50_ms.median", true}, {"cpu.user_percent", true}, {"series.n", true},
        {"pressure.mean", true}, {"kernel.time_ms", true}, {"host.to_device_GB_per_s", true}, {"memory.available_start_GiB_x", true},
        {"write.bw_MiB_per_s", true}, {"runs", true}, {"running.time_s", true}, {"system", true}, {"load", true}, {"oss.count", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (key_is_result(rows[i].key) != rows[i].result)
            fail_msg("%s", rows[i].key);
}

static void keys_are_taken_apart(void **state)
{
    static const struct { const char *key; size_t stem; const char *unit; } rows[] = {
        {"write.bw_MiB_per_s.max", 18, "MiB_per_s"}, {"write.bw_MiB_per_s", 18, "MiB_per_s"}, {"write.bw_MiB_per_s.n", 18, ""},
        {"run.wall_s", 10, "s"}, {"class", 5, ""}, {"a.max", 1, ""}, {"lat_us.p999", 6, "us"}, {"x.maximum", 9, ""},
    };
    struct arena a;
    (void)state;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(key_stem(rows[i].key), rows[i].stem);
        assert_string_equal(key_unit(rows[i].key, &a), rows[i].unit);
    }
    arena_deinit(&a);
}

/* The units of the contract, and texts that are none: vectors for readers in other languages. */
static void units_are_those_of_the_vectors(void **state)
{
    struct buf b CLEANUP_BUF;
    struct arena a;
    char path[4096];
    size_t n = 0;
    (void)state;
    buf_init(&b, 1 << 20);
    arena_init(&a, 0);
    snprintf(path, sizeof path, "%s/mlruns-format/vectors/key-units.tsv", getenv("ROOT") ? getenv("ROOT") : ".");
    assert_int_equal(fs_read(AT_FDCWD, path, 1 << 20, 0, &b, NULL), 0);
    for (struct str rest = buf_text(&b), line; rest.p && (line = str_cut(&rest, '\n')).n; n++) {
        struct str unit = line, key = str_cut(&unit, '\t');
        const char *found = key_unit(arena_dup(&a, key.p, key.n), &a);
        if (!str_is(unit, found))
            fail_msg("the unit of " STR_FMT " is " STR_FMT ", found %s", STR_ARG(key), STR_ARG(unit), found);
    }
    assert_true(n > 10);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_legal_or_made_so),
        cmocka_unit_test(long_keys_are_cut_and_stay_apart),
        cmocka_unit_test(any_bytes_become_a_legal_key),
        cmocka_unit_test(units_are_those_of_the_vectors),
        cmocka_unit_test(the_vectors_of_the_format),
        cmocka_unit_test(segments),
        cmocka_unit_test(families_of_the_machine),
        cmocka_unit_test(keys_are_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
