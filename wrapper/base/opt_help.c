/* opt_help.c: option rows as help: all of them, or the common ones on one line each. */
#include "base/opt.h"

#include <string.h>

enum { HELP_WIDTH = 80, HELP_LEFT = 30, BRIEF_GROUP = 12, BRIEF_TEXT = 38 };

/* Appends words of text from `column` on, continued at HELP_LEFT. */
static void help_words(struct buf *to, size_t column, struct str text)
{
    for (struct str word; (word = str_word(&text)).n;) {
        if (column > HELP_LEFT && column + 1 + word.n > HELP_WIDTH) {
            buf_printf(to, "\n%*s", HELP_LEFT, "");
            column = HELP_LEFT;
        } else if (column > HELP_LEFT) {
            buf_putc(to, ' ');
            column++;
        }
        buf_str(to, word);
        column += word.n;
    }
    buf_putc(to, '\n');
}

/* Appends an option with its help in lines of HELP_WIDTH columns. */
static void help_row(struct buf *to, const struct opt_row *row)
{
    size_t start = to->n;
    if (row->letter)
        buf_printf(to, "  -%c, --%s", row->letter, row->name);
    else
        buf_printf(to, "      --%s", row->name);
    if (row->kind != OPT_FLAG)
        buf_printf(to, " %s", row->arg ? row->arg : "TEXT");
    size_t column = to->n - start;
    if (column + 2 > HELP_LEFT)
        buf_printf(to, "\n%*s", HELP_LEFT, "");
    else
        buf_printf(to, "%*s", (int)(HELP_LEFT - column), "");
    struct buf text;
    buf_init(&text, 4096);
    buf_puts(&text, row->help);
    if (row->value)
        buf_printf(&text, " (default: %s)", row->value);
    if (row->env)
        buf_printf(&text, " [$%s]", row->env);
    help_words(to, HELP_LEFT, buf_text(&text));
    to->failed |= text.failed;
    buf_deinit(&text);
}

/* Returns what precedes the first "; " or " (" of a help text. */
static struct str brief_text(const char *help)
{
    struct str text = str_of(help);
    for (size_t i = 0; i + 1 < text.n; i++)
        if ((text.p[i] == ';' && text.p[i + 1] == ' ') || (text.p[i] == ' ' && text.p[i + 1] == '('))
            return str_sub(text, 0, i);
    return text;
}

static const struct opt_row *row_named(const struct opt_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->rows[i].name, name) == 0)
            return &set->rows[i];
    return NULL;
}

void opt_help_brief(const struct opt_set *set, const char *const *names, struct buf *to)
{
    const char *before = "";
    for (; *names; names++) {
        const struct opt_row *row = row_named(set, *names);
        if (!row)
            continue;
        size_t start = to->n;
        buf_printf(to, "%-*s", BRIEF_GROUP, strcmp(row->group, before) != 0 ? row->group : "");
        if (row->letter)
            buf_printf(to, "-%c, --%s", row->letter, row->name);
        else
            buf_printf(to, "    --%s", row->name);
        if (row->kind != OPT_FLAG)
            buf_printf(to, " %s", row->arg && row->kind != OPT_CHOICE ? row->arg : "TEXT");
        size_t column = to->n - start;
        struct str text = brief_text(row->help);
        buf_printf(to, "%*s" STR_FMT "\n", column + 2 > BRIEF_TEXT ? 2 : (int)(BRIEF_TEXT - column), "", STR_ARG(text));
        before = row->group;
    }
}

/* Returns whether an earlier row is of the group of row `at`. */
static bool is_group_begun(const struct opt_set *set, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (set->rows[i].group && strcmp(set->rows[i].group, set->rows[at].group) == 0)
            return true;
    return false;
}

/* Rows without a group stay in their place. Those of a group follow its first one, wherever they are
 * in the set. */
void opt_help(const struct opt_set *set, struct buf *to)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *group = set->rows[i].group;
        if (!group)
            help_row(to, &set->rows[i]);
        if (!group || is_group_begun(set, i))
            continue;
        buf_printf(to, "%s%s:\n", i ? "\n" : "", group);
        for (size_t k = i; k < set->count; k++)
            if (set->rows[k].group && strcmp(set->rows[k].group, group) == 0)
                help_row(to, &set->rows[k]);
    }
}
