/* metric_text.c: series as text of Prometheus; see metric_text.h. */
#include "exporters/metric_text.h"

#include <stdlib.h>
#include <string.h>

/* \ " and line ends are escaped; values are valid UTF-8 already. */
static void text_put_escaped(struct buf *to, const char *text, bool quote)
{
    for (; *text; text++)
        if (*text == '\\' || (quote && *text == '"')) {
            buf_putc(to, '\\');
            buf_putc(to, *text);
        } else if (*text == '\n')
            buf_puts(to, "\\n");
        else
            buf_putc(to, *text);
}

static bool is_label_left_out(const char *const *list, const char *name)
{
    for (; list && *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

static void text_put_head(const struct exporter_series *s, enum metric_text_form form, struct buf *to)
{
    bool open = form != METRIC_TEXT_PLAIN;
    const char *type = s->counter ? "counter" : "gauge";
    size_t n = strlen(s->family) - (open && s->counter ? strlen("_total") : 0); /* in OpenMetrics that is not a part of the name */
    if (open)
        buf_printf(to, "# TYPE %.*s %s\n", (int)n, s->family, type);
    if (open && s->unit[0])
        buf_printf(to, "# UNIT %.*s %s\n", (int)n, s->family, s->unit);
    buf_printf(to, "# HELP %.*s ", (int)n, s->family);
    text_put_escaped(to, s->help, open);
    buf_putc(to, '\n');
    if (!open)
        buf_printf(to, "# TYPE %s %s\n", s->family, type);
}

/* `name{label="value",…} `, the same for all samples of a series. */
static void text_put_name(const struct exporter_series *s, const char *const *leave_out, struct buf *to)
{
    char mark = '{';
    buf_puts(to, s->family);
    for (size_t i = 0; i < s->n_labels; i++) {
        if (is_label_left_out(leave_out, s->labels[i].name))
            continue;
        buf_putc(to, mark);
        buf_puts(to, s->labels[i].name);
        buf_puts(to, "=\"");
        text_put_escaped(to, s->labels[i].value, true);
        buf_putc(to, '"');
        mark = ',';
    }
    buf_puts(to, mark == ',' ? "} " : " ");
}

void metric_text_put(const struct metric_set *set, enum metric_text_form form, const char *const *leave_out, struct buf *to)
{
    struct buf name CLEANUP_BUF;
    buf_init(&name, 1 << 16);
    for (size_t i = 0; i < set->count; i++) {
        const struct exporter_series *s = &set->list[i];
        if (i == 0 || strcmp(s->family, set->list[i - 1].family) != 0)
            text_put_head(s, form, to);
        buf_clear(&name);
        text_put_name(s, leave_out, &name);
        for (size_t k = 0; k < s->count; k++) {
            int64_t ms = s->samples[k].time_ms;
            buf_str(to, buf_text(&name));
            metric_series_number(to, s->samples[k].value);
            if (form == METRIC_TEXT_BACKFILL)
                buf_printf(to, " %lld.%03d", (long long)(ms / 1000), (int)(ms % 1000));
            buf_putc(to, '\n');
        }
    }
    if (form != METRIC_TEXT_PLAIN)
        buf_puts(to, "# EOF\n");
    to->failed |= name.failed;
}
