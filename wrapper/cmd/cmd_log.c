/* cmd_log.c: `benchwrap log KEY=VALUE…`: a program, or a script around it, adds facts to the run it is recorded in.
 *
 * Facts go as one JSON object per datagram to the socket that BENCHWRAP_SOCKET names ("@name": abstract). A file travels as an open descriptor, so
 * that the recorder reads what this process may read, and nothing else. Everything is checked before the first is sent. */
#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/json_out.h"
#include "base/place.h"
#include "base/emit.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "mlruns-format/key.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct message {
    struct str text;
    const char *what;
    int file; /* open for reading, or -1; closed when the process ends */
    struct message *next;
};

static int add_message(struct cmd_context *c, struct message ***tail, const struct buf *b, int file, const char *what)
{
    struct message *m = ARENA_NEW(c->arena, struct message);
    if (!m)
        return err_memory(c->err, "a message");
    if (b->failed)
        return err_set(c->err, ERR_INPUT, "\"%.60s\" is longer than the %d bytes that one fact may have", what, EMIT_MAX);
    *m = (struct message){.text = {arena_dup(c->arena, b->p, b->n), b->n}, .what = what, .file = file};
    **tail = m;
    *tail = &m->next;
    return m->text.p ? 0 : err_memory(c->err, "a message");
}

/* key and value of "KEY=VALUE"; both must be text that JSON can carry unchanged. */
static int split_pair(struct cmd_context *c, const char *word, struct str *ret_key, struct str *ret_value)
{
    struct str rest = str_of(word), key = str_cut(&rest, '=');
    if (!rest.p || !key.n)
        return err_set(c->err, ERR_USAGE, "expected KEY=VALUE, got \"%.60s\"", word);
    if (!str_valid_utf8(str_of(word)))
        return err_set(c->err, ERR_INPUT, "\"%.60s\" is not valid UTF-8", word);
    *ret_key = key;
    *ret_value = rest;
    return 0;
}

static int add_text(struct cmd_context *c, struct message ***tail, const char *kind, const char *word)
{
    struct str key, value;
    if (split_pair(c, word, &key, &value) < 0)
        return -1;
    CLEANUP_BUF struct buf b;
    buf_init(&b, EMIT_MAX);
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    json_str(&j, kind, key);
    json_str(&j, "value", value);
    json_close(&j, '}');
    return add_message(c, tail, &b, -1, word);
}

static int add_artifact(struct cmd_context *c, struct message ***tail, const char *path)
{
    const char *name = str_base_name(path);
    CLEANUP_FD int file = place_open_found(path);
    if (file < 0)
        return err_sys(c->err, "--artifact: cannot open %.200s", path);
    if (!str_valid_utf8(str_of(name)))
        return err_set(c->err, ERR_INPUT, "--artifact: the name %.200s is not valid UTF-8; rename the file", path);
    CLEANUP_BUF struct buf b;
    buf_init(&b, EMIT_MAX);
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    json_text(&j, "artifact", name);
    json_close(&j, '}');
    return add_message(c, tail, &b, fs_take(&file), path);
}

/* Appends the message for one NAME=VALUE, in the arena. -1 with c->err: no number, a reserved name,
 * or a unit that contradicts the name. */
