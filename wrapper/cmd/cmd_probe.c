/* cmd_probe.c: `benchwrap probe`: what would be recorded of this machine, without a run: facts, costs, and why something is missing. */
#include "base/clock.h"
#include "base/listing.h"
#include "base/show.h"
#include "cmd/cmd.h"
#include "probes/probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct listing_column fact_columns[] = {
    {"key", "KEY", .whole = true},
    {"value", "VALUE", .max = 100},
    {"kind", NULL},
    {"probe", "PROBE", .whole = true, .drop = 1},
};
static const struct listing_column cost_columns[] = {
    {"probe", "PROBE", .whole = true},
    {"before_ms", "BEFORE", .right = true, .above = "ms:"},
    {"beside_ms", "BESIDE", .right = true},
    {"after_ms", "AFTER", .right = true},
    {"sample_ms", "SAMPLE", .right = true},
    {"facts", "FACTS", .right = true, .drop = 1},
    {"missing", "MISSING", .right = true, .drop = 2},
    {"cached", "CACHED", .drop = 3},
    {"summary", "INSPECTS", .drop = 4},
};
#define COUNT(list) (sizeof list / sizeof *list)

static const char *probe_of(const struct fact *f)
{
    return f->source && strncmp(f->source, "probe:", 6) == 0 ? f->source + 6 : "";
}

static const char *fact_kind_word(const struct fact *f)
{
    return f->kind == FACT_PARAM ? "param" : f->kind == FACT_TAG ? "tag" : "metric";
}

/* Returns whether a later sample of the metric follows: the first one is only a base, so the last
 * is shown. */
static bool told_again(const struct fact *f)
{
    for (const struct fact *later = f->next; f->kind == FACT_METRIC && later; later = later->next)
        if (later->kind == FACT_METRIC && str_eq(later->key, f->key))
            return true;
    return false;
}

/* Adds a cell with the value; its unit is in the key of the row. */
static void add_value(struct listing *l, double value, struct arena *arena)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64);
    show_value(&b, value);
    listing_number(l, value, arena_dup(arena, b.p, b.n));
}

static void list_facts(const struct record *r, struct listing *l, struct arena *arena)
{
    for (const struct fact *f = r->first; f; f = f->next) {
        if ((f->kind != FACT_PARAM && f->kind != FACT_TAG && f->kind != FACT_METRIC) || told_again(f))
            continue;
        listing_str(l, f->key);
        if (f->kind == FACT_METRIC)
            add_value(l, f->value, arena);
        else
            listing_str(l, f->text);
        listing_text(l, fact_kind_word(f));
        listing_text(l, probe_of(f));
    }
}

static void cost_cell(struct listing *l, const struct probe_cost *c, enum probe_phase phase, struct arena *arena)
{
    if (c->runs[phase] == 0)
        listing_none(l);
    else
        listing_number(l, c->ms[phase] / c->runs[phase], arena_printf(arena, "%.3f", c->ms[phase] / c->runs[phase]));
}

static void list_costs(const struct host *h, const struct record *r, struct listing *l, struct arena *arena)
{
    const struct probe_cost *costs = probes_costs(h);
    for (size_t i = 0; costs && i < probes_count; i++) {
        unsigned facts = 0, missing = 0;
        for (const struct fact *f = r->first; f; f = f->next)
            if (strcmp(probe_of(f), probes[i]->name) == 0)
                *(f->kind == FACT_MISSING ? &missing : &facts) += 1;
        listing_text(l, probes[i]->name);
        cost_cell(l, &costs[i], PROBE_BEFORE, arena);
        cost_cell(l, &costs[i], PROBE_BESIDE, arena);
        cost_cell(l, &costs[i], PROBE_AFTER, arena);
        cost_cell(l, &costs[i], PROBE_SAMPLE, arena);
        listing_number(l, facts, arena_printf(arena, "%u", facts));
        listing_number(l, missing, arena_printf(arena, "%u", missing));
        listing_text(l, costs[i].cached ? "yes" : probes[i]->lasting || probes[i]->beside_lasts ? "no" : NULL);
        listing_text(l, probes[i]->summary);
    }
}

static const struct listing_column missing_columns[] = {
    {"key", "MISSING", .whole = true},
    {"reason", "WHY", .wrap = true},
    {"probe", NULL},
};

static void list_missing(const struct record *r, struct listing *l)
{
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_MISSING) {
            listing_str(l, f->key);
            listing_str(l, f->text);
            listing_text(l, probe_of(f));
        }
}

struct tables {
    struct listing facts, missing, costs;
};

