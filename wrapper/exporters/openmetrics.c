/* openmetrics.c: exporter of runs as files with metrics in Prometheus's text formats: for node exporter, for scrapers of files, for promtool. */
#include "base/fs.h"
#include "base/place.h"
#include "exporters/metric_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPENMETRICS_KEY_FOLDER "folder"
#define OPENMETRICS_KEY_FORMAT "format"

enum { TEXT_MAX = 256 << 20, NAME_PART = 60 };

static const struct opt_row openmetrics_rows[] = {
    {.name = OPENMETRICS_KEY_FOLDER,
     .kind = OPT_TEXT,
     .arg = "PATH",
     .help = "Write files into this folder (absolute path), which must exist",
     .flags = OPT_FROM_FILE},
    {.name = OPENMETRICS_KEY_FORMAT,
     .kind = OPT_CHOICE,
     .arg = "text|openmetrics|backfill",
     .value = "text",
     .help =
         "text: NAME.prom for node exporter's textfile collector; openmetrics: NAME.om; both for each site, cluster and benchmark, with "
         "the latest run. backfill: a file for each run, with times, for promtool",
     .flags = OPT_FROM_FILE},
    METRIC_SERIES_ROWS,
};

static enum metric_text_form openmetrics_form(const struct exporter_config *c)
{
    const char *format = opt_text(&c->opts, OPENMETRICS_KEY_FORMAT);
    return strcmp(format, "text") == 0       ? METRIC_TEXT_PLAIN
           : strcmp(format, "backfill") == 0 ? METRIC_TEXT_BACKFILL
                                             : METRIC_TEXT_OPENMETRICS;
}

static int openmetrics_configure(const struct exporter_config *c, struct err *err)
{
    const char *folder = exporter_text(c, OPENMETRICS_KEY_FOLDER);
    if (!folder || folder[0] != '/')
        return err_set(err, ERR_INPUT, "openmetrics: expected the key folder, an absolute path");
    return metric_series_configure(c, err);
}

/* Opens the folder of the metric files into l->state. EXPORTER_LATER with err: it cannot be opened
 * now, and the runs wait. */
static enum exporter_answer openmetrics_open(struct exporter_link *l, struct err *err)
{
    const char *folder = exporter_text(l->config, OPENMETRICS_KEY_FOLDER);
    int *fd = ARENA_NEW(l->arena, int);
    l->state = fd;
    if (!fd)
        return err_memory(err, "an exporter"), EXPORTER_LATER;
    *fd = place_open_folder(folder, 0);
    if (*fd >= 0)
        return EXPORTER_SENT;
    err_sys(err, "cannot open the folder %s", folder);
    return EXPORTER_LATER;
}

/* A part of a file's name: letters, digits, "-" and "."; others are "_". */
static void put_file_part(struct buf *to, const char *text)
{
    if (!text[0])
        return;
    buf_putc(to, '-');
    for (size_t i = 0; i < NAME_PART && text[i]; i++)
        buf_putc(to, str_is_letter(text[i]) || str_is_digit(text[i]) || text[i] == '.' ? text[i] : '_');
}

static void openmetrics_file_name(const struct exporter_run *run, const struct metric_set *set, enum metric_text_form form, struct buf *to)
{
    const struct exporter_series *s = &set->list[0];
    buf_puts(to, "benchwrap");
    if (form == METRIC_TEXT_BACKFILL) { /* names sort by time */
        buf_printf(to, "-%013lld-%s.om", (long long)(run->run->end_ms ? run->run->end_ms : run->run->start_ms), run->run->id);
        return;
    }
    put_file_part(to, metric_series_label(s, "site"));
    put_file_part(to, metric_series_label(s, "cluster"));
    put_file_part(to, metric_series_label(s, "benchmark"));
    buf_puts(to, form == METRIC_TEXT_PLAIN ? ".prom" : ".om");
}

static int openmetrics_make(const struct exporter_config *c, const struct exporter_run *run, struct buf *name, struct buf *text,
                            struct err *err)
{
    enum metric_text_form form = openmetrics_form(c);
    struct metric_set set;
    if (metric_series_make(&set, c, run, form == METRIC_TEXT_BACKFILL ? METRIC_TIMES : METRIC_NOW, err))
        return -1;
    openmetrics_file_name(run, &set, form, name);
    metric_text_put(&set, form, NULL, text);
    return name->failed || text->failed ? err_set(err, ERR_SYSTEM, "the metrics of a run are larger than %d bytes", TEXT_MAX) : 0;
}

static enum exporter_answer openmetrics_send(struct exporter_link *l, const struct exporter_run *run, uint64_t *done, struct err *err)
{
    struct buf name CLEANUP_BUF, text CLEANUP_BUF;
    const int *folder = l->state;
    (void)done;
    buf_init(&name, 400);
    buf_init(&text, TEXT_MAX);
    if (openmetrics_make(l->config, run, &name, &text, err))
        return EXPORTER_REFUSED;
    if (fs_write(*folder, name.p, buf_text(&text), 0644, true, err)) {
        err_wrap(err, "%s", exporter_text(l->config, OPENMETRICS_KEY_FOLDER));
        return EXPORTER_LATER;
    }
    return EXPORTER_SENT;
}

/* Prints the file's path and content for a run, for --dry-run. -1 with err. */
static int openmetrics_print(struct exporter_link *l, const struct exporter_run *run, struct buf *to, struct err *err)
{
    struct buf name CLEANUP_BUF, text CLEANUP_BUF;
    buf_init(&name, 400);
    buf_init(&text, TEXT_MAX);
    if (openmetrics_make(l->config, run, &name, &text, err))
        return -1;
    buf_printf(to, "%s/%s\n\n", exporter_text(l->config, OPENMETRICS_KEY_FOLDER), name.p);
    buf_str(to, buf_text(&text));
    return to->failed ? err_memory(err, "the metrics of a run") : 0;
}

static enum exporter_answer openmetrics_check(struct exporter_link *l, struct buf *found, struct err *err)
{
    const char *folder = exporter_text(l->config, OPENMETRICS_KEY_FOLDER);
    if (faccessat(*(const int *)l->state, ".", W_OK, AT_EACCESS)) {
        err_sys(err, "cannot write into %s", folder);
        return EXPORTER_LATER;
    }
    buf_printf(found, "%s can be written", folder);
    return EXPORTER_SENT;
}

static void openmetrics_close(struct exporter_link *l)
{
    if (l->state)
        fs_close(l->state);
}

const struct exporter exporter_openmetrics = {
    .type = "openmetrics",
    .summary = "files with metrics for Prometheus: node exporter's textfile collector, OpenMetrics, backfill",
    .description =
        "A file is complete or absent, at each moment. The forms text and openmetrics have one file for each site, cluster and benchmark, "
        "which the next run replaces. The form backfill has one file for each run, with the time of each sample: \"promtool tsdb "
        "create-blocks-from openmetrics\" makes blocks of it.",
    .rows = openmetrics_rows,
    .count = sizeof openmetrics_rows / sizeof *openmetrics_rows,
    .configure = openmetrics_configure,
    .open = openmetrics_open,
    .send = openmetrics_send,
    .check = openmetrics_check,
    .print = openmetrics_print,
    .close = openmetrics_close,
};
