/* rules.c: any bytes as a benchmark's output, read by each shipped rule file: nothing breaks, and how the bytes were cut into pieces does not
 * change what is read. The first byte chooses the rule file and the size of the pieces. */
#include "base/buf.h"
#include "benchmarks/rules.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {"benchmarks/catalogue/ior/rules.yaml", "benchmarks/catalogue/fio/rules.yaml"};

/* What was read, as text: keys, values, steps, verdict. */
static void read_it(const struct rules *rules, const uint8_t *p, size_t n, size_t piece, struct buf *ret)
{
    static char ior[] = "ior", a[] = "-a", posix[] = "POSIX";
    char *argv[] = {ior, a, posix, NULL}, *env[] = {NULL};
    struct rules_run *run;
    struct record r;
    struct rules_outcome outcome = {0};
    struct err err = {0};
    record_init(&r, "0123456789abcdef0123456789abcdef", 1000);
    if (rules_begin(&run, rules, argv, env, &err) == 0) {
        for (size_t at = 0; at < n; at += piece)
            rules_feed(run, "stdout", p + at, n - at < piece ? n - at : piece);
        if (rules_end(run, 0, 0, 2000, &r, &outcome, &err) == 0) {
            buf_printf(ret, "%d %s\n", outcome.verdict, outcome.reason ? outcome.reason : "");
            for (const struct fact *f = r.first; f; f = f->next)
                buf_printf(ret, "%d %s %.17g %lld %.*s\n", f->kind, f->key, f->value, (long long)f->step, (int)f->text.n, f->text.p ? f->text.p : "");
        }
    }
    record_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rules *rules[sizeof files / sizeof *files]; /* compiled once: it is the outputs that are tried */
    struct err err = {0};
    if (size < 1)
        return 0;
    size_t which = data[0] % (sizeof files / sizeof *files), piece = 1 + data[0] / 2;
    if (!rules[which] && rules_load(&rules[which], files[which], &err))
        abort();
    struct buf whole CLEANUP_BUF, pieces CLEANUP_BUF;
    buf_init(&whole, 64 << 20);
    buf_init(&pieces, 64 << 20);
    read_it(rules[which], data + 1, size - 1, size, &whole);
    read_it(rules[which], data + 1, size - 1, piece, &pieces);
    if (whole.n != pieces.n || (whole.n && memcmp(whole.p, pieces.p, whole.n) != 0))
        abort();
    return 0;
}
