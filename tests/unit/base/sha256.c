/* sha256: the standard's vectors, and pieces of any length give what the whole gives. */
#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void digest(const void *p, size_t n, char hex[SHA256_HEX])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, p, n);
    sha256_end(&s, hex);
}

static void vectors_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char hex[SHA256_HEX];
        digest(rows[i].text, strlen(rows[i].text), hex);
        assert_string_equal(hex, rows[i].hex);
    }
}

static void a_million_times_a_in_pieces(void **state)
{
    (void)state;
    static char text[1000000];
    memset(text, 'a', sizeof text);
    static const size_t pieces[] = {1, 63, 64, 65, 127, 1000, 1023, 4096, 70001, sizeof text};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        size_t piece = pieces[i];
        struct sha256 s;
        char hex[SHA256_HEX];
        sha256_init(&s);
        for (size_t at = 0; at < sizeof text; at += piece)
            sha256_add(&s, text + at, sizeof text - at < piece ? sizeof text - at : piece);
        sha256_end(&s, hex);
        assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_of_the_standard), cmocka_unit_test(a_million_times_a_in_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
