/* index_record.c: any bytes as a record of an index, with a correct check in front: refused, or read within its bounds, and then written again as the
 * same entries. */
#include "index/index_record.h"

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
        uint32_t length = (uint32_t)(b.n - b.n % 8), first;
        memcpy(b.p + 8, &length, sizeof length);
        memcpy(&first, b.p + 12, sizeof first);
        first = first % (length / 8 + 1) * 8;
        memcpy(b.p + 12, &first, sizeof first);
        uint64_t check = index_value_check((struct str){b.p + 8, first > 8 ? first - 8 : 0});
        memcpy(b.p, &check, sizeof check);
    }
    if (!index_record_parse(buf_text(&b), &r))
        return 0;
    for (size_t i = 0; i < r.count; i++) {
        struct index_entry e = index_record_get(&r, i);
        if (index_record_find(&r, e.path) > r.count || (e.value.p ? e.value.n && index_value_check(e.value) == 1 : e.at + e.value.n > r.length))
            abort();
        if (!e.value.p) /* it is in the record, of which all bytes are here */
            e.value.p = b.p + e.at;
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
        if (!e.value.p)
            e.value.p = out.p + e.at;
        if (strcmp(e.path, list[i].path) != 0 || e.stamp != list[i].stamp || e.kind != list[i].kind || !str_eq(e.value, list[i].value))
            abort();
    }
    return 0;
}
