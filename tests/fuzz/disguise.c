/* disguise.c: any bytes as a file of a run that is looked through for secrets: what they spell, and what is packed in them, stays within its bounds. */
#include "check/parts.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    CLEANUP_BUF struct buf said, unpacked;
    buf_init(&said, 64 << 20);
    buf_init(&unpacked, 2 * MOST);
    check_decode(text, &said);
    const char *why = check_unpack(text, MOST, &unpacked);
    if (said.failed || unpacked.failed || unpacked.n > MOST + 65536 || (why && !*why))
        abort();
    return 0;
}
