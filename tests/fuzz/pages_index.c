/* pages_index.c: any bytes as the index of the pages, with a correct checksum in front of its end: refused, or read, and then written and read again
 * as the same. */
#include "pages/pages_index.h"

#include "mlruns-format/crc32c.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct page_data got, again;
    CLEANUP_BUF struct buf b, out, second;
    arena_init(&a, 256 << 20);
    buf_init(&b, 1 << 24);
    buf_init(&out, 1 << 26);
    buf_init(&second, 1 << 26);
    buf_add(&b, data, size);
    uint32_t crc = crc32c_extend(0, b.p ? b.p : "", b.n);
    buf_printf(&b, "E\t%08x\n", crc);
    if (pages_index_parse(buf_text(&b), &a, &got)) {
        pages_index_print(&got, &out);
        if (!out.failed) {
            if (!pages_index_parse(buf_text(&out), &a, &again) || again.count != got.count)
                abort();
            pages_index_print(&again, &second);
            if (!second.failed && !str_eq(buf_text(&out), buf_text(&second)))
                abort();
        }
    }
    arena_deinit(&a);
    return 0;
}
