/* last_lines.c: the end of what a program printed, which often states why it failed. */
#include "run/last_lines.h"

#include "base/redrawn.h"

#include <string.h>

enum { TAIL_BYTES = 8192 };

/* Called for each piece of a stream: keeps the last TAIL_BYTES in the buffer. */
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

/* Changes the text: the lines become what a terminal shows of them. */
static size_t split_lines(const struct buf *kept, struct str ret[LAST_LINES_MAX])
{
    size_t n = 0;
    struct str text = buf_text(kept);
    while (text.p) {
        struct str line = str_cut(&text, '\n');
        line.n = redrawn_plain(line, kept->p + (line.p - kept->p));
        while (line.n && line.p[line.n - 1] == '\r')
            line.n--;
        line = str_trim(redrawn_last(line));
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
        size_t n = split_lines(kept, ret);
        *ret_label = labels[i];
        if (n)
            return n;
    }
    return 0;
}

static bool is_consequence(struct str clause)
{
    static const char end[] = " is missing";
    size_t n = sizeof end - 1;
    return clause.n > n && memcmp(clause.p + clause.n - n, end, n) == 0;
}

void failure_reason(struct str reason, bool has_failed, struct buf *to)
{
    size_t before = to->n;
    while (reason.p) {
        const char *at = memmem(reason.p, reason.n, "; ", 2);
        size_t n = at ? (size_t)(at - reason.p) : reason.n;
        struct str clause = str_sub(reason, 0, n);
        reason = at ? str_sub(reason, n + 2, reason.n) : (struct str){NULL, 0};
        if (has_failed && is_consequence(clause))
            continue;
        buf_puts(to, to->n > before ? "; " : "");
        buf_str(to, clause);
    }
}
