/* prom.c: any bytes as a page of metrics: every sample lies within the page, and the end comes. */
#include "benchmarks/native/llmload/server/prom.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str page = {size ? (const char *)data : "", size}, rest = page;
    struct prom_sample s;
    for (int rc; (rc = prom_next(&rest, &s)) != 0;) {
        if (rc < 0)
            continue;
        if (s.name.p < page.p || s.name.p + s.name.n > page.p + page.n || !s.name.n)
            abort();
        if (s.labels.n && (s.labels.p < page.p || s.labels.p + s.labels.n > page.p + page.n))
            abort();
    }
    return 0;
}
