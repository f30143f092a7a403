/* options.c: taskrate's command line, and the settings made of it. */
#include "benchmarks/native/taskrate/options.h"

#include "benchmarks/native/taskrate/command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct opt_row rows[] = {
    {"tasks", 'n', OPT_TEXT, "N[,N...]", NULL, NULL, "Tasks", "Submit N tasks in a batch; several: a sweep (default: the provider's own)",
     0},
    {"duration", 'd', OPT_TEXT, "T[,T...]", NULL, "0", "Tasks", "Let each task sleep this long; 0, 1ms, 100ms ...; several: a sweep", 0},
    {"busy", 0, OPT_FLAG, NULL, NULL, NULL, "Tasks", "Let tasks compute instead of sleep", 0},
    {"repeat", 'r', OPT_INT, "R", NULL, "3", "Tasks", "Run R batches of each size and duration", 0},
    {"warmup", 0, OPT_INT, "W", NULL, "1", "Tasks", "Run W batches first; these are recorded but enter no metric", 0},
    {"chain", 0, OPT_INT, "N", NULL, NULL, "Tasks", "tasks of the dependent chain, one in flight; 0: none (default: the provider's own)",
     0},
    {"payload", 0, OPT_TEXT, "stub|true|sh|call|CMD", NULL, "stub", "Tasks",
     "Choose what a task is; the stub, /bin/true, a shell, a function call in this process (local only), or a command", 0},
    {"wrap", 0, OPT_FLAG, NULL, NULL, NULL, "Tasks",
     "local: other payloads are started by the stub, which stamps them; two processes a task", 0},
    {"argsize", 0, OPT_SIZE, "BYTES", NULL, "0", "Tasks", "ballast on every task's command line", 0},
    {"no-floor", 0, OPT_FLAG, NULL, NULL, NULL, "Tasks", "do not measure the local floor before", 0},
    {"slots", 's', OPT_INT, "N", NULL, NULL, "Submission", "Run at most N tasks at a time (default: what the provider declares)", 0},
    {"clients", 'c', OPT_INT, "N", NULL, NULL, "Submission", "Run N submit commands at a time (default: the provider's own)", 0},
    {"width", 0, OPT_INT, "N", NULL, "1", "Submission", "slurm-step: tasks of one srun", 0},
    {"array", 0, OPT_FLAG, NULL, NULL, NULL, "Submission", "flux, pbs, lsf, kubernetes: all tasks by one submission", 0},
    {"submit", 0, OPT_TEXT, "TEMPLATE", NULL, NULL, "Submission",
     "Submit with this command (exec; {task} is the task's own command, {index} its number, {count} how many)", 0},
    {"detached", 0, OPT_FLAG, NULL, NULL, NULL, "Submission", "exec: the command returns when the task is queued, not when it has ended",
     0},
    {"bulk", 0, OPT_FLAG, NULL, NULL, NULL, "Submission", "exec: one command for all tasks, which are lines on its standard input", 0},
    {"with", 0, OPT_CHOICE, "parallel|xargs", NULL, "parallel", "Submission", "parallel: the tool", 0},
    {"image", 0, OPT_TEXT, "NAME", NULL, NULL, "Submission", "kubernetes: container image of a task", 0},
    {"stub", 0, OPT_TEXT, "PATH", NULL, NULL, "Submission", "Path of the stub on the nodes (default: the one next to this program)", 0},
    {"report-dir", 0, OPT_TEXT, "DIR", NULL, NULL, "Submission",
     "tasks append their times to a file in this shared folder instead of sending datagrams", 0},
    {"address", 0, OPT_TEXT, "IPV4", NULL, NULL, "Submission", "where tasks send their datagrams (default: all addresses of this machine)",
     0},
    {"rate", 0, OPT_TEXT, "R", NULL, NULL, "Limits", "Limit submit calls per second; 0: no limit (default: the provider's own)", 0},
    {"max-tasks", 0, OPT_INT, "N", NULL, NULL, "Limits", "Allow batches of N tasks (on a shared controller; default: the provider's own)",
     0},
    {"stall", 0, OPT_DURATION, "T", NULL, "60s", "Limits", "Give up after this time without a report of any task", 0},
    {"task-timeout", 0, OPT_DURATION, "T", NULL, "60s", "Limits", "local: a task that runs longer than its duration and this is killed", 0},
    {"client-timeout", 0, OPT_DURATION, "T", NULL, "120s", "Limits", "a submit command that runs longer than this is ended", 0},
    {"json", 0, OPT_FLAG, NULL, NULL, NULL, "Output", "Print one JSON document", 0},
    {"out", 'o', OPT_TEXT, "DIR", NULL, NULL, "Output",
     "Also write all results to this folder; taskrate.json, a table of all tasks, two drawings", 0},
    {"node-names", 0, OPT_FLAG, NULL, NULL, NULL, "Output", "name the nodes in the result, not only count them", 0},
    {"quiet", 'q', OPT_FLAG, NULL, NULL, NULL, "Output", "Print no progress line", 0},
    {"list", 0, OPT_FLAG, NULL, NULL, NULL, "Other", "List the providers", 0},
    {"help", 'h', OPT_FLAG, NULL, NULL, NULL, "Other", "Print the common options; \"taskrate help options\" prints all", 0},
    {"man", 0, OPT_FLAG, NULL, NULL, NULL, "Other", "Print the manual page's source", 0},
    {"version", 'V', OPT_FLAG, NULL, NULL, NULL, "Other", "Print the version", 0},
};
_Static_assert(sizeof rows / sizeof rows[0] <= OPTIONS_MAX, "room for the values");

