/* unpack.c: what archives made by hand unpack to, and which ones cannot be read. */
#include "base/inflate.h"
#include "check/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A block of deflate that stores the text as it is, the last one. */
static void put_stored(struct buf *to, struct str text)
{
    const char head[5] = {1, (char)(text.n & 255), (char)(text.n >> 8), (char)(~text.n & 255), (char)(~text.n >> 8)};
    buf_add(to, head, sizeof head);
    buf_str(to, text);
}

static void put_gzip(struct buf *to, struct str text)
{
    buf_add(to, "\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
    put_stored(to, text);
    buf_add(to, "\0\0\0\0\0\0\0\0", 8); /* a wrong checksum: what came before it counts all the same */
}

static void put_zip_entry(struct buf *to, const char *name, struct str text, char flags, char method)
{
    char head[30] = "PK\3\4\24";
    head[6] = flags;
    head[8] = method;
    head[26] = (char)strlen(name);
    buf_add(to, head, sizeof head);
    buf_puts(to, name);
    if (method == 8)
        put_stored(to, text);
    else
        buf_str(to, text);
}

static void put_tar_member(struct buf *to, const char *name, char type, struct str text)
{
    char head[512] = "";
    snprintf(head, 100, "%s", name);
    snprintf(head + 124, 12, "%011zo", text.n);
    head[156] = type;
    memcpy(head + 257, "ustar", 5);
    buf_add(to, head, sizeof head);
    buf_str(to, text);
    while (to->n % 512)
        buf_putc(to, 0);
}

/* Unpacks data within most bytes, and compares the text and the reason (NULL: none). Empties `data`. */
static void check(struct buf *data, size_t most, const char *text, const char *why)
{
    CLEANUP_BUF struct buf to;
    buf_init(&to, 1 << 20);
    const char *got = check_unpack(buf_text(data), most, &to);
    if (!got != !why || (why && strcmp(got, why) != 0))
        fail_msg("got \"%s\", expected \"%s\"", got ? got : "", why ? why : "");
    assert_string_equal(to.p ? to.p : "", text);
    buf_clear(data);
}

static void plain_texts_stay_out(void **state)
{
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    check(&b, 100, "", NULL);
    buf_puts(&b, "plain text");
    check(&b, 100, "", NULL);
    buf_puts(&b, "BZ");
    check(&b, 100, "", NULL);
    buf_puts(&b, "BZh");
    check(&b, 100, "", "compressed by bzip2");
    buf_puts(&b, "-----BEGIN PGP MESSAGE");
    check(&b, 100, "", "encrypted by PGP");
}

static void closed_formats_are_named(void **state)
{
    static const struct {
        const char *bytes, *why;
    } rows[] = {{"\3757zXZ", "compressed by xz"},
                {"BZh", "compressed by bzip2"},
                {"\x28\xb5\x2f\xfd", "compressed by zstd"},
                {"\x04\x22\x4d\x18", "compressed by lz4"},
                {"\x1f\x9d", "compressed by compress"},
                {"7z\xbc\xaf\x27\x1c", "a 7z archive"},
                {"Rar!\x1a", "a rar archive"},
                {"age-encryption.org/", "encrypted by age"},
                {"Salted__", "encrypted by OpenSSL"},
                {"!<arch>\n", "an archive of ar"},
                {"070701", "an archive of cpio"},
                {"-----BEGIN PGP MESSAGE", "encrypted by PGP"}};
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        buf_puts(&b, rows[i].bytes);
        check(&b, 100, "", rows[i].why);
        buf_add(&b, rows[i].bytes, strlen(rows[i].bytes) - 1);
        check(&b, 100, "", NULL);
        buf_printf(&b, "%s\1", rows[i].bytes);
        check(&b, 100, "", rows[i].why);
    }
}

static void streams_of_zlib(void **state)
{
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    buf_add(&b, "\x78\x01", 2);
    put_stored(&b, STR("zz"));
    assert_int_equal(b.n, 9); /* the shortest that is read */
    check(&b, 100, "zz", NULL);
    buf_add(&b, "\x78\x01", 2);
    put_stored(&b, STR("z"));
    check(&b, 100, "", NULL);
    static const char heads[][3] = {"\x79\x01", "\x78\x02", "\x78\x20", "\x48\x89"}; /* no zlib, a wrong sum, a dictionary, another window */
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        buf_add(&b, heads[i], 2);
        put_stored(&b, STR("text"));
        check(&b, 100, "", NULL);
    }
}

