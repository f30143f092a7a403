/* options.c: taskrate's command line, and the settings made of it. */
#include "benchmarks/native/taskrate/options.h"

#include "base/installed.h"
#include "benchmarks/native/taskrate/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt_row rows[] = {
    {.name = OPTION_TASKS,
     .letter = 'n',
     .kind = OPT_TEXT,
     .arg = "N[,N...]",
     .group = "Tasks",
     .help = "Submit N tasks in a batch; several: a sweep (default: the provider's own)"},
    {.name = OPTION_DURATION,
     .letter = 'd',
     .kind = OPT_TEXT,
     .arg = "T[,T...]",
     .value = "0",
     .group = "Tasks",
     .help = "Let each task sleep this long; 0, 1ms, 100ms ...; several: a sweep"},
    {.name = OPTION_BUSY, .kind = OPT_FLAG, .group = "Tasks", .help = "Let tasks compute instead of sleep"},
    {.name = OPTION_REPEAT,
     .letter = 'r',
     .kind = OPT_INT,
     .arg = "R",
     .value = "3",
     .group = "Tasks",
     .help = "Run R batches of each size and duration"},
    {.name = OPTION_WARMUP,
     .kind = OPT_INT,
     .arg = "W",
     .value = "1",
     .group = "Tasks",
     .help = "Run W batches first; these are recorded but enter no metric"},
    {.name = OPTION_CHAIN,
     .kind = OPT_INT,
     .arg = "N",
     .group = "Tasks",
     .help = "tasks of the dependent chain, one in flight; 0: none (default: the provider's own)"},
    {.name = OPTION_PAYLOAD,
     .kind = OPT_TEXT,
     .arg = "stub|true|sh|call|CMD",
     .value = "stub",
     .group = "Tasks",
     .help = "Choose what a task is; the stub, /bin/true, a shell, a function call in this process (local only), or a command"},
    {.name = OPTION_WRAP,
     .kind = OPT_FLAG,
     .group = "Tasks",
     .help = "local: other payloads are started by the stub, which stamps them; two processes a task"},
    {.name = OPTION_ARGSIZE,
     .kind = OPT_SIZE,
     .arg = "BYTES",
     .value = "0",
     .group = "Tasks",
     .help = "ballast on every task's command line"},
    {.name = OPTION_NO_FLOOR, .kind = OPT_FLAG, .group = "Tasks", .help = "do not measure the local floor before"},
    {.name = OPTION_SLOTS,
     .letter = 's',
     .kind = OPT_INT,
     .arg = "N",
     .group = "Submission",
     .help = "Slots: how many tasks may run at a time (default: what the provider declares). A scheduler starts tasks by its own limit"},
    {.name = OPTION_CLIENTS,
     .letter = 'c',
     .kind = OPT_INT,
     .arg = "N",
     .group = "Submission",
     .help = "Run N submit commands at a time (default: the provider's own)"},
    {.name = OPTION_WIDTH, .kind = OPT_INT, .arg = "N", .value = "1", .group = "Submission", .help = "slurm-step: tasks of one srun"},
    {.name = OPTION_ARRAY, .kind = OPT_FLAG, .group = "Submission", .help = "flux, pbs, lsf, kubernetes: all tasks by one submission"},
    {.name = OPTION_SUBMIT,
     .kind = OPT_TEXT,
     .arg = "TEMPLATE",
     .group = "Submission",
     .help = "Submit with this command (exec; {task} is the task's own command, {index} its number, {count} how many)"},
    {.name = OPTION_DETACHED,
     .kind = OPT_FLAG,
     .group = "Submission",
     .help = "exec: the command returns when the task is queued, not when it has ended"},
    {.name = OPTION_BULK,
     .kind = OPT_FLAG,
     .group = "Submission",
     .help = "exec: one command for all tasks, which are lines on its standard input"},
    {.name = OPTION_WITH,
     .kind = OPT_CHOICE,
     .arg = "parallel|xargs",
     .value = "parallel",
     .group = "Submission",
     .help = "parallel: the tool"},
    {.name = OPTION_IMAGE, .kind = OPT_TEXT, .arg = "NAME", .group = "Submission", .help = "kubernetes: container image of a task"},
    {.name = OPTION_STUB,
     .kind = OPT_TEXT,
     .arg = "PATH",
     .group = "Submission",
     .help = "Path of the stub on the nodes (default: the one next to this program)"},
    {.name = OPTION_REPORT_DIR,
     .kind = OPT_TEXT,
     .arg = "DIR",
     .group = "Submission",
     .help = "tasks append their times to a file in this shared folder instead of sending datagrams"},
    {.name = OPTION_ADDRESS,
     .kind = OPT_TEXT,
     .arg = "IPV4",
     .group = "Submission",
     .help = "where tasks send their datagrams (default: all addresses of this machine)"},
    {.name = OPTION_RATE,
     .kind = OPT_TEXT,
     .arg = "R",
     .group = "Limits",
     .help = "Limit submit calls per second; 0: no limit (default: the provider's own)"},
    {.name = OPTION_MAX_TASKS,
     .kind = OPT_INT,
     .arg = "N",
     .group = "Limits",
     .help = "Allow batches of N tasks (on a shared controller; default: the provider's own)"},
    {.name = OPTION_STALL,
     .kind = OPT_DURATION,
     .arg = "T",
     .value = "60s",
     .group = "Limits",
     .help = "Stop after this time without a report of any task"},
    {.name = OPTION_TASK_TIMEOUT,
     .kind = OPT_DURATION,
     .arg = "T",
     .value = "60s",
     .group = "Limits",
     .help = "local: a task that runs longer than its duration and this is killed"},
    {.name = OPTION_CLIENT_TIMEOUT,
     .kind = OPT_DURATION,
     .arg = "T",
     .value = "120s",
     .group = "Limits",
     .help = "a submit command that runs longer than this is ended"},
    {.name = OPTION_JSON, .kind = OPT_FLAG, .group = "Output", .help = "Print one JSON document"},
    {.name = OPTION_OUT,
     .letter = 'o',
     .kind = OPT_TEXT,
     .arg = "DIR",
     .group = "Output",
     .help = "Also write all results to this folder; taskrate.json, a table of all tasks, two drawings"},
    {.name = OPTION_NODE_NAMES, .kind = OPT_FLAG, .group = "Output", .help = "name the nodes in the result, not only count them"},
    {.name = OPTION_QUIET, .letter = 'q', .kind = OPT_FLAG, .group = "Output", .help = "Print no progress line"},
    {.name = OPTION_LIST, .kind = OPT_FLAG, .group = "Other", .help = "List the providers"},
    {.name = OPTION_HELP,
     .letter = 'h',
     .kind = OPT_FLAG,
     .group = "Other",
     .help = "Print the common options; \"taskrate help options\" prints all"},
    {.name = OPTION_MAN, .kind = OPT_FLAG, .group = "Other", .help = "Print the manual page's source"},
    {.name = OPTION_VERSION, .letter = 'V', .kind = OPT_FLAG, .group = "Other", .help = "Print the version"},
};
_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_MAX, "room for the values");

