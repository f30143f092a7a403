/* llm_reply.c: any bytes as a service's reply: however they are cut, the same events come of them. The first byte: is {…} a line (odd) or a text? */
#include "../lib/llm_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reply_seen whole, cut, bytes;
    if (size < 2)
        return 0;
    const char *p = (const char *)data + 1;
    bool lines = data[0] & 1;
    size_t n = size - 1, at = 1 + ((size_t)data[size / 2] * 257 + data[size - 1]) % n;
    reply_read(&whole, p, n, lines, 0, 0);
    reply_read(&cut, p, n, lines, at, 0);
    reply_read(&bytes, p, n, lines, 1, 1);
    if (!reply_same(&whole, &cut) || !reply_same(&whole, &bytes))
        abort();
    buf_deinit(&whole.text);
    buf_deinit(&cut.text);
    buf_deinit(&bytes.text);
    return 0;
}
