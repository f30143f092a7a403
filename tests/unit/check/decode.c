/* disguise.c, unpack.c: what a text says in other spellings, and what is in compressed files. */
#include "base/inflate.h"
#include "check/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A token in two pieces, so that nobody looks for one here. */
#define WORDS "0123456789abcdefghijABCDEFGHIJ012345"
#define TOKEN "ghp_" WORDS

static bool says(struct str text, const char *wanted)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    check_decode(text, &b);
    return str_has(buf_text(&b), wanted);
}

static void spellings_are_read(void **state)
{
    static const char *const rows[] = {
        "k: a2V5OiBnaHBfMDEyMzQ1Njc4OWFiY2RlZmdoaWpBQkNERUZHSElKMDEyMzQ1",
        "x/Z2hwXzAxMjM0NTY3ODlhYmNkZWZnaGlqQUJDREVGR0hJSjAxMjM0NQ==",
        "AAFnaHBfMDEyMzQ1Njc4OWFiY2RlZmdoaWpBQkNERUZHSElKMDEyMzQ1/w==",
        "c29tZSB3b3JkcyBiZWZvcmUgaXQgdGhhdCBmaWxsIGEgbGluZSB1cCB0byBpdHMgZW5kLCBnaHBf\r\nMDEyMzQ1Njc4OWFiY2RlZmdoaWpBQkNERUZHSElKMDEyMzQ1\r\n",
        "WjJod1h6QXhNak0wTlRZM09EbGhZbU5rWldabmFHbHFRVUpEUkVWR1IwaEpTakF4TWpNME5RPT0=",
        "ZwBoAHAAXwAwADEAMgAzADQANQA2ADcAOAA5AGEAYgBjAGQAZQBmAGcAaABpAGoAQQBCAEMARABFAEYARwBIAEkASgAwADEAMgAzADQANQA=",
        "H4sIAAAAAAACA0vPKIg3MDQyNjE1M7ewTExKTklNS8/IzHJ0cnZxdXP38PSCyAIAwWTAyygAAAA=",
        "6768705f303132333435363738396162636465666768696a4142434445464748494a303132333435",
        "a6768705f303132333435363738396162636465666768696a4142434445464748494a303132333435",
        "67:68:70:5f:30:31:32:33:34:35:36:37:38:39:61:62:63:64:65:66:67:68:69:6a:41:42:43:44:45:46:47:48:49:4a:30:31:32:33:34:35",
        "u=%67%68%70%5f" WORDS,
        "\\u0067\\u0068\\u0070_" WORDS,
        "\\x67\\x68\\x70_" WORDS,
        "=67=68=70_" WORDS,
        "&#103;&#x68;&#112;_" WORDS,
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!says(str_of(rows[i]), TOKEN))
            fail_msg("row %zu: %s", i, rows[i]);
    assert_true(says((struct str){"g\0h\0p\0_\0a\0b\0c\0d\0e\0f\0g\0h\0", 24}, "ghp_abcdefgh"));
}

static void other_text_says_nothing(void **state)
{
    static const char *const rows[] = {"",
                                       "short",
                                       "----------------------------------------------------------------",
                                       "8d777f385d3dfec8815d20f7496026dc8d777f385d3dfec8815d20f7496026dc",
                                       "a plain line of words",
                                       "/usr/lib/x86_64-linux-gnu/libgit2.so.1.5.1",
                                       "&#",
                                       "%",
                                       "%4",
                                       "\\u00",
                                       "=",
                                       "&#99999999999999;",
                                       "&#x;"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_BUF struct buf b;
        buf_init(&b, 1 << 20);
        if (check_decode(str_of(rows[i]), &b))
            fail_msg("row %zu: not complete", i);
        if (b.n)
            fail_msg("row %zu: %s", i, b.p);
    }
}

/* What is not searched is reported: a secret may be behind the limits. */
static void too_much_is_reported(void **state)
{
    enum { ZEROS = 9 << 20 };
    CLEANUP_BUF struct buf packed, text, b;
    char *zeros = calloc(1, ZEROS);
    (void)state;
    buf_init(&packed, ZEROS + (1 << 20));
    buf_init(&text, 1 << 20);
    buf_init(&b, 64 << 20);
    assert_non_null(zeros);
    if (!inflate_make_gzip((struct str){zeros, ZEROS}, &packed))
        fail_msg("zlib is not on this machine, or made nothing");
    for (size_t i = 0; i < packed.n; i++)
        buf_printf(&text, "%02x", (unsigned char)packed.p[i]);
    const char *why = check_decode(buf_text(&text), &b);
    assert_string_equal(why ? why : "", "larger than the limit of check when unpacked");
    buf_deinit(&b);
    buf_init(&b, 100); /* no capacity for all that it spells */
    why = check_decode(STR("%67%68%70%5f" WORDS WORDS WORDS), &b);
    assert_string_equal(why ? why : "", "larger than the limit of check when it is decoded");
    free(zeros);
}

static const char gzipped[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\xcf\x28\x88\x37\x30\x34\x32\x36\x31\x35\x33\xb7\xb0\x4c\x4c\x4a\x4e\x49\x4d\x4b\xcf\xc8\xcc\x72\x74\x72\x76\x71\x75\x73\xf7\xf0\xf4\x82\xc8\x02\x00\xc1\x64\xc0\xcb\x28\x00\x00\x00";
static const char zipped[] =
    "\x50\x4b\x03\x04\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x61\x4b\xcf\x28\x88\x37\x30\x34\x32\x36\x31\x35\x33\xb7\xb0\x4c\x4c\x4a\x4e\x49\x4d\x4b\xcf\xc8\xcc\x72\x74\x72\x76\x71\x75\x73\xf7\xf0\xf4\x82\xc8\x02\x00\x50\x4b\x01\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";

static void packed_files_are_read(void **state)
{
    CLEANUP_BUF struct buf b;
    (void)state;
    buf_init(&b, 1 << 20);
    assert_null(check_unpack((struct str){gzipped, sizeof gzipped - 1}, 1000, &b));
    assert_true(str_has(buf_text(&b), TOKEN));
    buf_clear(&b);
    assert_null(check_unpack((struct str){zipped, sizeof zipped - 1}, 1000, &b));
    assert_true(str_has(buf_text(&b), TOKEN));
    buf_clear(&b);
    assert_non_null(check_unpack((struct str){gzipped, sizeof gzipped - 1}, 10, &b)); /* more than may be */
    assert_true(b.n <= 10);
    assert_non_null(check_unpack(STR("BZh91AY"), 1000, &b));
    assert_non_null(check_unpack((struct str){"\xfd"
                                              "7zXZ\0\0\4",
                                              8},
                                 1000, &b));
    assert_null(check_unpack(STR("plain"), 1000, &b));
    assert_null(check_unpack((struct str){gzipped, 12}, 1000, &b)); /* torn */
    assert_null(check_unpack((struct str){zipped, 20}, 1000, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_are_read), cmocka_unit_test(other_text_says_nothing), cmocka_unit_test(too_much_is_reported),
                                       cmocka_unit_test(packed_files_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
