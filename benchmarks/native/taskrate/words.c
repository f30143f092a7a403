/* words.c: the words of commands: added, cut, quoted; what a task's command line is. */
#include "base/shell_word.h"
#include "benchmarks/native/taskrate/provider.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { BALLAST = 100000 };

int words_add(struct argument_words *w, const char *word, struct err *err)
{
    if (w->n == WORDS_MAX)
        return err_set(err, ERR_USAGE, "a command of more than %d words", WORDS_MAX);
    w->word[w->n++] = word;
    w->word[w->n] = NULL;
    return 0;
}

int words_list(struct argument_words *w, const char *const *list, struct err *err)
{
    for (; *list; list++)
        if (words_add(w, *list, err) < 0)
            return -1;
    return 0;
}

int words_join(struct argument_words *w, const struct argument_words *more, struct err *err)
{
    for (size_t i = 0; i < more->n; i++)
        if (words_add(w, more->word[i], err) < 0)
            return -1;
    return 0;
}

/* Copies one word from *at into `to`, without its quotes and backslashes; `to` has as many bytes as
 * the text at *at, with its NUL. Moves *at behind the word. -1: a quote is not closed. */
static int one_word(const char **at, char *to)
{
    const char *p = *at;
    char quote = 0;
    for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
        if (quote ? *p == quote : *p == '\'' || *p == '"')
            quote = quote ? 0 : *p;
        else if (*p == '\\' && quote != '\'' && p[1])
            *to++ = *++p;
        else
            *to++ = *p;
    }
    *to = 0;
    *at = p;
    return quote ? -1 : 0;
}

int words_split(struct argument_words *w, struct arena *a, const char *text, struct err *err)
{
    char *word = arena_get(a, strlen(text) + 1); /* no word is longer than what stands for it, and a blank's place has its end */
    if (!word)
        return err_memory(err, "a command");
    for (const char *p = text;;) {
        p += strspn(p, " \t\n");
        if (!*p)
            return 0;
        if (one_word(&p, word) < 0)
            return err_set(err, ERR_USAGE, "a quote is not closed in: %.200s", text);
        if (words_add(w, word, err) < 0)
            return -1;
        word += strlen(word) + 1;
    }
}

/* Appends how a task reports its times: through a file that all nodes see (--report-dir), or by
 * datagrams to this machine. */
static void words_report_address(const struct bench *b, struct buf *to, const char *number, const struct task_batch *batch)
{
    const struct bench_settings *set = &b->set;
    long long ns = (long long)(batch->duration * 1e9);
    const char *busy = set->busy ? "b" : "";
    if (set->report_dir)
        buf_printf(to, "f%016llx,%s,%lld%s,%s/%s", (unsigned long long)b->token, number, ns, busy, set->report_dir, b->tag);
    else
        buf_printf(to, "u%016llx,%s,%lld%s,%s", (unsigned long long)b->token, number, ns, busy, set->address);
}

int provider_rest(const struct bench_settings *set, enum task_payload payload, struct argument_words *to, struct err *err)
{
    static char ballast[BALLAST + 1]; /* in pieces that the kernel accepts */
    if (!ballast[0])
        memset(ballast, 'x', BALLAST);
    for (size_t left = set->argsize, n; left; left -= n) {
        n = left < BALLAST ? left : BALLAST;
        if (words_add(to, ballast + BALLAST - n, err) < 0)
            return -1;
    }
    if (payload == PAYLOAD_STUB)
        return 0;
    return words_add(to, "--", err) < 0 ? -1 : words_join(to, &set->command, err);
}

int provider_task(struct bench *b, const struct submission *s, size_t first, const char *index, long from, struct argument_words *to,
                  struct err *err)
{
    char number[64];
    CLEANUP_BUF struct buf text;
    if (index)
        snprintf(number, sizeof number, "@%s%c%ld", index, (long)first - from < 0 ? '-' : '+',
                 (long)first - from < 0 ? from - (long)first : (long)first - from);
    else
        snprintf(number, sizeof number, "%zu", first);
    buf_init(&text, 8192);
    words_report_address(b, &text, number, s->batch);
    const char *kept = text.failed ? NULL : arena_dup(s->arena, text.p, text.n);
    if (!kept)
        return err_set(err, ERR_INPUT, "the arguments with a task's address for reports are too long");
    if (words_addv(to, err, b->set.stub, kept, NULL) < 0)
        return -1;
    return provider_rest(&b->set, b->set.payload, to, err);
}

int provider_task_line(struct bench *b, const struct submission *s, size_t first, const char *index, long from, struct buf *to,
                       struct err *err)
{
    struct argument_words words = {.n = 0};
    if (provider_task(b, s, first, index, from, &words, err) < 0)
        return -1;
    for (size_t i = 0; i < words.n; i++) {
        if (i)
            buf_putc(to, ' ');
        shell_word_put(to, words.word[i]);
    }
    return to->failed ? err_set(err, ERR_INPUT, "a task's command is too long") : 0;
}
