/* nodes_json.c: nodes.json: every node of a run: what it is, where it differs, what it did. */
#include "collector/nodes.h"

#include <inttypes.h>

static void nodes_print_pair(struct buf *to, bool *first, const char *key, const char *text)
{
    buf_puts(to, *first ? "\n" : ",\n");
    buf_puts(to, "        ");
    buf_json(to, str_of(key));
    buf_puts(to, ": ");
    buf_json(to, str_of(text));
    *first = false;
}

static void print_facts(const struct node_report *t, bool want_common, bool want_missing, struct buf *to)
{
    bool first = true;
    buf_putc(to, '{');
    for (const struct node_fact *f = t->facts; f; f = f->next)
        if (f->missing == want_missing && (want_missing || f->common == want_common))
            nodes_print_pair(to, &first, f->key, f->text);
    buf_putc(to, '}');
}

static void nodes_print_number(struct buf *to, const char *key, double value)
{
    buf_printf(to, "\"%s\": ", key);
    buf_double(to, value);
    buf_puts(to, ", ");
}

static void nodes_print_series(const struct node_series *s, struct buf *to)
{
    buf_json(to, str_of(s->name));
    buf_printf(to, ": {\"count\": %zu, ", s->count);
    nodes_print_number(to, "min", s->min);
    nodes_print_number(to, "mean", s->sum / (double)s->count);
    nodes_print_number(to, "max", s->max);
    nodes_print_number(to, "first", s->first);
    nodes_print_number(to, "last", s->last);
    buf_printf(to, "\"samples_per_point\": %zu, \"points\": [", s->per_point);
    for (size_t i = 0; i < s->points; i++) {
        buf_printf(to, "%s[%" PRId64 ",", i ? "," : "", s->point[i].time_ms);
        buf_double(to, s->point[i].value);
        buf_putc(to, ']');
    }
    buf_puts(to, "]}");
}

static void print_node(const struct node_report *t, bool brief, struct buf *to)
{
    bool first = true;
    buf_puts(to, "    {\"name\": ");
    buf_json(to, str_of(t->name));
    buf_printf(to, ", \"recorder\": %s, \"complete\": %s, \"start_ms\": %" PRId64, t->own ? "true" : "false", t->ended ? "true" : "false",
               t->start_ms);
    if (t->use != NODE_UNKNOWN)
        buf_printf(to, ", \"used\": %s", t->use == NODE_USED ? "true" : "false");
    if (t->error_ms >= 0)
        buf_printf(to, ", \"clock_offset_ms\": %" PRId64 ", \"clock_error_ms\": %" PRId64, t->offset_ms, t->error_ms);
    buf_puts(to, ",\n     \"facts\": ");
    print_facts(t, false, false, to);
    buf_puts(to, ",\n     \"missing\": ");
    print_facts(t, false, true, to);
    buf_puts(to, ",\n     \"series\": {");
    for (size_t i = 0; !brief && i < t->series_count; i++)
        if (t->series[i]->count) {
            buf_puts(to, first ? "\n        " : ",\n        ");
            nodes_print_series(t->series[i], to);
            first = false;
        }
    buf_puts(to, "}}");
}

void nodes_print(const struct nodes_summary *n, struct buf *to)
{
    buf_printf(to, "{\"nodes_expected\": %" PRId64 ", \"nodes_told\": %zu, \"collected_by\": \"%s\",\n", n->expected + !n->outside,
               n->count, n->step ? "step" : "ranks");
    buf_puts(to, "\"common\": ");
    if (n->first)
        print_facts(n->first, true, false, to);
    else
        buf_puts(to, "{}");
    buf_puts(to, ",\n\"nodes\": [\n");
    for (const struct node_report *t = n->first; t; t = t->next) {
        print_node(t, n->brief, to);
        buf_puts(to, t->next ? ",\n" : "\n");
    }
    buf_puts(to, "]}\n");
}
