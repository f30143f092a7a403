/* index_record.c: any bytes as a record of an index, with a correct check in front: refused, or read within its bounds, and then written again as the
 * same entries. */
#include "index/index_record.h"

#include "base/hash.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct index_record r, again;
    struct index_entry list[64];
    CLEANUP_BUF struct buf b, out;
    buf_init(&b, 1 << 24);
    buf_init(&out, 1 << 24);
    buf_add(&b, data, size);
    if (size >= INDEX_HEAD) { /* the length and the check that a writer would have stored */
        uint32_t length = (uint32_t)(b.n - b.n % 8);
        memcpy(b.p + 8, &length, sizeof length);
        uint64_t check = hash_bytes(length, b.p + 8, length - 8);
        memcpy(b.p, &check, sizeof check);
    }
    if (!index_record_parse(buf_text(&b), &r))
        return 0;
    for (size_t i = 0; i < r.count; i++) {
        struct index_entry e = index_record_get(&r, i);
        if (index_record_find(&r, e.path) > r.count || (e.value.n && hash_bytes(0, e.value.p, e.value.n) == 1))
            abort();
        if (i < 64)
            list[i] = e;
    }
    size_t n = r.count < 64 ? r.count : 64;
    index_record_print(r.run, list, n, &out);
    if (out.failed)
        return 0;
    if (!index_record_parse(buf_text(&out), &again) || again.count != n || strcmp(again.run, r.run) != 0)
        abort();
    for (size_t i = 0; i < n; i++) {
        struct index_entry e = index_record_get(&again, i);
        if (strcmp(e.path, list[i].path) != 0 || e.stamp != list[i].stamp || e.kind != list[i].kind || !str_eq(e.value, list[i].value))
            abort();
    }
    return 0;
}
