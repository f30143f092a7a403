/* send.c: the process that talks to the MLflow server for one run; see send.h. */
#include "run/send.h"

#include "base/clock.h"
#include "base/secret.h"
#include "base/fs.h"
#include "base/place.h"
#include "base/json.h"
#include "plan/server.h"
#include "run/finish.h"
#include "run/leftovers.h"
#include "run/shared_fetch.h"
#include "mlflow/sent_notes.h"
#include "mlflow/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TICK_MS = 1500, /* what came in so long is one request */
    AT_ONCE = 1000, /* facts of a request */
    BACKOFF_MAX_MS = 30000,
    CREATE_S = 2, /* design: --share-run delays the program so long at most */
    LIVE_S = 30, /* a request that is slower is stopped */
    FINISH_S = 600, /* the waiting process kills this one before */
    DYING_S = 10, /* the recorder was killed: so long until its lock is free */
    ORPHAN_S = 60, /* the recorder is dead: so long for a server that is away */
    REPLY_MS = 50 /* replies are reported so often at most */
};
static const char *const modes[] = {
    [SEND_LIVE] = "live", [SEND_CREATE] = "create", [SEND_FINISH] = "finish", [SEND_FETCH] = "fetch", [SEND_DISCARD] = "discard"};

char **send_line(const struct send_job *job, struct arena *a)
{
    char **line = arena_get(a, 9 * sizeof *line);
    if (!line)
        return NULL;
    const char *words[] = {"benchwrap-core", "--send",  modes[job->mode], arena_printf(a, "%g", job->patience_s),
                           job->root,        job->name, job->state,       job->server_run};
    for (size_t i = 0; i < sizeof words / sizeof *words && words[i]; i++)
        line[i] = arena_dup(a, words[i], strlen(words[i]));
    return a->failed ? NULL : line;
}

void send_stand_back(pid_t program)
{
    enum { CPUS = 16384, IOPRIO_IDLE = 3 << 13 };
    struct sched_param none = {0};
    size_t size = CPU_ALLOC_SIZE(CPUS);
    cpu_set_t *taken = CPU_ALLOC(CPUS), *all = CPU_ALLOC(CPUS);
    setpriority(PRIO_PROCESS, 0, 19);
    sched_setscheduler(0, SCHED_IDLE, &none);
    syscall(SYS_ioprio_set, 1, 0, IOPRIO_IDLE);
    if (taken && all && (sched_getaffinity(program, size, taken) == 0 || sched_getaffinity(0, size, taken) == 0)) {
        memset(all, 0xff, size);
        if (sched_setaffinity(0, size, all) == 0 &&
            sched_getaffinity(0, size, all) == 0) { /* the kernel leaves those that this process may use at all */
            cpu_set_t *free_ones = CPU_ALLOC(CPUS);
            if (free_ones) {
                CPU_AND_S(size, free_ones, all, taken);
                CPU_XOR_S(size, free_ones, free_ones, all);
                if (CPU_COUNT_S(size, free_ones) > 0)
                    sched_setaffinity(0, size, free_ones);
            }
            CPU_FREE(free_ones);
        }
    }
    CPU_FREE(taken);
    CPU_FREE(all);
}

struct sender {
    struct send_job job;
    char **env;
    struct arena arena;
    struct mlflow_config config;
    struct mlflow *server;
    struct upload *upload;
    struct spool spool;
    struct journal_tail *tail;
    struct journal_head head;
    const char *experiment; /* the name it has in the tree */
    struct upload_place place;
    bool open; /* place is */
    struct buf tags; /* keys of tags that wait in its batch, each between two line ends */
    bool given_up; /* nothing more can be done while the program runs */
    int64_t next_ns, backoff_ms, reply_ns;
    enum mlflow_answer answer;
};

/* ---- messages ---- */