int options_parse(struct taskrate_options *o, int argc, char **argv, int *next, struct err *err)
{
    o->set = (struct opt_set){.rows = rows, .count = sizeof rows / sizeof rows[0], .values = o->values, .permute = true};
    opt_defaults(&o->set, getenv);
    return opt_parse(&o->set, argc, argv, next, err);
}

/* Reads the list of --tasks. Returns 0, or another value with *err. */
static int options_read_sizes(struct bench_settings *s, const char *text, struct err *err)
{
    struct str rest = str_of(text);
    while (rest.p) {
        struct str one = str_trim(str_cut(&rest, ','));
        uint64_t n;
        if (!str_uint(one, &n) || n < 1 || n > 100000000)
            return err_set(err, ERR_USAGE, "--tasks: expected a number from 1 to 100000000, got \"" STR_FMT "\"",
                           (int)(one.n < 40 ? one.n : 40), one.p);
        if (s->size_count == SWEEP_MAX)
            return err_set(err, ERR_USAGE, "--tasks: at most %d sizes", SWEEP_MAX);
        for (size_t i = 0; i < s->size_count; i++)
            if (s->sizes[i] == n)
                return err_set(err, ERR_USAGE, "--tasks: %llu twice; --repeat measures one size several times", (unsigned long long)n);
        s->sizes[s->size_count++] = (size_t)n;
    }
    return 0;
}

/* Reads the list of --duration, in seconds. Returns 0, or another value with *err. */
static int options_read_durations(struct bench_settings *s, const char *text, struct err *err)
{
    struct str rest = str_of(text);
    while (rest.p) {
        struct str one = str_trim(str_cut(&rest, ','));
        double seconds;
        if (!str_duration(one, &seconds) || !(seconds >= 0) || seconds > 86400 || (seconds > 0 && seconds < 1e-9))
            return err_set(err, ERR_USAGE,
                           "--duration: expected 0, or a time from 1ns to 86400s as in 500us, 10ms or 1s, got \"" STR_FMT "\"",
                           (int)(one.n < 40 ? one.n : 40), one.p);
        if (s->duration_count == SWEEP_MAX)
            return err_set(err, ERR_USAGE, "--duration: at most %d durations", SWEEP_MAX);
        for (size_t i = 0; i < s->duration_count; i++)
            if (s->durations[i] == seconds)
                return err_set(err, ERR_USAGE, "--duration: %g s twice; --repeat measures one duration several times", seconds);
        s->durations[s->duration_count++] = seconds;
    }
    return 0;
}

