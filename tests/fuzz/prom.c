/* prom.c: any bytes as a page of metrics: every sample lies within the page, labels end, and the end comes. */
#include "base/prom.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_within(struct str part, struct str whole)
{
    return !part.n || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str page = {size ? (const char *)data : "", size}, rest = page, name;
    struct prom_sample s;
    struct buf value;
    buf_init(&value, size + 1);
    for (int rc; (rc = prom_next(&rest, &s)) != 0;) {
        if (rc < 0)
            continue;
        if (!s.name.n || !is_within(s.name, page) || !is_within(s.labels, page) || !s.text.n || !is_within(s.text, page))
            abort();
        for (size_t left; left = s.labels.n, prom_label_next(&s.labels, &name, &value);)
            if (s.labels.n >= left || !name.n || !is_within(name, page))
                abort();
    }
    buf_deinit(&value);
    return 0;
}