static int add_metric_message(struct cmd_context *c, struct message ***tail, const char *word, const char *unit, int64_t time_ms)
{
    struct str key, text;
    double value;
    if (split_pair(c, word, &key, &text) < 0)
        return -1;
    if (!str_double(text, &value) && memchr(text.p, '@', text.n))
        return err_set(c->err, ERR_INPUT, "\"%.60s\": a metric is a number; its step is an option: --step N", word);
    if (!str_double(text, &value))
        return err_set(c->err, ERR_INPUT, "\"%.60s\": a metric is a number; for text use --param or --tag", word);
    if (key.n >= 4 && memcmp(key.p, "run.", 4) == 0)
        return err_set(c->err, ERR_INPUT, "\"%.60s\": metrics named run.* are what benchwrap itself measures; use another name", word);
    const char *named = key_unit(arena_dup(c->arena, key.p, key.n), c->arena);
    if (unit && named && *named && strcmp(named, unit) != 0)
        return err_set(c->err, ERR_INPUT, "\"%.60s\": the name ends in the unit %s, and --unit is %s; leave one of the two out", word,
                       named, unit);
    if (isinf(value))
        return err_set(c->err, ERR_INPUT, "\"%.60s\": MLflow cannot show infinite values; log NaN, or nothing", word);
    CLEANUP_BUF struct buf b;
    buf_init(&b, EMIT_MAX);
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    json_str(&j, "metric", key);
    json_double(&j, "value", value);
    if (opt_text(&c->opts, OPTION_STEP))
        json_int(&j, "step", opt_integer(&c->opts, OPTION_STEP));
    json_int(&j, "time", time_ms);
    if (unit)
        json_text(&j, "unit", unit);
    json_close(&j, '}');
    return add_message(c, tail, &b, -1, word);
}

enum { KIND_ARTIFACT = 2, KIND_METRIC = 3 };

static int add_one(struct cmd_context *c, struct message ***tail, size_t kind, const char *name, const char *word, const char *unit,
                   int64_t time_ms)
{
    if (kind == KIND_METRIC)
        return add_metric_message(c, tail, word, unit, time_ms);
    return kind == KIND_ARTIFACT ? add_artifact(c, tail, word) : add_text(c, tail, name, word);
}

/* Makes messages of the command line: of its operands, then of --param, --tag and --artifact. */
static int collect_messages(struct cmd_context *c, struct message **ret)
{
    struct message **tail = ret;
    const char *given = opt_text(&c->opts, OPTION_UNIT);
    const struct unit *unit = given ? units_find(str_of(given)) : NULL;
    if (given && !unit)
        return err_set(c->err, ERR_USAGE, "--unit: expected a unit that \"benchwrap help log\" lists, got \"%.60s\"", given);
    int64_t now = opt_text(&c->opts, OPTION_TIME) ? opt_integer(&c->opts, OPTION_TIME) : clock_wall_ms();
    static const char *const kinds[] = {"param", "tag", "artifact", "metric"};
    size_t kind = KIND_METRIC;
    int first = 0;
    for (size_t k = 0; c->argc && k < sizeof kinds / sizeof kinds[0]; k++)
        if (strcmp(c->argv[0], kinds[k]) == 0) {
            kind = k;
            first = 1;
        }
    for (int i = first; i < c->argc; i++)
        if (add_one(c, &tail, kind, kinds[kind], c->argv[i], unit ? unit->name : NULL, now) < 0)
            return -1;
    for (size_t k = 0; k < KIND_METRIC; k++)
        for (const struct opt_value *v = opt_find(&c->opts, kinds[k]); v && v->text; v = v->next)
            if (add_one(c, &tail, k, kinds[k], v->text, NULL, now) < 0)
                return -1;
    return *ret ? 0 : err_set(c->err, ERR_USAGE, "nothing to log: expected KEY=VALUE, --param, --tag or --artifact");
}

static int send_all(const char *name, const struct message *first, struct err *err)
{
    int fd = emit_open(name, err);
    if (fd < 0)
        return -1;
    int rc = 0;
    for (const struct message *m = first; m && rc == 0; m = m->next)
        if (emit_send(fd, m->text, m->file) < 0) {
            uint32_t rest = 0;
            rc = err_sys(err, "\"%.60s\" and what follows it was not logged", m->what);
            for (const struct message *next = m->next; next; next = next->next)
                rest++;
            if (err->sys == EAGAIN)
                emit_count_lost(rest);
        }
    close(fd);
    return rc;
}

/* Sends the messages to the recorder. Returns 0 also where no run is recorded, or where they cannot
 * be sent; -1 with c->err: wrong options, or not sent with --strict. */
