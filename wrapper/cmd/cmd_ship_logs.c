/* cmd_ship_logs.c: `benchwrap ship-logs`: deliver the lines of log files to another system. */
#include "base/stop_signals.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/json_out.h"
#include "base/listing.h"
#include "base/place.h"
#include "cmd/cmd.h"
#include "logs/logs_dead.h"
#include "logs/logs_ship.h"
#include "plan/plan.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHIP_CONFIG_PATH "/etc/benchwrap-logs.yaml"
#define SHIP_STATE_ROOT "/var/lib/benchwrap/ship-logs"

struct ship_command {
    struct cmd_context *c;
    struct ship_config config;
    struct plan plan;
    bool has_plan;
    struct ship ship;
    char computer[256];
};

static const struct opt_row rows[] = {
    {.name = OPTION_CONFIG,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Selection",
     .help = "Read this configuration (default: " SHIP_CONFIG_PATH ", unless files or a role are named)"},
    {.name = OPTION_ROLE,
     .kind = OPT_CHOICE,
     .arg = "scheduler|node|all",
     .group = "Selection",
     .help = "Follow the logs of this role of a machine, wherever this distribution stores them"},
    {.name = OPTION_FROM_END,
     .kind = OPT_FLAG,
     .group = "Selection",
     .help = "At the first start, ignore the lines that files have already"},
    {.name = OPTION_TO, .kind = OPT_TEXT, .arg = "NAME", .group = "Delivery", .help = "Deliver by this exporter of the configuration"},
    {.name = OPTION_OUT,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Delivery",
     .help = "Append the records to this file, one JSON object a line"},
    {.name = OPTION_PARSED,
     .kind = OPT_FLAG,
     .group = "Delivery",
     .help = "Deliver time, level, component and message instead of the line as it is"},
    {.name = OPTION_ONCE, .kind = OPT_FLAG, .group = "Delivery", .help = "Deliver what the files have now, and end"},
    {.name = OPTION_WAIT,
     .kind = OPT_DURATION,
     .arg = "DURATION",
     .value = "30s",
     .group = "Delivery",
     .help = "With --once and --resend, end when the destination accepts nothing for so long"},
    {.name = OPTION_RESEND, .kind = OPT_FLAG, .group = "Delivery", .help = "Send the records again that the destination refused, and end"},
    {.name = OPTION_STATE,
     .kind = OPT_TEXT,
     .arg = "DIR",
     .group = "Delivery",
     .help = "Store the position in each file here (default: " SHIP_STATE_ROOT " for root, else ~/.local/state/benchwrap/ship-logs)"},
    {.name = OPTION_LIST,
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "List the files that are followed, what is delivered, and what waits"},
    CMD_ROW_JSON,
};

static void ship_warn(void *context, const char *text)
{
    const struct ship_command *w = context;
    struct buf plain CLEANUP_BUF;
    buf_init(&plain, 64 << 10);
    buf_plain(&plain, str_of(text), 2000);
    fprintf(w->c->notes, "benchwrap: ship-logs: %s\n", plain.p ? plain.p : "");
    fflush(w->c->notes);
}

/* ---- what to follow ---- */

static int ship_absolute(struct ship_command *w, const char *path, const char **ret)
{
    char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);
    *ret = path[0] == '/' ? path : folder ? arena_printf(w->c->arena, "%s/%s", folder, path) : NULL;
    free(folder);
    return *ret ? 0 : err_sys(w->c->err, "cannot find %s", path);
}

/* Sets the logs to be followed from the configuration, a role and the named files. -1 with c->err. */
static int ship_choose_sources(struct ship_command *w)
{
    struct cmd_context *c = w->c;
    const char *file = opt_text(&c->opts, OPTION_CONFIG), *role = opt_text(&c->opts, OPTION_ROLE), *path;
    bool is_parsed = opt_on(&c->opts, OPTION_PARSED);
    if (!file && !role && c->argc == 0)
        file = SHIP_CONFIG_PATH;
    if (file && ship_config_read(&w->config, file, c->arena, ship_warn, w, c->err)) {
        if (!opt_text(&c->opts, OPTION_CONFIG))
            err_hint(c->err, "name a configuration with --config, a role with --role, or files");
        return -1;
    }
    if (role && ship_config_add_role(&w->config, role, is_parsed, c->arena, c->err))
        return -1;
    for (int i = 0; i < c->argc; i++)
        if (ship_absolute(w, c->argv[i], &path) || ship_config_add_path(&w->config, path, is_parsed, c->arena, c->err))
            return -1;
    if (w->config.computer)
        w->ship.computer = w->config.computer;
    w->config.from_end |= opt_on(&c->opts, OPTION_FROM_END);
    return w->config.count ? 0 : err_set(c->err, ERR_INPUT, "%s: expected the key logs or role", file);
}

