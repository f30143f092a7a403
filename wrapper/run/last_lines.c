/* last_lines.c: the end of what a program printed, which often says why it failed. */
#include "run/last_lines.h"

#include <string.h>

enum { TAIL_BYTES = 8192 };

static void keep_tail(void *context, const void *p, size_t n)
{
    struct buf *kept = context;
    const char *bytes = p;
    if (n > TAIL_BYTES) {
        bytes += n - TAIL_BYTES;
        n = TAIL_BYTES;
    }
    if (kept->n + n > TAIL_BYTES) {
        size_t stays = TAIL_BYTES - n, from = kept->n > stays ? kept->n - stays : 0;
        memmove(kept->p, kept->p + from, kept->n - from);
        kept->n -= from;
    }
    buf_add(kept, bytes, n);
}

static size_t split_lines(struct str text, struct str ret[LAST_LINES_MAX])
{
    size_t n = 0;
    while (text.p) {
        struct str line = str_trim(str_cut(&text, '\n'));
        if (!line.n)
            continue;
        if (n == LAST_LINES_MAX)
            memmove(ret, ret + 1, --n * sizeof *ret);
        ret[n++] = line;
    }
    return n;
}

size_t last_lines(const struct folder *in, struct buf *kept, const char **ret_label, struct str ret[LAST_LINES_MAX])
{
    static const char *const files[] = {"stderr.log", "stdout.log"}, *const labels[] = {"stderr", "output"};
    for (int i = 0; i < 2; i++) {
        buf_clear(kept);
        if (folder_feed(in, files[i], UINT64_MAX, keep_tail, kept) < 0)
            continue;
        size_t n = split_lines(buf_text(kept), ret);
        *ret_label = labels[i];
        if (n)
            return n;
    }
    return 0;
}