/* Prints the facts, missing values and costs as tables or JSON. -1: out of memory. */
static int probe_print(struct cmd_context *c, const struct tables *t)
{
    if (!opt_on(&c->opts, OPTION_JSON)) {
        int done = listing_print(&t->facts, c->out);
        if (listing_rows(&t->missing) > 0)
            fputc('\n', c->out);
        done |= listing_print(&t->missing, c->out);
        fputc('\n', c->out);
        return done | listing_print(&t->costs, c->out);
    }
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8 << 20);
    struct json_out j = json_begin(&b, JSON_BLOCK, '{');
    listing_json_member(&t->facts, "facts", &j);
    listing_json_member(&t->missing, "missing", &j);
    listing_json_member(&t->costs, "probes", &j);
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, c->out);
    return b.failed ? -1 : 0;
}

/* Both hooks run as around a program, and two samples (the first is the base of the second). */
static void probe_run_hooks(struct host *h, struct record *r)
{
    probes_run(PROBE_BEFORE, false, h, r);
    probes_run(PROBE_BESIDE, false, h, r);
    probes_run(PROBE_SAMPLE, false, h, r);
    probes_run(PROBE_SAMPLE, false, h, r);
    probes_run(PROBE_AFTER, false, h, r);
}

static int probe_command(struct cmd_context *c)
{
    static const char id[33] = "00000000000000000000000000000000";
    const char *root = opt_text(&c->opts, OPTION_ROOT);
    CLEANUP_BUF struct buf cache;
    char *cwd = getcwd(NULL, 0);
    buf_init(&cache, 4096);
    bool real = strcmp(root, "/") == 0;
    struct host h = {
        .root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC),
        .root_path = root,
        .real = real,
        .env = c->env,
        .argv = c->argc > 0 ? c->argv : NULL,
        .full_argv = c->argc > 0 ? c->argv : NULL,
        .cwd = cwd ? cwd : "/",
        .spool = -1,
        .cache = real && !opt_on(&c->opts, OPTION_NO_CACHE) && probes_cache_dir(c->env, &cache) ? cache.p : NULL,
        .metadata = opt_text(&c->opts, OPTION_CLOUD_METADATA),
        .counters = opt_on(&c->opts, OPTION_COUNTERS),
        .public_profile = strcmp(opt_text(&c->opts, OPTION_PROFILE), "public") == 0,
    };
    if (h.root < 0) {
        free(cwd);
        return err_sys(c->err, "the machine's root %s cannot be opened", root);
    }
    struct record r;
    record_init(&r, id, clock_wall_ms());
    probe_run_hooks(&h, &r);
    struct tables t;
    listing_init(&t.facts, fact_columns, COUNT(fact_columns), c->arena);
    listing_init(&t.missing, missing_columns, COUNT(missing_columns), c->arena);
    listing_init(&t.costs, cost_columns, COUNT(cost_columns), c->arena);
    list_facts(&r, &t.facts, c->arena);
    list_missing(&r, &t.missing);
    list_costs(&h, &r, &t.costs, c->arena);
    int done = probe_print(c, &t);
    listing_deinit(&t.facts);
    listing_deinit(&t.missing);
    listing_deinit(&t.costs);
    record_deinit(&r);
    probes_end(&h);
    close(h.root);
    free(cwd);
    return done ? err_memory(c->err, "the list of facts") : 0;
}

static const struct opt_row rows[] = {
    CMD_ROW_JSON,
    {.name = OPTION_PROFILE,
     .kind = OPT_CHOICE,
     .arg = "private|public",
     .env = "BENCHWRAP_PROFILE",
     .value = "private",
     .group = "Selection",
     .help = "Show what a record of this profile holds"},
    {.name = OPTION_NO_CACHE, .kind = OPT_FLAG, .group = "Selection", .help = "Read again what lasts until the next boot"},
    {.name = OPTION_COUNTERS,
     .kind = OPT_FLAG,
     .env = "BENCHWRAP_COUNTERS",
     .group = "Selection",
     .help = "Also count the traffic of the memory controllers"},
    {.name = OPTION_CLOUD_METADATA,
     .kind = OPT_TEXT,
     .arg = "auto|URL",
     .env = "BENCHWRAP_CLOUD_METADATA",
     .group = "Selection",
     .help = "Also query the metadata service of the cloud, for 1 s at most"},
    {.name = OPTION_ROOT,
     .kind = OPT_TEXT,
     .arg = "DIR",
     .value = "/",
     .group = "Selection",
     .help = "Inspect a captured machine (scripts/capture-machine) instead of this one"},
};

const struct cmd cmd_probe = {
    .name = "probe",
    .summary = "Show what is recorded about this machine",
    .usage = "[OPTIONS] [-- PROGRAM [ARGUMENT...]]",
    .rows = rows,
    .count = COUNT(rows),
    .description =
        "Runs all probes without a run: prints the facts, the reasons for those that are missing, and the cost of each probe in milliseconds. "
        "With a program, also the facts recorded about it after its end: its hash, libraries and the git state of its directory. The program is not started.",
    .examples = "$ benchwrap probe\nThe facts of this machine.\n"
                "$ benchwrap probe --json --profile public\nWhat a public record would contain, for programs.\n",
    .run = probe_command,
};