/* Sends the message to the recorder without waiting: drops it if the recorder does not read. */
static void sender_report(struct send_msg *m, enum send_kind kind)
{
    m->kind = kind;
    send(SEND_LINE_FD, m, sizeof *m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void sender_report_text(enum send_kind kind, const char *text)
{
    struct send_msg m = {0};
    struct buf plain CLEANUP_BUF;
    buf_init(&plain, sizeof m.text);
    buf_plain(&plain, str_of(text), sizeof m.text / 4);
    snprintf(m.text, sizeof m.text, "%s", plain.p ? plain.p : "");
    sender_report(&m, kind);
}

static void on_note(void *context, const char *text)
{
    (void)context;
    sender_report_text(SEND_NOTE, text);
}

static void on_reply(void *context)
{
    struct sender *s = context;
    struct send_msg m = {0};
    int64_t now = clock_mono_ns();
    if (now - s->reply_ns < REPLY_MS * 1000000LL)
        return;
    s->reply_ns = now;
    sender_report(&m, SEND_REPLY);
}

static void sender_report_place(const struct sender *s, const char *experiment, const char *id)
{
    struct send_msg m = {0};
    snprintf(m.id, sizeof m.id, "%s", id);
    snprintf(m.experiment, sizeof m.experiment, "%s", experiment);
    CLEANUP_BUF struct buf link;
    buf_init(&link, sizeof m.url);
    sent_note_link(&(struct sent_note){.server = mlflow_uri(s->server), .experiment = experiment, .run = id}, &link);
    if (!link.failed && link.n < sizeof m.url)
        memcpy(m.url, link.p, link.n);
    sender_report(&m, SEND_PLACE);
}

/* ---- the server ---- */

/* Opens a new connection in place of the old one. total_s: maximum of a request, 0 for the
 * configured one; patience_s: of all retries; retries: -1 for the configured number. 0; -1 with
 * err. */
static int connect_to(struct sender *s, double total_s, double patience_s, int retries, int cancel_fd, struct err *err)
{
    upload_free(s->upload);
    mlflow_close(s->server);
    s->upload = NULL;
    s->server = NULL;
    if (mlflow_config_from(&s->config, NULL, s->env, &s->arena, err))
        return -1;
    if (total_s && (!s->config.http.total_s || s->config.http.total_s > total_s))
        s->config.http.total_s = total_s;
    if (total_s && total_s < 10)
        s->config.http.connect_s = total_s;
    s->config.http.cancel_fd = cancel_fd;
    s->config.patience_s = patience_s;
    if (retries >= 0)
        s->config.retries = retries;
    s->config.replied = on_reply;
    s->config.context = s;
    sender_report(&(struct send_msg){0}, SEND_ASKING);
    if (mlflow_open(&s->server, &s->config, err))
        return -1;
    struct upload_config c = {.server = s->server, .state = s->job.state, .careful = s->job.mode != SEND_FINISH, .note = on_note};
    return upload_new(&s->upload, &c, err);
}

/* Returns the name under which the tree has the experiment (run/finish.c), in the arena; where that
 * is not known, that of the run. */
static const char *name_in_tree(const struct sender *s, struct arena *a)
{
    struct str name;
    uint32_t id;
    CLEANUP_FD int root = place_open_folder(s->head.tree, 0);
    if (root < 0 || tree_experiment(root, str_of(s->head.experiment), a, &id, &name, NULL))
        return s->head.experiment;
    return arena_dup(a, name.p, name.n);
}

static int sender_open_journal(struct sender *s, struct err *err)
{
    if (s->tail)
        return 0;
    if (spool_open(&s->spool, s->job.root, s->job.name, err) || journal_follow(&s->tail, s->spool.dir, &s->head, err))
        return -1;
    s->experiment = name_in_tree(s, &s->arena);
    return s->experiment ? 0 : err_memory(err, "the name of the experiment");
}

static void close_place(struct sender *s)
{
    if (s->open)
        upload_close(&s->place);
    s->open = false;
}

/* Finds or creates the run on the server, and reports its place to the recorder. After another
 * answer than MLFLOW_FINE err is set, and the place is closed. */
static enum mlflow_answer open_place(struct sender *s, struct err *err)
{
    struct upload_run run = {.id = s->head.id,
                             .experiment = s->experiment,
                             .name = s->head.run_name,
                             .user = s->head.user,
                             .server_run = s->job.server_run,
                             .start_ms = s->head.start_ms};
    enum mlflow_answer answer = upload_open(s->upload, &run, &s->place, err);
    s->open = true;
    if (answer == MLFLOW_FINE)
        sender_report_place(s, s->place.run.experiment, s->place.run.id);
    else
        close_place(s);
    return answer;
}

/* ---- live ---- */

/* Returns whether the fact is a sample that the server had when the run was found. Times of a key
 * increase, and samples were sent in order. */
static bool is_sample_there(const struct upload_place *p, const struct fact *f)
{
    if (p->fresh || f->kind != FACT_METRIC)
        return false;
    for (const struct json *m = json_first(json_get(p->run.data, "metrics")); m; m = json_next(m))
        if (str_is(f->key, json_string(json_get(m, "key"), "")))
            return f->time_ms <= json_integer(json_get(m, "timestamp"), -1);
    return false;
}

/* Returns whether the fact is a param that the server had when the run was found: it accepts each
 * param once. */
static bool is_param_there(const struct upload_place *p, const struct fact *f)
{
    for (const struct json *x = f->kind == FACT_PARAM ? json_first(json_get(p->run.data, "params")) : NULL; x; x = json_next(x))
        if (str_is(f->key, json_string(json_get(x, "key"), "")))
            return true;
    return false;
}

/* Called for each new fact of the journal: adds it to the next request, unless the server has
 * it. */
static void sender_upload_fact(void *context, const struct fact *f)
{
    struct sender *s = context;
    struct err err = {0};
    if (is_sample_there(&s->place, f) || is_param_there(&s->place, f))
        return;
    if (f->kind == FACT_TAG) {
        struct buf line CLEANUP_BUF;
        buf_init(&line, 64 << 10);
        buf_printf(&line, "\n" STR_FMT "\n", STR_ARG(f->key));
        if (str_find(buf_text(&s->tags), buf_text(&line)) >= 0) { /* set again since the last request: the older value is sent first */
            upload_flush(&s->place, &err);
            buf_clear(&s->tags);
        }
        buf_str(&s->tags, buf_text(&line));
    }
    upload_fact(&s->place, f);
}

static void send_trouble(struct sender *s, const char *text)
{
    s->backoff_ms = s->backoff_ms ? s->backoff_ms * 2 : 1000;
    if (s->backoff_ms > BACKOFF_MAX_MS)
        s->backoff_ms = BACKOFF_MAX_MS;
    s->next_ns = clock_mono_ns() + s->backoff_ms * 1000000;
    sender_report_text(SEND_TROUBLE, text);
}

/* Sends everything that came since the last time. */
static void send_new(struct sender *s)
{
    struct err err = {0};
    enum mlflow_answer answer = MLFLOW_FINE;
    if (!s->open)
        answer = open_place(s, &err);
    while (answer == MLFLOW_FINE) {
        size_t n = journal_tail_read(s->tail, AT_ONCE, sender_upload_fact, s);
        if (!n)
            break;
        answer = upload_flush(&s->place, &err);
        buf_clear(&s->tags);
        if (answer == MLFLOW_REFUSED) { /* finish sends fact by fact what can be sent */
            sender_report_text(SEND_NOTE, err.text);
            close_place(s);
            journal_tail_mark(s->tail);
            answer = open_place(s, &err);
        } else if (answer == MLFLOW_FINE)
            journal_tail_mark(s->tail);
    }
    s->next_ns = clock_mono_ns() + TICK_MS * 1000000LL;
    if (answer == MLFLOW_FINE) {
        s->backoff_ms = 0;
        return;
    }
    close_place(s);
    journal_tail_back(s->tail);
    s->given_up = answer == MLFLOW_ABSENT || answer == MLFLOW_REFUSED;
    if (answer != MLFLOW_CANCELLED)
        send_trouble(s, err.text);
}

/* Waits until there is something to do; false: the recorder is gone. */
static bool wait_tick(const struct sender *s)
{
    struct pollfd p = {.fd = SEND_LINE_FD, .events = POLLIN};
    int64_t ms = s->given_up ? -1 : (s->next_ns - clock_mono_ns() + 999999) / 1000000;
    if (poll(&p, 1, s->given_up ? -1 : ms < 0 ? 0 : (int)ms) < 0 && errno != EINTR)
        return false;
    return !p.revents;
}

static int send_finish(struct sender *s);

/* Closes and sends the run after the recorder was killed, or ended without stopping the sender: no
 * other process does that now. Returns the exit status. */
static int send_orphaned(struct sender *s)
{
    struct leftovers_count swept;
    struct err err = {0};
    alarm(FINISH_S); /* at idle priority a busy machine can use up ORPHAN_S before the first request */
    close_place(s);
    sender_open_journal(s, &err); /* its folder is gone when it has been closed */
    /* A killed recorder has its lock until the kernel has closed all of its files, which it does one by one. */
    for (int64_t until = clock_mono_ns() + DYING_S * 1000000000LL;
         finish_leftover(s->job.root, s->job.name, &swept, &err) == 0 && swept.alive && clock_mono_ns() < until;)
        poll(NULL, 0, 20);
    s->job.patience_s = ORPHAN_S;
    s->job.mode = SEND_FINISH;
    return send_finish(s);
}

/* Runs in the sender while the program runs: sends new facts at each tick. Once the recorder has
 * gone, finishes the run and returns the exit status. */
static int send_live(struct sender *s)
{
    struct err err = {0};
    for (bool ready = s->open; wait_tick(s);) {
        if (!ready && (sender_open_journal(s, &err) || connect_to(s, LIVE_S, 0, 0, SEND_LINE_FD, &err)))
            send_trouble(s, err.text);
        else if (!s->given_up) {
            ready = true;
            send_new(s);
        }
    }
    return send_orphaned(s);
}

/* Creates the run on the server within two seconds, or not at all, then sends it while the program
 * runs. Returns the exit status. */
static int send_create(struct sender *s)
{
    struct err err = {0};
    alarm(CREATE_S + 1);
    if (sender_open_journal(s, &err) || connect_to(s, CREATE_S, 0, 0, SEND_LINE_FD, &err) || open_place(s, &err) != MLFLOW_FINE) {
        sender_report_text(SEND_TROUBLE, err.text);
        return 1;
    }
    alarm(0);
    send_stand_back(0);
    close_place(s);
    return connect_to(s, LIVE_S, 0, 0, SEND_LINE_FD, &err) ? 1 : send_live(s);
}

/* ---- finish ---- */

/* Completes the run on the server from the tree, and reports its outcome. The journal, which names
 * the tree, is there as long as the run was not released. Returns the exit status. */
static int send_finish(struct sender *s)
{
    struct err err = {0};
    struct upload_result result = {0};
    struct tree_run *run = NULL;
    char id[33];
    snprintf(id, sizeof id, "%.32s", s->job.name);
    int rc = sender_open_journal(s, &err);
    CLEANUP_FD int root = rc ? -1 : place_open_folder(s->head.tree, 0);
    if (rc == 0 && root < 0)
        rc = err_sys(&err, "tree: cannot open %s", s->head.tree);
    if (rc == 0 && (rc = tree_find(root, id, TREE_META, &s->arena, &run, &err)) > 0)
        rc = err_set(&err, ERR_INPUT, "the run is not in the tree %s", s->head.tree);
    if (rc == 0)
        rc = connect_to(s, 0, s->job.patience_s, s->job.patience_s > 0 ? -1 : 0, -1, &err);
    if (rc == 0)
        rc = upload_tree_run(s->upload, root, run, &result, &err);
    if (result.server_id[0])
        sender_report_place(s, result.experiment_id, result.server_id);
    if (rc || result.outcome == UPLOAD_DELETED)
        sender_report_text(SEND_TROUBLE, rc ? err.text : "the run was deleted on the server: it is left so");
    else
        sender_report_text(SEND_DONE, "");
    return rc ? 1 : 0;
}

/* Fetches what the program's client logged on the server into the spool. Returns the exit status: 1
 * after it has reported the reason. The recorder kills the sender when it waits no longer. */
static int send_fetch(struct sender *s)
{
    struct err err = {0};
    struct record ours;
    struct journal_head head;
    struct journal_state state;
    alarm(ORPHAN_S); /* the recorder may be dead */
    if (!s->job.server_run || sender_open_journal(s, &err) || journal_read(s->spool.dir, &ours, &head, &state, &err)) {
        sender_report_text(SEND_TROUBLE, err.text);
        return 1;
    }
    struct finish_options o = {.artifact_max = 0};
    finish_options_parse(&o, head.options, &ours.arena, NULL);
    CLEANUP_FD int folder = shared_open(&s->spool, ours.id, true);
    enum mlflow_answer answer = MLFLOW_REFUSED;
    if (folder < 0)
        err_sys(&err, "cannot make a folder in the spool");
    else if (connect_to(s, 0, 0, 0, -1, &err) == 0)
        answer = shared_fetch(s->server, s->job.server_run, &ours, o.artifact_max, -1, folder, &err);
    sender_report_text(answer == MLFLOW_FINE ? SEND_DONE : SEND_TROUBLE, answer == MLFLOW_FINE ? "" : err.text);
    record_deinit(&ours);
    return answer != MLFLOW_FINE;
}

/* Runs in the sender: deletes the run that was begun on the server. Returns the exit status: 0, or
 * 1 after it has reported the reason. */
static int send_discard(struct sender *s)
{
    struct err err = {0};
    alarm(CREATE_S + 1);
    if (!s->job.server_run || connect_to(s, CREATE_S, 0, 0, -1, &err) ||
        mlflow_run_delete(s->server, s->job.server_run, &err) != MLFLOW_FINE) {
        sender_report_text(SEND_TROUBLE, err.text);
        return 1;
    }
    sender_report_text(SEND_DONE, "");
    return 0;
}

/* ---- the process ---- */

/* Reads the sender's arguments into *ret, which borrows them. False: they are not valid. */
static bool read_job(struct send_job *ret, int argc, char **argv)
{
    if (argc < 6)
        return false;
    *ret = (struct send_job){.root = argv[3], .name = argv[4], .state = argv[5], .server_run = argc > 6 ? argv[6] : NULL};
    if (!str_double(str_of(argv[2]), &ret->patience_s))
        return false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i]) == 0) {
            ret->mode = (enum send_mode)i;
            return true;
        }
    return false;
}

int send_main(int argc, char **argv, char **env)
{
    static struct sender s; /* lives as long as the process */
    sigset_t alarms;
    s.env = env;
    s.spool = SPOOL_NONE;
    if (!read_job(&s.job, argc, argv))
        return 125;
    secret_guard_process();
    prctl(PR_SET_NAME, "benchwrap-send");
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL); /* the time limits above; all else stays blocked: the recorder decides */
    arena_init(&s.arena, 64 << 20);
    buf_init(&s.tags, 1 << 20);
    switch (s.job.mode) {
    case SEND_LIVE: return send_live(&s);
    case SEND_CREATE: return send_create(&s);
    case SEND_FETCH: return send_fetch(&s);
    case SEND_DISCARD: return send_discard(&s);
    default: break;
    }
    unsigned left = alarm(FINISH_S);
    if (left) /* the sender has a shorter limit */
        alarm(left);
    return send_finish(&s);
}
