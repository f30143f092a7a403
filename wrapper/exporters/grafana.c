/* grafana.c: dashboards and alert rules; see grafana.h. */
#include "exporters/grafana.h"

#include "base/json_out.h"

#include <string.h>

enum grafana_kind { GRAFANA_DASHBOARD, GRAFANA_VARIABLE, GRAFANA_PANEL, GRAFANA_QUERY, GRAFANA_ALERT };
enum { GRID_WIDTH = 24, PANEL_HEIGHT = 8, STAT_HEIGHT = 4, SCHEMA_VERSION = 39 };

/* A row of the description. */
static const struct grafana_row {
    enum grafana_kind kind;
    const char *name, *text, *more, *unit, *wait;
    int width;
} grafana_rows[] = {
#define DASHBOARD(name, title, description) {GRAFANA_DASHBOARD, #name, title, description, "", "", 0},
#define VARIABLE(name, label, series) {GRAFANA_VARIABLE, #name, label, series, "", "", 0},
#define PANEL(title, type, unit, width, description) {GRAFANA_PANEL, title, type, description, unit, "", width},
#define QUERY(expression, legend) {GRAFANA_QUERY, "", expression, legend, "", "", 0},
#define ALERT(name, expression, wait, severity, summary, description)                                                                      \
    {GRAFANA_ALERT, #name, expression, summary, severity, wait, 0}, {GRAFANA_ALERT, "", description, "", "", "", 0},
#include "exporters/grafana.def"
};
static const size_t grafana_count = sizeof grafana_rows / sizeof *grafana_rows;

/* The index of the row of a dashboard; grafana_count: none. */
static size_t grafana_find(size_t i)
{
    size_t at = 0;
    for (; at < grafana_count; at++)
        if (grafana_rows[at].kind == GRAFANA_DASHBOARD && i-- == 0)
            break;
    return at;
}

/* Behind the last row of the dashboard whose row is `at`. */
static size_t grafana_end(size_t at)
{
    for (at++; at < grafana_count && grafana_rows[at].kind != GRAFANA_DASHBOARD && grafana_rows[at].kind != GRAFANA_ALERT; at++) {}
    return at;
}

bool grafana_dashboard_at(size_t i, struct grafana_dashboard *ret)
{
    size_t at = grafana_find(i);
    if (at == grafana_count)
        return false;
    *ret = (struct grafana_dashboard){grafana_rows[at].name, grafana_rows[at].text, grafana_rows[at].more, 0};
    for (size_t k = at; k < grafana_end(at); k++)
        ret->panels += grafana_rows[k].kind == GRAFANA_PANEL;
    return true;
}

static void put_datasource(struct json_out *j)
{
    json_open(j, "datasource", '{');
    json_text(j, "type", "prometheus");
    json_text(j, "uid", "${datasource}");
    json_close(j, '}');
}

static void put_variable(struct json_out *j, const struct grafana_row *row)
{
    struct buf query CLEANUP_BUF;
    buf_init(&query, 4000);
    if (row)
        buf_printf(&query, "label_values(%s, %s)", row->more, row->text);
    json_open(j, NULL, '{');
    json_text(j, "name", row ? row->name : "datasource");
    json_text(j, "type", row ? "query" : "datasource");
    if (!row) {
        json_text(j, "query", "prometheus");
        json_close(j, '}');
        return;
    }
    put_datasource(j);
    json_str(j, "query", buf_text(&query));
    json_int(j, "refresh", 2); /* when the range changes */
    json_flag(j, "multi", true);
    json_flag(j, "includeAll", true);
    json_text(j, "allValue", ".*");
    json_open(j, "current", '{');
    json_text(j, "text", "All");
    json_text(j, "value", "$__all");
    json_close(j, '}');
    json_close(j, '}');
}

static void put_panel_queries(struct json_out *j, size_t at, size_t end, bool instant, bool table)
{
    char letter[2] = "A";
    json_open(j, "targets", '[');
    for (at++; at < end && grafana_rows[at].kind == GRAFANA_QUERY; at++, letter[0]++) {
        json_open(j, NULL, '{');
        json_text(j, "refId", letter);
        put_datasource(j);
        json_text(j, "expr", grafana_rows[at].text);
        json_text(j, "legendFormat", grafana_rows[at].more[0] ? grafana_rows[at].more : "__auto");
        json_flag(j, "instant", instant);
        json_flag(j, "range", !instant);
        if (table)
            json_text(j, "format", "table");
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* Appends a panel and its queries, the rows at + 1 to end - 1 of grafana_rows, and moves *x and *y
 * to the place of the next panel. */
static void put_panel(struct json_out *j, size_t at, size_t end, int id, int *x, int *y)
{
    const struct grafana_row *row = &grafana_rows[at];
    bool points = strcmp(row->text, "points") == 0, table = strcmp(row->text, "table") == 0, stat = strcmp(row->text, "stat") == 0;
    bool instant = table || stat || strcmp(row->text, "bargauge") == 0;
    int height = stat ? STAT_HEIGHT : PANEL_HEIGHT;
    json_open(j, NULL, '{');
    json_int(j, "id", id);
    json_text(j, "title", row->name);
    json_text(j, "description", row->more);
    json_text(j, "type", points ? "timeseries" : row->text);
    put_datasource(j);
    json_open(j, "gridPos", '{');
    json_int(j, "h", height);
    json_int(j, "w", row->width);
    json_int(j, "x", *x);
    json_int(j, "y", *y);
    json_close(j, '}');
    *x += row->width;
    if (*x >= GRID_WIDTH) {
        *x = 0;
        *y += height;
    }
    put_panel_queries(j, at, end, instant, table);
    json_open(j, "fieldConfig", '{');
    json_open(j, "defaults", '{');
    json_text(j, "unit", row->unit);
    if (points) { /* a run is a point, and the line between two runs no value */
        json_open(j, "custom", '{');
        json_text(j, "drawStyle", "line");
        json_text(j, "showPoints", "always");
        json_flag(j, "spanNulls", true);
        json_close(j, '}');
    }
    json_close(j, '}');
    json_open(j, "overrides", '[');
    json_close(j, ']');
    json_close(j, '}');
    json_close(j, '}');
}

static void put_annotations(struct json_out *j)
{
    json_open(j, "annotations", '{');
    json_open(j, "list", '[');
    json_open(j, NULL, '{');
    json_text(j, "name", "Runs");
    json_flag(j, "enable", true);
    json_text(j, "iconColor", "blue");
    json_open(j, "datasource", '{');
    json_text(j, "type", "grafana");
    json_text(j, "uid", "-- Grafana --");
    json_close(j, '}');
    json_open(j, "target", '{');
    json_text(j, "type", "tags");
    json_int(j, "limit", 500);
    json_flag(j, "matchAny", false);
    json_open(j, "tags", '[');
    json_text(j, NULL, "benchwrap");
    json_close(j, ']');
    json_close(j, '}');
    json_close(j, '}');
    json_close(j, ']');
    json_close(j, '}');
}

void grafana_put_dashboard(size_t i, struct buf *to)
{
    size_t at = grafana_find(i), end = grafana_end(at);
    const struct grafana_row *row = &grafana_rows[at];
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    int x = 0, y = 0, id = 1;
    struct buf uid CLEANUP_BUF;
    buf_init(&uid, 100);
    buf_printf(&uid, "benchwrap-%s", row->name);
    json_str(&j, "uid", buf_text(&uid));
    json_text(&j, "title", row->text);
    json_text(&j, "description", row->more);
    json_open(&j, "tags", '[');
    json_text(&j, NULL, "benchwrap");
    json_close(&j, ']');
    json_int(&j, "schemaVersion", SCHEMA_VERSION);
    json_flag(&j, "editable", true);
    json_text(&j, "refresh", "1m");
    json_open(&j, "time", '{');
    json_text(&j, "from", strcmp(row->name, "runs") == 0 || strcmp(row->name, "sites") == 0 ? "now-30d" : "now-6h");
    json_text(&j, "to", "now");
    json_close(&j, '}');
    put_annotations(&j);
    json_open(&j, "templating", '{');
    json_open(&j, "list", '[');
    put_variable(&j, NULL);
    for (size_t k = at; k < end; k++)
        if (grafana_rows[k].kind == GRAFANA_VARIABLE)
            put_variable(&j, &grafana_rows[k]);
    json_close(&j, ']');
    json_close(&j, '}');
    json_open(&j, "panels", '[');
    for (size_t k = at; k < end; k++)
        if (grafana_rows[k].kind == GRAFANA_PANEL)
            put_panel(&j, k, end, id++, &x, &y);
    json_close(&j, ']');
    json_close(&j, '}');
}

/* A text of JSON is one of YAML. */
static void put_rule_text(struct buf *to, const char *indent, const char *key, const char *text)
{
    buf_printf(to, "%s%s: ", indent, key);
    buf_json(to, str_of(text));
    buf_putc(to, '\n');
}

void grafana_put_rules(struct buf *to)
{
    buf_puts(to, "# Alert rules for series of benchwrap, by \"benchwrap grafana rules\".\ngroups:\n  - name: benchwrap\n    rules:\n");
    for (size_t i = 0; i + 1 < grafana_count; i++) {
        const struct grafana_row *row = &grafana_rows[i], *description = &grafana_rows[i + 1];
        if (row->kind != GRAFANA_ALERT || !row->name[0])
            continue;
        buf_printf(to, "      - alert: %s\n", row->name);
        put_rule_text(to, "        ", "expr", row->text);
        buf_printf(to, "        for: %s\n        labels:\n          severity: %s\n        annotations:\n", row->wait, row->unit);
        put_rule_text(to, "          ", "summary", row->more);
        put_rule_text(to, "          ", "description", description->text);
    }
}

void grafana_put_queries(struct buf *to)
{
    const char *dashboard = "", *panel = "";
    for (size_t i = 0; i < grafana_count; i++) {
        const struct grafana_row *row = &grafana_rows[i];
        if (row->kind == GRAFANA_DASHBOARD)
            dashboard = row->name;
        else if (row->kind == GRAFANA_PANEL)
            panel = row->name;
        else if (row->kind == GRAFANA_QUERY)
            buf_printf(to, "%s\t%s\t%s\n", dashboard, panel, row->text);
    }
}