/* ---- where to ---- */

static int ship_use_file(struct ship_command *w, const char *file)
{
    struct buf text CLEANUP_BUF;
    const char *path;
    buf_init(&text, 16384);
    if (ship_absolute(w, file, &path))
        return -1;
    exporter_configs_deinit(w->config.exporter);
    w->config.exporter = NULL;
    buf_puts(&text, "to: {type: jsonl, name: file, file: ");
    buf_json(&text, str_of(path));
    buf_puts(&text, "}\n");
    return ship_config_parse(&w->config, OPTION_OUT, buf_text(&text), w->c->arena, ship_warn, w, w->c->err);
}

static int ship_use_exporter(struct ship_command *w, const char *name)
{
    char *line[] = {arena_dup(w->c->arena, "ship-logs", 9), NULL};
    if (plan_make(&w->plan, 1, line, w->c->env, w->c->err))
        return -1;
    w->has_plan = true;
    w->ship.exporter = exporter_config_find(w->plan.exporters, name);
    if (w->ship.exporter)
        return 0;
    err_set(w->c->err, ERR_INPUT, "no exporter has the name %.80s", name);
    return err_hint(w->c->err, "benchwrap exporter list");
}

static int ship_find_destination(struct ship_command *w)
{
    struct cmd_context *c = w->c;
    const char *out = opt_text(&c->opts, OPTION_OUT), *to = opt_text(&c->opts, OPTION_TO);
    if (out && to)
        return err_set(c->err, ERR_USAGE, "--out and --to exclude each other");
    if (out && ship_use_file(w, out))
        return -1;
    w->ship.exporter = w->config.exporter;
    if (to || (!out && w->config.to))
        return ship_use_exporter(w, to ? to : w->config.to);
    if (w->ship.exporter || opt_on(&c->opts, OPTION_LIST))
        return 0;
    err_set(c->err, ERR_USAGE, "expected a destination");
    return err_hint(c->err, "--out FILE, --to NAME, or the key `to` in the configuration");
}

/* Opens the state folder of --state, the configuration, or the default as w->ship.state, which the
 * caller closes, and creates it except with --list. 0, with --list also where there is none; -1
 * with c->err. */
static int ship_open_state(struct ship_command *w)
{
    struct cmd_context *c = w->c;
    const char *state = opt_text(&c->opts, OPTION_STATE), *home = env_text(c->env, "HOME"), *base = env_text(c->env, "XDG_STATE_HOME");
    if (!state)
        state = w->config.state;
    if (!state && geteuid() == 0)
        state = SHIP_STATE_ROOT;
    if (!state && base)
        state = arena_printf(c->arena, "%s/benchwrap/ship-logs", base);
    if (!state && home)
        state = arena_printf(c->arena, "%s/.local/state/benchwrap/ship-logs", home);
    if (!state)
        return err_set(c->err, ERR_USAGE, "expected --state: HOME is not set");
    if (!opt_on(&c->opts, OPTION_LIST) && fs_mkdirs(AT_FDCWD, state, 0700, c->err))
        return -1;
    w->ship.state = place_open_folder(state, 0);
    if (w->ship.state >= 0 && !place_is_own(w->ship.state))
        return err_set(c->err, ERR_INPUT, "cannot use %s: other users may write it", state);
    return w->ship.state >= 0 || opt_on(&c->opts, OPTION_LIST) ? 0 : err_sys(c->err, "cannot open %s", state);
}

/* ---- output ---- */

static int ship_print_list(struct ship_command *w)
{
    static const struct listing_column columns[] = {{"name", "NAME"},
                                                    {"path", "FILE", .whole = true},
                                                    {"stream", "STREAM", .drop = 1},
                                                    {"form", "FORM", .drop = 2},
                                                    {"delivered_bytes", "DELIVERED", .right = true},
                                                    {"pending_bytes", "PENDING", .right = true}};
    struct listing l;
    int rc;
    listing_init(&l, columns, sizeof columns / sizeof *columns, w->c->arena);
    rc = ship_list(&w->ship, &l, w->c->err);
    if (rc == 0) {
        bool json = opt_on(&w->c->opts, OPTION_JSON);
        uint64_t dead = w->ship.state >= 0 ? logs_dead_count(w->ship.state) : 0;
        if (!json && listing_rows(&l) == 0)
            fputs("None of these files exists.\n", w->c->out);
        rc = listing_write(&l, json ? LISTING_JSON : LISTING_TABLE, w->c->out) < 0 ? err_memory(w->c->err, "the listing") : 0;
        if (!json && dead)
            fprintf(w->c->out, "%" PRIu64 " record%s refused: benchwrap ship-logs --resend\n", dead, dead == 1 ? " was" : "s were");
    }
    listing_deinit(&l);
    return rc;
}