static void gzip_and_gzip_in_gzip(void **state)
{
    CLEANUP_BUF struct buf b, inner;
    (void)state;
    buf_init(&b, 1 << 20);
    buf_init(&inner, 1 << 20);
    put_gzip(&b, STR("secret"));
    check(&b, 6, "secret", NULL);
    put_gzip(&b, STR("secret"));
    check(&b, 5, "", "larger than the limit of check when unpacked");
    put_gzip(&b, STR("7z\xbc\xaf\x27\x1c"));
    check(&b, 100, "7z\xbc\xaf\x27\x1c", "a 7z archive");
    put_gzip(&b, STR("text"));
    for (int depth = 2; depth <= 4; depth++) { /* three levels are unpacked */
        buf_clear(&inner);
        buf_str(&inner, buf_text(&b));
        buf_clear(&b);
        put_gzip(&b, buf_text(&inner));
        if (depth < 3)
            continue;
        CLEANUP_BUF struct buf to;
        buf_init(&to, 1 << 20);
        const char *why = check_unpack(buf_text(&b), 1000, &to);
        assert_int_equal(why != NULL, depth == 4);
        assert_int_equal(to.n > 4 && memcmp(to.p + to.n - 4, "text", 4) == 0, depth == 3);
    }
}

static void entries_of_zip(void **state)
{
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    put_zip_entry(&b, "a", STR("first"), 0, 8);
    put_zip_entry(&b, "b", STR("stored, read with the archive"), 0, 0);
    put_zip_entry(&b, "c", STR("second"), 0, 8);
    check(&b, 100, "first\nsecond\n", NULL);
    put_zip_entry(&b, "a", STR("first"), 1, 8);
    check(&b, 100, "", "an encrypted zip archive");
    put_zip_entry(&b, "a", STR("first"), 0, 9);
    check(&b, 100, "", "a zip archive that is compressed in another way than by deflate");
    put_zip_entry(&b, "a", STR("first"), 0, 8);
    check(&b, 4, "\n", "larger than the limit of check when unpacked");
    put_zip_entry(&b, "a", STR("PK"), 0, 8);
    put_zip_entry(&b, "b", STR("more"), 0, 8);
    check(&b, 100, "PK\nmore\n", NULL);
    static const char *const out[] = {"/a", "\\a", "..", "../a", "a/..", "a/../b", "a\\..\\b"}, *const in[] = {"a", "..a", "a..", "a/b", "a/..b"};
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        put_zip_entry(&b, out[i], STR("first"), 0, 8);
        check(&b, 100, "", "a zip archive with a path that leads out of it");
    }
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        put_zip_entry(&b, in[i], STR("first"), 0, 8);
        check(&b, 100, "first\n", NULL);
    }
    put_zip_entry(&b, "a", STR("xtrfirst"), 0, 0); /* three bytes between the name and the data */
    b.p[8] = 8;
    b.p[28] = 3;
    b.n -= strlen("first");
    put_stored(&b, STR("first"));
    check(&b, 100, "first\n", NULL);
    for (int i = 0; i < 20000; i++)
        put_zip_entry(&b, "a", STR(""), 0, 0);
    CLEANUP_BUF struct buf many;
    buf_init(&many, 1 << 20);
    buf_str(&many, buf_text(&b));
    put_zip_entry(&many, "a", STR("end"), 0, 0);
    check(&b, 100, "", NULL);
    check(&many, 100, "", "a zip archive of too many files");
    buf_puts(&b, "\x89PNG picture"); /* an archive behind another file */
    put_zip_entry(&b, "a", STR("first"), 0, 8);
    buf_add(&b, "PK\5\6\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    check(&b, 100, "first\n", NULL);
}

static void the_end_of_a_zip_is_searched_with_the_longest_comment(void **state)
{
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    for (int more = 0; more < 2; more++) {
        buf_puts(&b, "picture");
        put_zip_entry(&b, "a", STR("first"), 0, 8);
        buf_add(&b, "PK\5\6", 4);
        for (int i = 0; i < 18 + 65535 + more; i++)
            buf_putc(&b, 'c');
        check(&b, 100, more ? "" : "first\n", NULL);
    }
}