/* A number of the command line within bounds, else `otherwise` where it is not given. */
static int options_read_integer(const struct taskrate_options *o, const char *name, int64_t low, int64_t high, int64_t otherwise,
                                int64_t *ret, struct err *err)
{
    *ret = otherwise;
    if (!opt_text(&o->set, name))
        return 0;
    *ret = opt_integer(&o->set, name);
    if (*ret < low || *ret > high)
        return err_set(err, ERR_USAGE, "--%s: expected a number from %lld to %lld, got \"%lld\"", name, (long long)low, (long long)high,
                       (long long)*ret);
    return 0;
}

/* Reads --payload: stub, call, true, sh, or a command that is searched in PATH. -1 with err. */
static int options_read_payload(struct bench *b, const char *text, struct err *err)
{
    struct bench_settings *s = &b->set;
    static const char *const trues[] = {"/bin/true", "/usr/bin/true"};
    if (strcmp(text, "stub") == 0)
        s->payload = PAYLOAD_STUB;
    else if (strcmp(text, "call") == 0)
        s->payload = PAYLOAD_CALL;
    else if (strcmp(text, "true") == 0) {
        s->payload = PAYLOAD_TRUE;
        return words_add(&s->command, access(trues[0], X_OK) == 0 ? trues[0] : trues[1], err);
    } else if (strcmp(text, "sh") == 0) {
        s->payload = PAYLOAD_SH;
        return words_addv(&s->command, err, "/bin/sh", "-c", ":", NULL);
    } else {
        s->payload = PAYLOAD_COMMAND;
        if (words_split(&s->command, &b->arena, text, err) < 0)
            return -1;
        if (!s->command.n)
            return err_set(err, ERR_USAGE, "--payload: there is no command in it");
        const char *path = command_find(&b->arena, s->command.word[0], err);
        if (!path) {
            err->kind = ERR_USAGE;
            return err_wrap(err, "--payload");
        }
        s->command.word[0] = path;
    }
    return 0;
}

/* Finds the stub: --stub, else libexec/benchwrap/taskrate-stub next to bin/taskrate. */
static int find_stub(const struct taskrate_options *o, struct bench *b, struct err *err)
{
    const char *named = opt_text(&o->set, OPTION_STUB);
    if (named) {
        if (named[0] != '/')
            return err_set(err, ERR_USAGE, "--stub %s: expected an absolute path, since the nodes start it", named);
        b->set.stub = named;
        return 0;
    }
    CLEANUP_BUF struct buf path;
    buf_init(&path, 4096);
    b->set.stub = installed_path("libexec/benchwrap/taskrate-stub", &path) == 0 ? arena_dup(&b->arena, path.p, path.n) : NULL;
    if (!b->set.stub || access(b->set.stub, X_OK) < 0)
        return err_sys(err, "the tasks' program %s; the installation is not complete", b->set.stub ? b->set.stub : "");
    return 0;
}

/* Reads the numbers of the command line, with the provider's defaults. Returns 0, or another value
 * with *err. */
static int options_read_numbers(const struct taskrate_options *o, struct bench *b, struct err *err)
{
    struct bench_settings *s = &b->set;
    const struct task_provider *p = b->provider;
    int64_t repeat, warmup, chain, slots, clients, width, most;
    if (options_read_integer(o, "repeat", 1, 1000, 3, &repeat, err) < 0 || options_read_integer(o, "warmup", 0, 100, 1, &warmup, err) < 0 ||
        options_read_integer(o, "chain", 0, 1000000, (int64_t)p->chain, &chain, err) < 0 ||
        options_read_integer(o, "slots", 1, 1000000, 0, &slots, err) < 0 ||
        options_read_integer(o, "clients", 1, 1024, p->clients, &clients, err) < 0 ||
        options_read_integer(o, "width", 1, 100000, 1, &width, err) < 0 ||
        options_read_integer(o, "max-tasks", 1, 100000000, (int64_t)p->cap, &most, err) < 0)
        return -1;
    s->repeat = (unsigned)repeat, s->warmup = (unsigned)warmup, s->chain = (size_t)chain, s->slots = (unsigned)slots;
    s->clients = (unsigned)clients, s->width = (unsigned)width, s->max_tasks = (size_t)most;
    s->rate = p->rate;
    if (opt_text(&o->set, OPTION_RATE) &&
        (!str_double(str_of(opt_text(&o->set, OPTION_RATE)), &s->rate) || !(s->rate >= 0) || !isfinite(s->rate)))
        return err_set(err, ERR_USAGE, "--rate: expected a number of calls a second, got \"%s\"", opt_text(&o->set, OPTION_RATE));
    s->argsize = (size_t)opt_bytes(&o->set, OPTION_ARGSIZE);
    if (s->argsize > 1500000)
        return err_set(err, ERR_USAGE, "--argsize: at most 1500000 bytes; a command line holds no more");
    s->stall = opt_seconds(&o->set, OPTION_STALL);
    s->task_timeout = opt_seconds(&o->set, OPTION_TASK_TIMEOUT);
    s->client_timeout = opt_seconds(&o->set, OPTION_CLIENT_TIMEOUT);
    return 0;
}