static void ship_print_counts(const struct ship_command *w, const struct ship_counts *n)
{
    if (opt_on(&w->c->opts, OPTION_JSON)) {
        struct buf text CLEANUP_BUF;
        buf_init(&text, 4096);
        struct json_out j = json_begin(&text, JSON_ROW, '{');
        json_uint(&j, "lines", n->lines);
        json_uint(&j, "records", n->records);
        json_uint(&j, "refused", n->refused);
        json_uint(&j, "dropped", n->dropped);
        json_uint(&j, "lost_bytes", n->lost);
        json_close(&j, '}');
        fprintf(w->c->out, "%s\n", text.p ? text.p : "");
        return;
    }
    fprintf(w->c->out, "%" PRIu64 " record%s delivered", n->records, str_plural(n->records));
    if (n->refused)
        fprintf(w->c->out, ", %" PRIu64 " refused (they are in %s of the state folder)", n->refused, SHIP_DEAD);
    if (n->dropped)
        fprintf(w->c->out, ", %" PRIu64 " older refused records dropped", n->dropped);
    if (n->lost)
        fprintf(w->c->out, ", %" PRIu64 " bytes of deleted files lost", n->lost);
    fputc('\n', w->c->out);
}

/* ---- the command ---- */

/* Executes `benchwrap ship-logs` after the configuration is read. Returns what ship_run or
 * ship_resend_dead returns; -1 with c->err. */
static int ship_do(struct ship_command *w)
{
    struct cmd_context *c = w->c;
    struct ship_counts counts;
    double wait_s = opt_seconds(&c->opts, OPTION_WAIT);
    if (ship_choose_sources(w) || ship_find_destination(w) || ship_open_state(w))
        return -1;
    if (opt_on(&c->opts, OPTION_LIST))
        return ship_print_list(w);
    w->ship.cancel_fd = stop_signals_open(NULL);
    w->ship.once = opt_on(&c->opts, OPTION_ONCE);
    int rc =
        opt_on(&c->opts, OPTION_RESEND) ? ship_resend_dead(&w->ship, wait_s, &counts, c->err) : ship_run(&w->ship, wait_s, &counts, c->err);
    if (rc >= 0)
        ship_print_counts(w, &counts);
    fs_close(&w->ship.cancel_fd);
    return rc;
}

static int ship_logs_command(struct cmd_context *c)
{
    struct ship_command w = {.c = c};
    ship_config_init(&w.config);
    if (gethostname(w.computer, sizeof w.computer - 1))
        memcpy(w.computer, "unknown", 8);
    w.ship = (struct ship){.config = &w.config, .state = -1, .env = c->env, .cancel_fd = -1, .note = ship_warn, .context = &w};
    w.ship.computer = w.computer;
    int rc = ship_do(&w);
    fs_close(&w.ship.state);
    ship_config_deinit(&w.config);
    if (w.has_plan)
        plan_deinit(&w.plan);
    return rc;
}

const struct cmd cmd_ship_logs = {
    .name = "ship-logs",
    .summary = "Deliver the lines of log files to another system",
    .usage = "[OPTIONS] [FILE...]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "Follows log files and delivers each line as a JSON record: to a file, or by an exporter of the configuration. It follows a log through "
        "rotation by renaming, copying or truncation, and files that appear later. A FILE may contain * ? [. The records have the columns "
        "TimeGenerated, RawData, Computer and FilePath; with --parsed, the parts of the line.\n"
        "\n"
        "Each line is delivered at least once and in the order of its file. The position in each file is stored, so that a restart continues "
        "there. Lines are delivered twice only where a kill or a broken connection came between their delivery and that. While the "
        "destination accepts nothing, lines wait in their files. Secrets are replaced by the rules of `benchwrap redact`. "
        "docs/howto-logs.md has the configuration file and a systemd unit.\n"
        "\n"
        "SIGTERM and SIGINT end the command. Status 0: all that was read is delivered or waits in its file. 1: with --once or --resend, "
        "the destination accepted nothing.",
    .examples = "$ benchwrap ship-logs --once --out lines.jsonl --state state /etc/hostname\n"
                "Append the lines of a file to lines.jsonl, those that are new since the last call.\n"
                "  benchwrap ship-logs --role scheduler --to azure\n"
                "Deliver the logs of Slurm's daemons, jetpack, healthagent and syslog by the exporter azure.\n"
                "  benchwrap ship-logs --list\n"
                "List the files of " SHIP_CONFIG_PATH ", and what waits.\n",
    .run = ship_logs_command,
};