/* Entries whose stream goes on through the heads of all that follow, and then does not end: read
 * once for each entry, 60 MB would cost minutes. */
static void entries_that_overlap(void **state)
{
    enum { ENTRIES = 12 };
    CLEANUP_BUF struct buf b, to;
    char head[31] = "PK\3\4\24";
    (void)state;
    buf_init(&b, 1 << 20);
    buf_init(&to, 1 << 20);
    head[8] = 8;
    head[26] = 1;
    head[30] = 'a';
    for (int i = 0; i < ENTRIES; i++) { /* a stored block with the next head */
        char n = i < ENTRIES - 1 ? (char)sizeof head : 0;
        const char block[5] = {0, n, 0, (char)~n, (char)0xff};
        buf_add(&b, head, sizeof head);
        buf_add(&b, block, sizeof block);
    }
    for (int i = 0; i < 2000; i++)
        buf_add(&b, "\0\0\0\xff\xff", 5); /* an empty block */
    assert_string_equal(check_unpack(buf_text(&b), 100000, &to), "a zip archive whose entries overlap");
}

static void members_of_tar(void **state)
{
    CLEANUP_BUF struct buf b, inner;
    (void)state;
    buf_init(&b, 1 << 20);
    buf_init(&inner, 1 << 20);
    put_gzip(&inner, STR("secret"));
    put_tar_member(&b, "plain", '0', STR("text"));
    put_tar_member(&b, "folder", '5', STR(""));
    put_tar_member(&b, "inner.gz", '0', buf_text(&inner));
    check(&b, 100, "secret", NULL);
    put_tar_member(&b, "inner.gz", '0', buf_text(&inner));
    check(&b, 5, "", "larger than the limit of check when unpacked");
    static const char links[] = "12346";
    for (size_t i = 0; links[i]; i++) {
        put_tar_member(&b, "link", links[i], STR(""));
        check(&b, 100, "", "a tar archive with links or devices");
    }
    put_tar_member(&b, "7", '7', STR(""));
    check(&b, 100, "", NULL);
    put_tar_member(&b, "plain", '1', STR(""));
    b.p[257] = 'U';
    check(&b, 100, "", NULL); /* no tar */
    char name[101]; /* a name that fills its field, with the mode right behind it */
    memset(name, 'a', 97);
    memcpy(name + 97, "/..", 4);
    put_tar_member(&b, "", '0', STR("text"));
    memcpy(b.p, name, 100);
    b.p[100] = '0';
    check(&b, 100, "", "a tar archive with a path that leads out of it");
    for (int depth = 2; depth <= 3; depth++) { /* a tar archive and three more levels are one too many */
        CLEANUP_BUF struct buf outer;
        buf_init(&outer, 1 << 20);
        buf_clear(&inner);
        buf_puts(&inner, "text");
        for (int i = 0; i < depth; i++) {
            buf_clear(&outer);
            put_gzip(&outer, buf_text(&inner));
            buf_clear(&inner);
            buf_str(&inner, buf_text(&outer));
        }
        put_tar_member(&b, "inner.gz", '0', buf_text(&inner));
        CLEANUP_BUF struct buf to;
        buf_init(&to, 1 << 20);
        const char *why = check_unpack(buf_text(&b), 1000, &to);
        assert_int_equal(why != NULL, depth == 3);
        buf_clear(&b);
    }
    char ones[300];
    memset(ones, '1', sizeof ones);
    put_tar_member(&b, "plain", '0', (struct str){ones, sizeof ones}); /* data is no head */
    check(&b, 100, "", NULL);
    put_tar_member(&b, "../out", '0', STR("text"));
    check(&b, 100, "", "a tar archive with a path that leads out of it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_texts_stay_out), cmocka_unit_test(closed_formats_are_named), cmocka_unit_test(streams_of_zlib), cmocka_unit_test(the_end_of_a_zip_is_searched_with_the_longest_comment), cmocka_unit_test(gzip_and_gzip_in_gzip), cmocka_unit_test(entries_of_zip), cmocka_unit_test(entries_that_overlap),
                                       cmocka_unit_test(members_of_tar)};
    struct inflater *i = inflate_new(INFLATE_RAW);
    if (!i)
        return printf("1..0 # SKIP zlib is not installed\n"), 0;
    inflate_free(i);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
