/* perf_report.c: any bytes as the output of `perf report`, and as the artifact made of it: what is printed is read back equal, and harmless. */
#include "run/perf_report.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare_again(struct code_profile *p, struct arena *a)
{
    struct code_profile again;
    CLEANUP_BUF struct buf b;
    uint64_t sum = 0;
    buf_init(&b, CODE_PROFILE_BYTES);
    code_profile_print(p, &b);
    if (b.failed || !str_valid_utf8(buf_text(&b)))
        abort();
    for (size_t i = 0; i < b.n; i++)
        if ((unsigned char)b.p[i] < ' ' && b.p[i] != '\n')
            abort();
    code_profile_parse(buf_text(&b), a, &again);
    code_profile_merge(&again, false);
    if (again.samples != p->samples || (p->count < CODE_PROFILE_FUNCTIONS && again.count != p->count))
        abort();
    for (size_t i = 0; i < p->count && p->count < CODE_PROFILE_FUNCTIONS; i++) {
        const struct profiled_function *x = &p->list[i], *y = &again.list[i];
        if (strcmp(x->command, y->command) != 0 || strcmp(x->module, y->module) != 0 || strcmp(x->function, y->function) != 0 ||
            x->samples != y->samples)
            abort();
        sum += x->samples;
    }
    if (p->count < CODE_PROFILE_FUNCTIONS && sum != p->samples)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct perf_report report;
    struct code_profile folded;
    struct str text = {(const char *)data, size};
    arena_init(&a, 256 << 20);
    perf_report_parse(text, &a, &report);
    compare_again(&report.profile, &a);
    code_profile_parse(text, &a, &folded);
    code_profile_merge(&folded, false);
    compare_again(&folded, &a);
    arena_deinit(&a);
    return 0;
}
