/* cmd_history.c: `benchwrap history`: the runs at which metrics changed, and what else changed there. */
#include "base/fs.h"
#include "base/place.h"
#include "cmd/record_delivery.h"
#include "cmd/row_output.h"
#include "cmd/selection.h"
#include "exporters/exporter_queue.h"
#include "history/history.h"
#include "run/redaction.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* What an exporter's folder remembers of changes: their ids, a line each. */
#define SENT_CHANGES "changes"
enum { SENT_BYTES = 64 << 20, SEND_S = 30 };

/* ---- changes to an exporter ---- */

static bool was_change_sent(struct str sent, const char *id)
{
    while (sent.n)
        if (str_is(str_cut(&sent, '\n'), id))
            return true;
    return false;
}

/* Keeps the notes that were not sent before. Returns how many; their records are in *records. */
static size_t keep_new_notes(struct history_note *notes, size_t n, struct str sent, struct str *records)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!was_change_sent(sent, notes[i].id)) {
            records[kept] = notes[i].record;
            notes[kept++] = notes[i];
        }
    return kept;
}

/* Sends the changes that the file of sent ones does not list, and appends to it those that are
 * handled. `file`: its descriptor, locked by the caller. 0; -1 with c->err, also when some were
 * sent. */
static int send_new_changes(struct cmd_context *c, const struct exporter_config *to, struct history_note *notes, size_t n, int file)
{
    struct buf sent CLEANUP_BUF, added CLEANUP_BUF;
    buf_init(&sent, SENT_BYTES);
    buf_init(&added, SENT_BYTES);
    struct str *records = arena_get(c->arena, (n + 1) * sizeof *records);
    if (!records)
        return err_memory(c->err, "changes");
    if (fs_read_open(file, SENT_CHANGES, SENT_BYTES, 0, &sent, c->err))
        return -1;
    size_t kept = keep_new_notes(notes, n, buf_text(&sent), records), handled = 0, refused = 0;
    const struct exporter_batch b = {.records = records, .count = kept, .stream = "changes"};
    int rc = kept ? record_delivery_send(c, to, &b, SEND_S, "change", &handled, &refused) : 0;
    for (size_t i = 0; i < handled; i++)
        buf_printf(&added, "%s\n", notes[i].id);
    if (added.failed || fs_write_all(file, added.p, added.n))
        return rc ? rc : err_sys(c->err, "cannot store which changes were delivered");
    fprintf(c->notes, "benchwrap: history: %zu change%s delivered to %s", handled - refused, str_plural(handled - refused), to->name);
    if (n > kept)
        fprintf(c->notes, ", %zu known there", n - kept);
    fputc('\n', c->notes);
    return rc;
}

/* ---- what may be sent ---- */

struct sendable_texts {
    struct redaction redaction;
    struct runs *runs;
    struct arena *arena;
    bool is_public; /* the profile of what is sent */
};

/* As in what `share` sends: a public text has no identities, and nothing of a private run. Names of experiments lose secrets alone. */
static const char *sendable_text(void *context, const struct tree_run *run, const char *key, const char *text)
{
    struct sendable_texts *s = context;
    if (!key)
        return redaction_name(&s->redaction, text, s->arena);
    const char *profile = s->is_public ? runs_file(s->runs, run, "tags/benchwrap.profile", 64, s->arena) : NULL;
    if (s->is_public && (!profile || strcmp(profile, "public") != 0))
        return "(private)";
    return redaction_named(&s->redaction, key, text, s->arena);
}

static int make_notes(struct cmd_context *c, const struct plan *plan, struct runs *runs, const struct history *h, struct history_note **ret,
                      size_t *ret_count)
{
    struct sendable_texts s = {.runs = runs, .arena = c->arena, .is_public = strcmp(opt_text(&plan->opts, OPTION_PROFILE), "public") == 0};
    int rc = redaction_begin_here(&s.redaction, s.is_public, c->env, c->err);
    if (rc == 0 && history_notes(h, sendable_text, &s, c->arena, ret, ret_count))
        rc = err_memory(c->err, "changes");
    redaction_end(&s.redaction);
    return rc;
}

/* Sends each change once: the folder of the exporter stores which ones were delivered. */
static int send_changes(struct cmd_context *c, struct runs *runs, const struct history *h, const char *name)
{
    struct plan plan;
    struct exporter_queue q = EXPORTER_QUEUE_NONE;
    struct history_note *notes;
    size_t n;
    if (plan_make_for(&plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE))
        return -1;
    const struct exporter_config *to = record_delivery_find(&plan, name, c->err);
    int rc = to ? make_notes(c, &plan, runs, h, &notes, &n) : -1;
    if (rc == 0)
        rc = exporter_queue_open(&q, plan.spool, to->name, true, c->err);
    CLEANUP_FD int file = rc == 0 ? place_open(q.dir, SENT_CHANGES, O_RDWR | O_CREAT | O_APPEND, 0600) : -1;
    if (rc == 0 && file < 0)
        rc = err_sys(c->err, "cannot open the file %s of the exporter", SENT_CHANGES);
    if (rc == 0 && fs_lock(file) != 0 && (errno == EAGAIN || errno == EACCES))
        rc = err_set(c->err, ERR_SYSTEM, "another process delivers changes to %s", to->name);
    if (rc == 0)
        rc = send_new_changes(c, to, notes, n, file);
    exporter_queue_close(&q);
    plan_deinit(&plan);
    return rc;
}

