/* tree_sample.c: the lines of a metric's file; see tree.h. */
#include "mlruns-format/tree.h"

/* Reads a line "<time> <value>[ <step>[ <dataset> <digest>]]". */
bool tree_sample_parse(struct str line, struct tree_sample *ret)
{
    *ret = (struct tree_sample){0};
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    struct str time = str_cut(&line, ' '), value = line.p ? str_cut(&line, ' ') : (struct str){0},
               step = line.p ? str_cut(&line, ' ') : STR("0");
    return str_int(time, &ret->time_ms) && str_double(value, &ret->value) && str_int(step, &ret->step);
}

bool tree_sample_is_later(const struct tree_sample *a, const struct tree_sample *b)
{
    if (a->step != b->step)
        return a->step > b->step;
    if (a->time_ms != b->time_ms)
        return a->time_ms > b->time_ms;
    return a->value > b->value;
}

const struct tree_sample *tree_entry_latest(const struct tree_entry *e)
{
    const struct tree_sample *latest = e->count ? &e->samples[0] : NULL;
    for (size_t i = 1; i < e->count; i++)
        if (tree_sample_is_later(&e->samples[i], latest))
            latest = &e->samples[i];
    return latest;
}

int tree_sample_order(const void *a, const void *b)
{
    const struct tree_sample *x = a, *y = b;
    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Returns whether the line has a dataset: MLflow's file store reads no step from such a line. */
static bool has_dataset(struct str line)
{
    size_t blanks = 0;
    for (size_t i = 0; i < line.n; i++)
        blanks += line.p[i] == ' ';
    return blanks == 4;
}

int tree_latest_sample(struct str text, struct tree_sample *ret, size_t *ret_line)
{
    struct tree_sample s;
    if (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    *ret_line = 1;
    if (!text.n)
        return -1;
    for (size_t line = 1; text.p; line++) {
        struct str one = str_cut(&text, '\n');
        if (!tree_sample_parse(one, &s)) {
            *ret_line = line;
            return -1;
        }
        if (has_dataset(one))
            s.step = 0;
        if (line == 1 || tree_sample_is_later(&s, ret))
            *ret = s;
    }
    return 0;
}
