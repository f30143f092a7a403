/* row_output.c: the order, columns and form of the rows that commands print. */
#include "cmd/row_output.h"
#include "runs/run_columns.h"
#include "runs/runs_order.h"

#include <string.h>

static enum listing_form form_of_word(const char *word)
{
    static const char *const words[] = {
        [LISTING_TABLE] = "table", [LISTING_CSV] = "csv", [LISTING_MARKDOWN] = "markdown", [LISTING_JSONL] = "jsonl"};
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0)
            return (enum listing_form)i;
    return LISTING_TABLE;
}

int row_output_form(const struct cmd_context *c, enum listing_form *ret)
{
    const struct {
        const char *option;
        enum listing_form form;
    } flags[] = {{OPTION_JSON, LISTING_JSON}, {OPTION_CSV, LISTING_CSV}, {OPTION_MARKDOWN, LISTING_MARKDOWN}};
    const char *format = opt_text(&c->opts, OPTION_FORMAT), *given = format ? OPTION_FORMAT : NULL;
    *ret = form_of_word(format);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!opt_on(&c->opts, flags[i].option))
            continue;
        if (given)
            return err_set(c->err, ERR_USAGE, "expected either --%s or --%s, got both", given, flags[i].option);
        given = flags[i].option;
        *ret = flags[i].form;
    }
    return 0;
}

int row_output_order(struct cmd_context *c, struct runs *runs, size_t last)
{
    if (last < runs->count)
        runs->count = last;
    return opt_text(&c->opts, OPTION_SORT) ? runs_sort(runs, opt_find(&c->opts, OPTION_SORT), c->arena, c->err) : 0;
}

int row_output_columns(struct cmd_context *c, struct runs *runs, struct tree_run *const *list, size_t n, enum listing_form form)
{
    struct run_columns named;
    struct listing l;
    size_t gone;
    if (run_columns_read(&named, opt_text(&c->opts, OPTION_COLUMNS), "--columns", runs, (const struct tree_run *const *)list, n, c->arena,
                         c->err) < 0)
        return -1;
    int status = run_columns_listing(&named, runs, list, n, form == LISTING_TABLE || form == LISTING_MARKDOWN, c->arena, &l, &gone);
    runs->gone += gone;
    if (status == 0)
        status = listing_write(&l, form, c->out);
    listing_deinit(&l);
    return status < 0 ? err_memory(c->err, "the list of runs") : 0;
}