int options_parse(struct options *o, int argc, char **argv, int *next, struct err *err)
{
    o->set = (struct opt_set){.rows = rows, .count = sizeof rows / sizeof rows[0], .values = o->values, .permute = true};
    opt_defaults(&o->set, getenv);
    return opt_parse(&o->set, argc, argv, next, err);
}

static int sizes(struct settings *s, const char *text, struct err *err)
{
    struct str rest = str_of(text);
    while (rest.p) {
        struct str one = str_trim(str_cut(&rest, ','));
        uint64_t n;
        if (!str_uint(one, &n) || n < 1 || n > 100000000)
            return err_set(err, ERR_USAGE, "--tasks: \"" STR_FMT "\" is not a number of tasks (1 to 100000000)",
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

static int durations(struct settings *s, const char *text, struct err *err)
{
    struct str rest = str_of(text);
    while (rest.p) {
        struct str one = str_trim(str_cut(&rest, ','));
        double seconds;
        if (!str_duration(one, &seconds) || !(seconds >= 0) || seconds > 86400 || (seconds > 0 && seconds < 1e-9))
            return err_set(err, ERR_USAGE,
                           "--duration: \"" STR_FMT "\" is not a duration such as 0, 500us, 10ms or 1s (0, or from a nanosecond to a day)",
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
static int whole(const struct options *o, const char *name, int64_t low, int64_t high, int64_t otherwise, int64_t *ret, struct err *err)
{
    *ret = otherwise;
    if (!opt_text(&o->set, name))
        return 0;
    *ret = opt_integer(&o->set, name);
    if (*ret < low || *ret > high)
        return err_set(err, ERR_USAGE, "--%s %lld: between %lld and %lld", name, (long long)*ret, (long long)low, (long long)high);
    return 0;
}

static int payload(struct bench *b, const char *text, struct err *err)
{
    struct settings *s = &b->set;
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

/* libexec/benchwrap/taskrate-stub beside bin/taskrate, or what --stub says. */
static int find_stub(const struct options *o, struct bench *b, struct err *err)
{
    const char *named = opt_text(&o->set, "stub");
    char self[4000];
    if (named) {
        if (named[0] != '/')
            return err_set(err, ERR_USAGE, "--stub %s: expected an absolute path, since the nodes start it", named);
        b->set.stub = named;
        return 0;
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = 0;
    }
    b->set.stub = arena_printf(&b->arena, "%s/libexec/benchwrap/taskrate-stub", self);
    if (!b->set.stub || access(b->set.stub, X_OK) < 0)
        return err_sys(err, "the tasks' program %s; the installation is not complete", b->set.stub ? b->set.stub : "");
    return 0;
}

static int numbers(const struct options *o, struct bench *b, struct err *err)
{
    struct settings *s = &b->set;
    const struct provider *p = b->provider;
    int64_t repeat, warmup, chain, slots, clients, width, most;
    if (whole(o, "repeat", 1, 1000, 3, &repeat, err) < 0 || whole(o, "warmup", 0, 100, 1, &warmup, err) < 0 ||
        whole(o, "chain", 0, 1000000, (int64_t)p->chain, &chain, err) < 0 || whole(o, "slots", 1, 1000000, 0, &slots, err) < 0 ||
        whole(o, "clients", 1, 1024, p->clients, &clients, err) < 0 || whole(o, "width", 1, 100000, 1, &width, err) < 0 ||
        whole(o, "max-tasks", 1, 100000000, (int64_t)p->cap, &most, err) < 0)
        return -1;
    s->repeat = (unsigned)repeat, s->warmup = (unsigned)warmup, s->chain = (size_t)chain, s->slots = (unsigned)slots;
    s->clients = (unsigned)clients, s->width = (unsigned)width, s->max_tasks = (size_t)most;
    s->rate = p->rate;
    if (opt_text(&o->set, "rate") && (!str_double(str_of(opt_text(&o->set, "rate")), &s->rate) || !(s->rate >= 0) || !isfinite(s->rate)))
        return err_set(err, ERR_USAGE, "--rate: \"%s\" is not a number of calls a second", opt_text(&o->set, "rate"));
    s->argsize = (size_t)opt_bytes(&o->set, "argsize");
    if (s->argsize > 1500000)
        return err_set(err, ERR_USAGE, "--argsize: at most 1500000 bytes; a command line has no room for more");
    s->stall = opt_seconds(&o->set, "stall");
    s->task_timeout = opt_seconds(&o->set, "task-timeout");
    s->client_timeout = opt_seconds(&o->set, "client-timeout");
    return 0;
}

/* Options of one provider on another's line are mistakes, not decoration. */
static int fitting(const struct options *o, const struct bench *b, struct err *err)
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
                return err_set(err, ERR_USAGE, "--duration is the stub's; a payload of its own lasts as long as it lasts (or give --wrap)");
    return 0;
}

int options_settings(const struct options *o, struct bench *b, char **extra, struct err *err)
{
    struct settings *s = &b->set;
    const char *tasks = opt_text(&o->set, "tasks"), *dir = opt_text(&o->set, "report-dir"), *submit = opt_text(&o->set, "submit");
    for (size_t i = 0; i < o->set.count; i++)
        if (opt_check(&o->set.rows[i], &o->set.values[i], err) < 0)
            return -1;
    s->provider = b->provider->name;
    s->busy = opt_on(&o->set, "busy");
    s->wrap = opt_on(&o->set, "wrap");
    s->array = opt_on(&o->set, "array");
    s->detached = opt_on(&o->set, "detached");
    s->bulk = opt_on(&o->set, "bulk");
    s->floor = !opt_on(&o->set, "no-floor") && strcmp(s->provider, "local") != 0;
    s->json = opt_on(&o->set, "json");
    s->quiet = opt_on(&o->set, "quiet");
    s->node_names = opt_on(&o->set, "node-names");
    s->submit = submit;
    s->with = opt_text(&o->set, "with");
    s->image = opt_text(&o->set, "image");
    s->address = opt_text(&o->set, "address");
    s->out = opt_text(&o->set, "out");
    if (dir && dir[0] != '/')
        return err_set(err, ERR_USAGE, "--report-dir %s: expected an absolute path, since tasks write there", dir);
    s->report_dir = dir;
    if (numbers(o, b, err) < 0 || durations(s, opt_text(&o->set, "duration"), err) < 0 ||
        payload(b, opt_text(&o->set, "payload"), err) < 0 || find_stub(o, b, err) < 0)
        return -1;
    if (!tasks) {
        s->sizes[0] = b->provider->tasks;
        s->size_count = 1;
    } else if (sizes(s, tasks, err) < 0)
        return -1;
    for (; *extra; extra++)
        if (words_add(&s->extra, *extra, err) < 0)
            return -1;
    return fitting(o, b, err);
}