static int log_command(struct cmd_context *c)
{
    struct message *first = NULL;
    if (collect_messages(c, &first) < 0)
        return -1;
    const char *name = env_get(c->env, "BENCHWRAP_SOCKET");
    if (!name || !*name) { /* the same script runs with and without benchwrap, on every rank: the message is for a terminal alone */
        if (isatty(fileno(c->notes)) && !opt_on(&c->opts, OPTION_QUIET))
            fputs("benchwrap: log: nothing recorded: no run is being recorded here; start the program with benchwrap -- PROGRAM\n",
                  c->notes);
        return 0;
    }
    if (send_all(name, first, c->err) == 0)
        return 0;
    if (opt_on(&c->opts, OPTION_STRICT))
        return -1;
    fprintf(c->notes, "benchwrap: log: %s\n", c->err->text); /* a recorder that died is no reason for a script under `set -e` to end */
    return 0;
}

static const struct opt_row rows[] = {
    {.name = OPTION_STEP,
     .letter = 's',
     .kind = OPT_INT,
     .arg = "N",
     .group = "Metrics",
     .help = "Set the step of the values (default: 0, or one more than the last)"},
    {.name = OPTION_TIME,
     .kind = OPT_INT,
     .arg = "MS",
     .group = "Metrics",
     .help = "Set the time of the values, in milliseconds since 1970 (default: now)"},
    {.name = OPTION_UNIT,
     .letter = 'u',
     .kind = OPT_TEXT,
     .arg = "UNIT",
     .group = "Metrics",
     .help =
         "Set the unit of the values: B KiB MiB GiB MB GB MiB_per_s op_per_s s ms us ns J W percent ... (default: the one that the key ends in, as in size_B)"},
    {.name = OPTION_PARAM,
     .letter = 'p',
     .kind = OPT_PAIR,
     .arg = "KEY=VALUE",
     .group = "Other facts",
     .help = "Add a parameter; may be repeated"},
    {.name = OPTION_TAG, .letter = 't', .kind = OPT_PAIR, .arg = "KEY=VALUE", .group = "Other facts", .help = "Add a tag; may be repeated"},
    {.name = OPTION_ARTIFACT,
     .letter = 'a',
     .kind = OPT_LIST,
     .arg = "FILE",
     .group = "Other facts",
     .help = "Store this file with the run; may be repeated"},
    {.name = OPTION_QUIET,
     .letter = 'q',
     .kind = OPT_FLAG,
     .env = "BENCHWRAP_QUIET",
     .group = "Behaviour",
     .help = "Print nothing where no run is being recorded"},
    {.name = OPTION_STRICT,
     .kind = OPT_FLAG,
     .env = "BENCHWRAP_STRICT",
     .group = "Behaviour",
     .help = "Exit 1 when the recorder refuses it (default: a warning, exit status 0)"},
};

const struct cmd cmd_log = {
    .name = "log",
    .summary = "Add a metric, param, tag or file to the current run",
    .usage = "[OPTIONS] [metric|param|tag|artifact] [KEY=VALUE|FILE...]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description = "The recorded program, or a script around it, calls this command. The first word names what follows: metrics (also "
                   "without that word), params or tags as KEY=VALUE, or files. The value of a metric is a number. NaN is kept, infinite "
                   "values are refused because MLflow cannot show them. All arguments are checked before the first one is sent.\n\n"
                   "A fact costs the program one datagram. No server is involved, and any number of processes may log at once. For a file,"
                   " this command opens it and passes it to the recorder. The copy is never more readable than the file. The recorder "
                   "accepts messages of the user who called benchwrap and of root (sudo --preserve-env=BENCHWRAP_SOCKET). It drops and "
                   "counts those of other users.\n\n"
                   "Outside a recorded run (BENCHWRAP_SOCKET is not set) the command does nothing and succeeds, so a script need not know "
                   "whether it is recorded. On a terminal it prints that. If the recorder has ended, or reads nothing, the "
                   "command prints a warning and its status is 0, or 1 with --strict. All calls of a run wait half a second together for a "
                   "recorder that reads nothing; then the record counts what was lost.",
    .examples = "$ benchwrap -- sh -c 'for i in 1 2 3; do benchwrap log --step $i loss=0.$i; done'\n"
                "Three values of the metric loss.\n",
    .run = log_command,
};