/* Options of one provider on another's line are mistakes, not decoration. */
static int options_check_provider(const struct taskrate_options *o, const struct bench *b, struct err *err)
{
    static const struct {
        const char *option, *providers;
    } only[] = {{"submit", "exec"},
                {"detached", "exec"},
                {"bulk", "exec"},
                {"with", "parallel"},
                {"image", "kubernetes"},
                {"width", "slurm-step"},
                {"array", "flux pbs lsf kubernetes"},
                {"wrap", "local"}};
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++) {
        const struct opt_value *v = opt_find(&o->set, only[i].option);
        if (v->text && v->origin != OPT_DEFAULT && !str_has(str_of(only[i].providers), b->provider->name))
            return err_set(err, ERR_USAGE, "--%s is for %s, not for %s", only[i].option, only[i].providers, b->provider->name);
    }
    static const char *const no_scheduler[] = {"local", "parallel", "exec"};
    for (size_t i = 0; i < sizeof no_scheduler / sizeof no_scheduler[0]; i++)
        if (b->set.extra.n && strcmp(b->provider->name, no_scheduler[i]) == 0)
            return err_set(err, ERR_USAGE, "\"%.100s\": %s has no scheduler's command that it could be given to", b->set.extra.word[0],
                           b->provider->name);
    if (b->set.payload == PAYLOAD_CALL && strcmp(b->provider->name, "local") != 0)
        return err_set(err, ERR_USAGE, "--payload call is a function call in this process: local alone has it");
    if (b->set.payload != PAYLOAD_STUB && b->set.payload != PAYLOAD_CALL && !b->set.wrap && strcmp(b->provider->name, "local") == 0)
        for (size_t i = 0; i < b->set.duration_count; i++)
            if (b->set.durations[i] > 0)
                return err_set(err, ERR_USAGE, "--duration is for the built-in payload: your own decides how long it runs (or use --wrap)");
    return 0;
}

int options_settings(const struct taskrate_options *o, struct bench *b, char **extra, struct err *err)
{
    struct bench_settings *s = &b->set;
    const char *tasks = opt_text(&o->set, OPTION_TASKS), *dir = opt_text(&o->set, OPTION_REPORT_DIR),
               *submit = opt_text(&o->set, OPTION_SUBMIT);
    for (size_t i = 0; i < o->set.count; i++)
        if (opt_check(&o->set.rows[i], &o->set.values[i], err) < 0)
            return -1;
    s->provider = b->provider->name;
    s->busy = opt_on(&o->set, OPTION_BUSY);
    s->wrap = opt_on(&o->set, OPTION_WRAP);
    s->array = opt_on(&o->set, OPTION_ARRAY);
    s->detached = opt_on(&o->set, OPTION_DETACHED);
    s->bulk = opt_on(&o->set, OPTION_BULK);
    s->floor = !opt_on(&o->set, OPTION_NO_FLOOR) && strcmp(s->provider, "local") != 0;
    s->json = opt_on(&o->set, OPTION_JSON);
    s->quiet = opt_on(&o->set, OPTION_QUIET);
    s->node_names = opt_on(&o->set, OPTION_NODE_NAMES);
    s->submit = submit;
    s->with = opt_text(&o->set, OPTION_WITH);
    s->image = opt_text(&o->set, OPTION_IMAGE);
    s->address = opt_text(&o->set, OPTION_ADDRESS);
    s->out = opt_text(&o->set, OPTION_OUT);
    if (dir && dir[0] != '/')
        return err_set(err, ERR_USAGE, "--report-dir %s: expected an absolute path, since tasks write there", dir);
    s->report_dir = dir;
    if (options_read_numbers(o, b, err) < 0 || options_read_durations(s, opt_text(&o->set, OPTION_DURATION), err) < 0 ||
        options_read_payload(b, opt_text(&o->set, OPTION_PAYLOAD), err) < 0 || find_stub(o, b, err) < 0)
        return -1;
    if (!tasks) {
        s->sizes[0] = b->provider->tasks;
        s->size_count = 1;
    } else if (options_read_sizes(s, tasks, err) < 0)
        return -1;
    for (; *extra; extra++)
        if (words_add(&s->extra, *extra, err) < 0)
            return -1;
    return options_check_provider(o, b, err);
}
