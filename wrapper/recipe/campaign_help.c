/* campaign_help.c: does the program of a service know its options? From its own --help, before any load. */
#include "recipe/campaign.h"

#include <stdlib.h>

enum { HELP_MS = 30000, HELP_BYTES = 4 << 20 };

/* The option of a word such as --name or --name=value; n 0: it is none. */
static struct str option_of_word(const char *word)
{
    size_t n = strcspn(word, "=");
    return (struct str){word, word[0] == '-' && word[1] == '-' && n > 2 ? n : 0};
}

static bool is_option_char(char c)
{
    return str_is_letter(c) || str_is_digit(c) || c == '-' || c == '_';
}

/* Returns true if the text names the option, and not only a longer one. */
static bool has_option(struct str text, struct str option)
{
    while (text.n) {
        ptrdiff_t at = str_find(text, option);
        if (at < 0)
            return false;
        size_t end = (size_t)at + option.n;
        if (end == text.n || !is_option_char(text.p[end]))
            return true;
        text = str_sub(text, end, text.n);
    }
    return false;
}

/* The program with its subcommand, and --help instead of its options: "vllm serve MODEL --help". NULL: out of memory. */
static char **option_help_words(const struct recipe_part *part, const struct recipe_process *p, struct arena *a)
{
    size_t n = 0;
    while (p->bare[n] && !option_of_word(p->bare[n]).n)
        n++;
    char **words = arena_get(a, (n + 2) * sizeof *words);
    if (!words)
        return NULL;
    memcpy(words, p->bare, n * sizeof *words);
    words[n] = (char *)"--help";
    return recipe_container_words(&part->container, part->env, part->secrets, words, a);
}

/* What the program prints, to both of its streams. Empty: it has no help, or not within 30 s. */
static void read_help(struct campaign *c, char *const *words, struct buf *to)
{
    struct query q = QUERY_NONE;
    if (query_start(&q, words, environ, HELP_BYTES, HELP_MS, 0, NULL) == 0 && campaign_query_wait(c, &q, HELP_MS) == QUERY_DONE) {
        buf_str(to, buf_text(&q.text));
        buf_str(to, buf_text(&q.why));
    }
    query_close(&q);
}

const char *campaign_unknown_option(struct campaign *c, const struct recipe_part *part, const struct recipe_process *p)
{
    CLEANUP_BUF struct buf text;
    const char *unknown = NULL;
    bool lists_options = false; /* of this subcommand: it names another one of them */
    size_t count = 0;
    buf_init(&text, 2 * HELP_BYTES);
    for (char **word = p->bare + p->own; *word; word++)
        count += option_of_word(*word).n > 0;
    char **words = count > 1 ? option_help_words(part, p, c->arena) : NULL;
    if (!words)
        return NULL;
    read_help(c, words, &text);
    for (char **word = p->bare + p->own; *word && text.n; word++) {
        struct str option = option_of_word(*word);
        if (!option.n)
            continue;
        if (has_option(buf_text(&text), option))
            lists_options = true;
        else if (!unknown)
            unknown = arena_dup(c->arena, option.p, option.n);
    }
    return lists_options ? unknown : NULL;
}
