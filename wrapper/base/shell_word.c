/* shell_word.c: quote words for a shell. */
#include "base/shell_word.h"

#include <string.h>

void shell_word_put(struct buf *to, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
    if (*word && strspn(word, safe) == strlen(word)) {
        buf_puts(to, word);
        return;
    }
    buf_putc(to, '\'');
    for (; *word; word++)
        if (*word == '\'')
            buf_puts(to, "'\\''");
        else
            buf_putc(to, *word);
    buf_putc(to, '\'');
}

const char *shell_word_text(const char *word, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 1 << 20);
    shell_word_put(&b, word);
    return b.failed ? NULL : arena_dup(a, b.p, b.n);
}
