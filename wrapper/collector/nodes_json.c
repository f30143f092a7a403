/* nodes_json.c: nodes.json: every node of a run: what it is, where it differs, what it did. */
#include "base/json_out.h"
#include "collector/nodes.h"

static void nodes_print_facts(const struct node_report *t, bool want_common, bool want_missing, struct json_out *j)
{
    for (const struct node_fact *f = t ? t->facts : NULL; f; f = f->next)
        if (f->missing == want_missing && (want_missing || f->common == want_common)) {
            json_line(j, 8);
            json_text(j, f->key, f->text);
        }
    json_close(j, '}');
}

static void nodes_print_series(const struct node_series *s, struct json_out *j)
{
    json_line(j, 8);
    json_open(j, s->name, '{');
    json_uint(j, "count", s->count);
    json_known(j, "min", s->min);
    json_known(j, "mean", s->sum / (double)s->count);
    json_known(j, "max", s->max);
    json_known(j, "first", s->first);
    json_known(j, "last", s->last);
    json_uint(j, "samples_per_point", s->per_point);
    json_open(j, "points", '[');
    j->layout = JSON_TIGHT;
    for (size_t i = 0; i < s->points; i++) {
        json_open(j, NULL, '[');
        json_int(j, NULL, s->point[i].time_ms);
        json_known(j, NULL, s->point[i].value);
        json_close(j, ']');
    }
    j->layout = JSON_ROW;
    json_close(j, ']');
    json_close(j, '}');
}

static void nodes_print_node(const struct node_report *t, bool brief, struct json_out *j)
{
    json_line(j, 4);
    json_open(j, NULL, '{');
    json_text(j, "name", t->name);
    json_flag(j, "recorder", t->own);
    json_flag(j, "complete", t->ended);
    json_int(j, "start_ms", t->start_ms);
    if (t->use != NODE_UNKNOWN)
        json_flag(j, "used", t->use == NODE_USED);
    if (t->error_ms >= 0) {
        json_int(j, "clock_offset_ms", t->offset_ms);
        json_int(j, "clock_error_ms", t->error_ms);
    }
    json_line(j, 5);
    json_open(j, "facts", '{');
    nodes_print_facts(t, false, false, j);
    json_line(j, 5);
    json_open(j, "missing", '{');
    nodes_print_facts(t, false, true, j);
    json_line(j, 5);
    json_open(j, "series", '{');
    for (size_t i = 0; !brief && i < t->series_count; i++)
        if (t->series[i]->count)
            nodes_print_series(t->series[i], j);
    json_close(j, '}');
    json_close(j, '}');
}

void nodes_print(const struct nodes_summary *n, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_ROW, '{');
    json_int(&j, "nodes_expected", n->expected + !n->outside);
    json_uint(&j, "nodes_told", n->count);
    json_text(&j, "collected_by", n->step ? "step" : "ranks");
    json_line(&j, 0);
    json_open(&j, "common", '{');
    nodes_print_facts(n->first, true, false, &j);
    json_line(&j, 0);
    json_open(&j, "nodes", '[');
    for (const struct node_report *t = n->first; t; t = t->next)
        nodes_print_node(t, n->brief, &j);
    json_line(&j, 0);
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(to, '\n');
}
