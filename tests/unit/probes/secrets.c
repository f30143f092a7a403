/* secrets: nothing is left of what an independent rule set plants (tests/secrets), and redacting twice changes nothing more. */
#include "probes/redact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { WINDOW = 8, LINE_MAX_BYTES = 64 << 10 };

static size_t decode(struct str from, char *to)
{
    for (size_t i = 0; i < from.n; i++) {
        unsigned char c = (unsigned char)from.p[i];
        to[i] = c >= 33 && c <= 126 ? (char)(33 + (c - 33 + 47) % 94) : c == 1 ? '\n' : c == 2 ? '\t' : c == 3 ? '\r' : (char)c;
    }
    return from.n;
}

/* Is a piece of the secret left where it stood? */
static bool is_left(struct str before, const char *after, struct str secret)
{
    size_t window = secret.n < WINDOW ? secret.n : WINDOW;
    for (size_t from = 0; from + secret.n <= before.n;) {
        ptrdiff_t at = str_find(str_sub(before, from, before.n), secret);
        if (at < 0)
            return false;
        from += (size_t)at;
        for (size_t i = 0; i + window <= secret.n; i++)
            if (memcmp(after + from + i, secret.p + i, window) == 0)
                return true;
        from++;
    }
    return false;
}

/* tests/secrets/NAME, from the source tree's root or from a build folder. */
static FILE *open_samples(const char *name)
{
    static const char *const above[] = {"", "../", "../../"};
    char path[200];
    FILE *f = NULL;
    for (size_t i = 0; !f && i < sizeof above / sizeof *above; i++) {
        snprintf(path, sizeof path, "%stests/secrets/%s", above[i], name);
        f = fopen(path, "r");
    }
    assert_non_null(f);
    return f;
}

static void planted_secrets_are_gone(void **state)
{
    (void)state;
    static char line[LINE_MAX_BYTES], text[LINE_MAX_BYTES], after[LINE_MAX_BYTES], again[LINE_MAX_BYTES], secret[LINE_MAX_BYTES];
    int samples = 0;
    FILE *f = open_samples("gitleaks.tsv");
    while (fgets(line, sizeof line, f)) {
        struct str rest = str_of(line), rule = str_cut(&rest, '\t'), coded = str_cut(&rest, '\t');
        if (rest.n && rest.p[rest.n - 1] == '\n')
            rest.n--;
        size_t n = decode(coded, text), k = decode(rest, secret);
        struct redact r = {.ids = NULL};
        memcpy(after, text, n);
        redact_text(&r, after, n);
        memcpy(again, after, n);
        redact_text(&r, again, n);
        if (memcmp(after, again, n) != 0)
            fail_msg("redacted twice, it is another text: " STR_FMT " '%.*s' '%.*s'", STR_ARG(rule), (int)n, after, (int)n, again);
        samples++;
        if (is_left((struct str){text, n}, after, (struct str){secret, k}))
            fail_msg(STR_FMT " is left: '%.*s'", STR_ARG(rule), (int)n, after);
    }
    fclose(f);
    assert_true(samples > 1000);
}

static const char *const not_found[] = {"rdp", "mc-alias", "csv-tsv", "sh-htpasswd", "pgpass", "terraform"};

/* Lines of authors who had not read the rules: secrets in them are gone, but for those of the kinds that SECURITY.md names, and the others stay. */
static void fresh_lines_are_judged(void **state)
{
    (void)state;
    static char line[LINE_MAX_BYTES], text[LINE_MAX_BYTES], after[LINE_MAX_BYTES], secret[LINE_MAX_BYTES];
    int leaks = 0, left = 0, kept = 0;
    FILE *f = open_samples("fresh.tsv");
    while (fgets(line, sizeof line, f)) {
        struct str rest = str_of(line), rule = str_cut(&rest, '\t'), coded = str_cut(&rest, '\t');
        if (rest.n && rest.p[rest.n - 1] == '\n')
            rest.n--;
        size_t n = decode(coded, text), k = decode(rest, secret);
        struct redact r = {.ids = NULL};
        memcpy(after, text, n);
        redact_text(&r, after, n);
        if (k == 0) {
            kept++;
            if (memcmp(after, text, n) != 0)
                fail_msg("changed: '%.*s' to '%.*s'", (int)n, text, (int)n, after);
            continue;
        }
        bool known = false;
        for (size_t i = 0; i < sizeof not_found / sizeof *not_found; i++)
            known |= str_is(rule, not_found[i]);
        bool is = is_left((struct str){text, n}, after, (struct str){secret, k});
        leaks++;
        left += is;
        if (is != known)
            fail_msg(STR_FMT " is %s: '%.*s'", STR_ARG(rule), is ? "left" : "gone: update SECURITY.md", (int)n, after);
    }
    fclose(f);
    assert_int_equal(leaks, 66 + 120);
    assert_int_equal(left, 2 + 4);
    assert_int_equal(kept, 66 + 142);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(planted_secrets_are_gone), cmocka_unit_test(fresh_lines_are_judged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