/* ---- the command ---- */

/* Executes `benchwrap history`. Returns 0; 3: --gate found a regression in the newest runs; -1 with
 * c->err. */
static int history_command(struct cmd_context *c)
{
    struct runs runs;
    struct history h = {0};
    enum listing_form form;
    struct history_request asked = {.run = c->argc ? c->argv[0] : NULL,
                                    .ignore = opt_find(&c->opts, OPTION_IGNORE),
                                    .all = opt_on(&c->opts, OPTION_ALL),
                                    .notes = c->notes,
                                    .arena = c->arena};
    int64_t last = opt_text(&c->opts, OPTION_LAST) ? opt_integer(&c->opts, OPTION_LAST) : HISTORY_GATE_USUAL;
    if (row_output_form(c, &form) < 0 || selection_filter(c, &asked.filter) < 0 ||
        selection_fraction(c, OPTION_MIN_EFFECT, &asked.min_effect) < 0)
        return -1;
    if (c->argc > 1)
        return err_set(c->err, ERR_USAGE, "expected one run or none, got %d", c->argc);
    if (last < 1)
        return err_set(c->err, ERR_USAGE, "--last: expected 1 run or more, got %lld", (long long)last);
    if (selection_open_for(&runs, c, c->argv, c->argc, c->err) < 0)
        return -1;
    int status = history_read(&asked, &runs, &h, c->err);
    if (status == 0)
        status = form == LISTING_JSON    ? history_write_json(&h, &asked, c->out)
                 : form == LISTING_TABLE ? history_write_text(&h, &asked, c->out)
                                         : history_write_rows(&h, &asked, form, c->out);
    if (status < 0 && !c->err->text[0])
        err_memory(c->err, "the history of runs");
    if (status == 0 && opt_on(&c->opts, OPTION_GATE) && history_has_regression(&h, (size_t)last))
        status = 3;
    if (status >= 0 && opt_text(&c->opts, OPTION_TO) && send_changes(c, &runs, &h, opt_text(&c->opts, OPTION_TO)) < 0)
        status = -1;
    history_close(&h);
    runs_close(&runs);
    return status;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    CMD_ROW_REF,
    SELECTION_ROWS_FILTER,
    {.name = OPTION_IGNORE,
     .kind = OPT_LIST,
     .arg = "PARAM",
     .group = "Selection",
     .help = "Join groups that differ in this param (or in those of a pattern); may be repeated"},
    {.name = OPTION_MIN_EFFECT,
     .kind = OPT_TEXT,
     .arg = "FRACTION",
     .value = "2%",
     .group = "Search",
     .help = "Ignore smaller changes, however sure"},
    {.name = OPTION_GATE,
     .kind = OPT_FLAG,
     .group = "Search",
     .help = "Exit 3 if a regression began among the newest runs and still lasts"},
    {.name = OPTION_LAST,
     .letter = 'l',
     .kind = OPT_INT,
     .arg = "N",
     .group = "Search",
     .help = "With --gate: how many of the newest runs count (default: 20)"},
    {.name = OPTION_ALL, .letter = 'a', .kind = OPT_FLAG, .group = "Output", .help = "Search all metrics, with those of the machine"},
    {.name = OPTION_TO,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "Output",
     .help = "Also deliver each change, once, by this exporter of the configuration, as an annotation for Grafana"},
    ROW_OUTPUT_FORMAT,
    CMD_ROW_JSON,
};

const struct cmd cmd_history = {
    .name = "history",
    .summary = "Show when metrics changed, and what else changed then",
    .usage = "[OPTIONS] [RUN]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description = "Groups the runs by comparison key, which is what they measured and on which system. In each group it searches every "
                   "metric for the run at which the level changed. With RUN only the runs with its key are searched. If RUN is a sweep, "
                   "those with the key of any of its points are. The runs are those that \"compare --history\" uses: finished, not "
                   "retracted, no warm-ups. A series of repetitions counts once.\n\n"
                   "A change is reported when three or more consecutive runs confirm it, with the medians before and after, the 95 % "
                   "interval of the change, and p, the chance of such a difference where nothing changed. One or two runs that deviate are"
                   " outliers, or not confirmed yet when they are the newest. Below follow the recorded facts that changed at the same "
                   "run, the likeliest causes first.\n\n"
                   "Use \"compare --history\" to judge one run at once, for example at the end of a job: a single value decides, and up to"
                   " 5 % of its alarms are false. Use \"history\" to watch a benchmark over time: it needs seven runs, of which three"
                   " confirm a change, and gives less than one false alarm in 1000 runs (docs/howto-history.md).",
    .examples = "$ benchwrap history -e io\n"
                "Show the changes of each metric in the runs of experiment io.\n"
                "$ benchwrap history last --gate\n"
                "Search the runs like the newest one. Exit 3 if a regression began among the newest 20.\n"
                "$ benchwrap history --to annotations\n"
                "Send the changes that were found since the last call to Grafana.\n",
    .run = history_command,
};
