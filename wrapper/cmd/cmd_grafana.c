/* cmd_grafana.c: `benchwrap grafana`: dashboards for Grafana and alert rules for Prometheus, for the series that exporters make. */
#include "base/fs.h"
#include "base/listing.h"
#include "cmd/cmd.h"
#include "exporters/grafana.h"

#include <fcntl.h>
#include <string.h>

enum { DOCUMENT_MAX = 4 << 20 };

static const struct opt_row rows[] = {
    {.name = OPTION_OUTPUT,
     .letter = 'o',
     .kind = OPT_TEXT,
     .arg = "DIR",
     .group = "Output",
     .help = "Write all dashboards, their provider for Grafana's provisioning, and the rules into this folder"},
    CMD_ROW_JSON,
};

static int list_dashboards(struct cmd_context *c)
{
    static const struct listing_column columns[] = {{"name", "NAME", .whole = true},
                                                    {"panels", "PANELS", .right = true},
                                                    {"title", "TITLE"},
                                                    {"description", "DESCRIPTION", .wrap = true}};
    struct grafana_dashboard d;
    struct listing l;
    listing_init(&l, columns, 4, c->arena);
    for (size_t i = 0; grafana_dashboard_at(i, &d); i++) {
        listing_text(&l, d.name);
        listing_number(&l, (double)d.panels, NULL);
        listing_text(&l, d.title);
        listing_text(&l, d.description);
    }
    int rc = listing_write(&l, opt_on(&c->opts, OPTION_JSON) ? LISTING_JSON : LISTING_TABLE, c->out);
    listing_deinit(&l);
    return rc < 0 ? err_memory(c->err, "a list") : 0;
}

static int write_grafana_file(struct cmd_context *c, const char *folder, const char *name, const struct buf *text)
{
    const char *path = arena_printf(c->arena, "%s/%s", folder, name);
    if (!path || text->failed)
        return err_memory(c->err, "a dashboard");
    if (fs_write(AT_FDCWD, path, buf_text(text), 0644, false, c->err))
        return -1;
    fprintf(c->out, "%s\n", path);
    return 0;
}

/* Writes all dashboards, the alert rules and the provider file into the folder, which is made. -1
 * with c->err. */
static int write_everything(struct cmd_context *c, const char *folder)
{
    struct grafana_dashboard d;
    struct buf text CLEANUP_BUF;
    buf_init(&text, DOCUMENT_MAX);
    if (fs_mkdirs(AT_FDCWD, folder, 0777, c->err))
        return -1;
    for (size_t i = 0; grafana_dashboard_at(i, &d); i++) {
        buf_clear(&text);
        grafana_put_dashboard(i, &text);
        if (write_grafana_file(c, folder, arena_printf(c->arena, "%s.json", d.name), &text))
            return -1;
    }
    buf_clear(&text);
    grafana_put_rules(&text);
    if (write_grafana_file(c, folder, "rules.yaml", &text))
        return -1;
    buf_clear(&text);
    buf_puts(
        &text,
        "# Provider of dashboards: copy it into /etc/grafana/provisioning/dashboards, and the dashboards to its path.\napiVersion: 1\nproviders:\n"
        "  - name: benchwrap\n    folder: benchwrap\n    type: file\n    options:\n      path: /var/lib/grafana/dashboards/benchwrap\n");
    return write_grafana_file(c, folder, "provider.yaml", &text);
}

/* Runs `benchwrap grafana`: lists the dashboards, prints one document, or writes all into --output.
 * Returns the exit status, or -1 with c->err. */
static int grafana_command(struct cmd_context *c)
{
    struct grafana_dashboard d;
    struct buf text CLEANUP_BUF;
    const char *folder = opt_text(&c->opts, OPTION_OUTPUT), *name = c->argc ? c->argv[0] : NULL;
    buf_init(&text, DOCUMENT_MAX);
    if (c->argc > 1 || (folder && name))
        return err_set(c->err, ERR_USAGE, "expected one dashboard, rules or queries, or --output");
    if (folder)
        return write_everything(c, folder);
    if (!name)
        return list_dashboards(c);
    if (strcmp(name, "rules") == 0)
        grafana_put_rules(&text);
    else if (strcmp(name, "queries") == 0)
        grafana_put_queries(&text);
    for (size_t i = 0; !text.n && grafana_dashboard_at(i, &d); i++)
        if (strcmp(d.name, name) == 0)
            grafana_put_dashboard(i, &text);
    if (text.failed)
        return err_memory(c->err, "a dashboard");
    if (!text.n)
        return err_set(c->err, ERR_USAGE, "expected a dashboard that \"benchwrap grafana\" lists, rules or queries, got \"%.40s\"", name);
    fwrite(text.p, 1, text.n, c->out);
    return 0;
}

const struct cmd cmd_grafana = {
    .name = "grafana",
    .summary = "Print dashboards for Grafana and alert rules",
    .usage = "[DASHBOARD | rules | queries] [--output DIR]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "The dashboards show the series that the exporters openmetrics, pushgateway, remote-write and influx make, and those of \"benchwrap slurm-stats\". "
        "Import the JSON in Grafana, or let Grafana read a folder of them.\n"
        "\n"
        "`rules` prints alert rules for Prometheus: a missed reference, a failed run, a benchmark that does not run any more, an exporter that is "
        "behind, a node or GPU that differs from the others of its run. `queries` prints each query of the dashboards.",
    .examples = "$ benchwrap grafana\n"
                "List the dashboards.\n"
                "$ benchwrap grafana runs\n"
                "Print a dashboard for import.\n"
                "$ benchwrap grafana rules\n"
                "Print the alert rules.\n"
                "  benchwrap grafana --output /etc/grafana/dashboards\n"
                "Write everything into a folder.\n",
    .run = grafana_command,
};
