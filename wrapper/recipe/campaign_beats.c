/* campaign_beats.c: signs of life of the nodes of an allocation; see campaign_beats.h. */
#include "recipe/campaign_beats.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/query.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { BEATS_END_MS = 2000, BEATS_TURN_MS = 100, BEATS_STEP_BYTES = 1 << 20, BEATS_REPORT_MAX = 4096, BEATS_PER_LIMIT = 6 };
#define BEATS_LONGEST_S 10
#define BEATS_PAUSE_NS INT64_C(1000000000)

struct campaign_beats {
    struct child_work work;
    int control; /* closing it ends the process */
    const char *lost; /* in words; NULL: no node is */
    bool has_ended; /* the step has ended early, and the campaign has reported it */
};

/* Of the process that receives them. */
struct beats_receiver {
    struct campaign *c;
    char **line;
    int64_t *last_ns; /* of each node; 0: it has sent nothing yet */
    double limit_s;
    int control;
};

/* ---- on each node ---- */

void campaign_beats_print(double interval_s, FILE *out)
{
    char ignored[256];
    struct pollfd p = {STDIN_FILENO, POLLIN, 0};
    signal(SIGPIPE, SIG_IGN);
    do {
        fprintf(out, "beat %s\n", campaign_node_name());
        if (fflush(out))
            return;
    } while (poll(&p, 1, (int)(interval_s * 1000)) == 0 || read(STDIN_FILENO, ignored, sizeof ignored) > 0);
}

/* ---- the receiver ---- */

static void note_beats(struct beats_receiver *r, struct query *step)
{
    size_t used = 0;
    const char *end;
    for (struct buf *b = &step->text; b->n > used && (end = memchr(b->p + used, '\n', b->n - used)); used = (size_t)(end - b->p) + 1) {
        struct str rest = {b->p + used, (size_t)(end - b->p) - used}, word = str_word(&rest), name = str_word(&rest);
        for (size_t i = 0; str_is(word, "beat") && i < r->c->hosts.count; i++)
            if (str_is(name, r->c->hosts.nodes[i].name))
                r->last_ns[i] = clock_mono_ns();
    }
    if (used) {
        memmove(step->text.p, step->text.p + used, step->text.n - used + 1);
        step->text.n -= used;
    }
}

/* While this process was paused, as in a suspended job, it could not receive. That time does not count. */
static void skip_pause(struct beats_receiver *r, int64_t *turn_ns)
{
    int64_t now = clock_mono_ns(), pause = now - *turn_ns;
    for (size_t i = 0; pause > BEATS_PAUSE_NS && i < r->c->hosts.count; i++)
        r->last_ns[i] += r->last_ns[i] ? pause : 0;
    *turn_ns = now;
}

static const char *silent_node(const struct beats_receiver *r)
{
    int64_t now = clock_mono_ns();
    for (size_t i = 0; i < r->c->hosts.count; i++)
        if (r->last_ns[i] && (double)(now - r->last_ns[i]) / 1e9 > r->limit_s)
            return r->c->hosts.nodes[i].name;
    return NULL;
}

/* Reports one line: "lost NODE", or "end REASON" where the step has ended. */
static void report_beats(int out, const char *word, const char *text)
{
    char line[600];
    int n = snprintf(line, sizeof line, "%s %.500s\n", word, text);
    fs_write_all(out, line, (size_t)n);
}

/* The child process that runs the step of beats, and reports "lost NODE" or "end REASON" on `out`.
 * It ends when the campaign closes the pipe. Returns 0; 1: the step could not start. */
static int receive_beats(void *context, int out)
{
    struct beats_receiver *r = context;
    struct query step = QUERY_NONE;
    struct err err = {0};
    const char *lost = NULL;
    struct pollfd p = {r->control, POLLIN, 0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL); /* it ends when the campaign closes the pipe */
    if (query_start(&step, r->line, environ, BEATS_STEP_BYTES, 0, QUERY_INPUT, &err)) {
        report_beats(out, "end", err.text);
        return 1;
    }
    for (int64_t turn = clock_mono_ns(); !lost && query_poll(&step) == QUERY_RUNS && poll(&p, 1, BEATS_TURN_MS) == 0;) {
        skip_pause(r, &turn);
        note_beats(r, &step);
        lost = silent_node(r);
    }
    if (lost)
        report_beats(out, "lost", lost);
    else if (step.end != QUERY_RUNS)
        report_beats(out, "end", *query_reason(&step) ? query_reason(&step) : "the step has ended");
    fs_close(&step.in); /* ends the step */
    if (step.end == QUERY_RUNS && !lost) /* that of a lost node does not end by itself */
        query_wait(&step, BEATS_END_MS);
    query_close(&step);
    return 0;
}

/* ---- the campaign's side ---- */

/* Returns the command line of the step that reports whether nodes are alive, NULL-terminated, in
 * the campaign's arena. NULL: out of memory. */
static char **beats_line(struct campaign *c, double interval_s)
{
    char **begin = campaign_slurm_watch(&c->hosts, "beats", c->arena), **line = arena_get(c->arena, 24 * sizeof *line);
    size_t n = 0;
    if (!begin || !line)
        return NULL;
    for (; *begin; begin++)
        line[n++] = *begin;
    line[n++] = (char *)campaign_own_program(c->arena);
    line[n++] = (char *)"recipe";
    line[n++] = (char *)"beats";
    line[n++] = arena_printf(c->arena, "%g", interval_s);
    line[n] = NULL;
    return c->arena->failed ? NULL : line;
}

int campaign_beats_begin(struct campaign *c, struct err *err)
{
    static struct beats_receiver r; /* of the child process, too */
    int ends[2];
    double limit_s = 0;
    str_duration(str_of(recipe_scalar(c->recipe, c->recipe->root, "node_timeout", "60s")), &limit_s);
    if (!c->hosts.is_slurm || limit_s <= 0)
        return 0;
    double interval_s = limit_s / BEATS_PER_LIMIT < BEATS_LONGEST_S ? limit_s / BEATS_PER_LIMIT : BEATS_LONGEST_S;
    r = (struct beats_receiver){.c = c, .line = beats_line(c, interval_s), .limit_s = limit_s, .control = -1};
    r.last_ns = arena_get(c->arena, (c->hosts.count + 1) * sizeof *r.last_ns);
    c->beats = ARENA_NEW(c->arena, struct campaign_beats);
    if (!r.line || !r.last_ns || !c->beats) {
        c->beats = NULL;
        return err_memory(err, "the signs of life of the nodes");
    }
    memset(r.last_ns, 0, c->hosts.count * sizeof *r.last_ns);
    *c->beats = (struct campaign_beats){.work = CHILD_WORK_NONE, .control = -1};
    if (pipe2(ends, O_CLOEXEC))
        return err_sys(err, "cannot watch the nodes");
    r.control = ends[0];
    const struct child_work_plan plan = {
        .run = receive_beats, .context = &r, .name = "bw-beats", .keep = {&r.control}, .outlives = true, .max = BEATS_REPORT_MAX};
    int rc = child_work_start(&c->beats->work, &plan), why = errno;
    close(ends[0]);
    c->beats->control = ends[1];
    if (rc == 0)
        return 0;
    campaign_beats_end(c);
    errno = why;
    return err_sys(err, "cannot watch the nodes");
}

const char *campaign_beats_lost(struct campaign *c)
{
    struct campaign_beats *b = c->beats;
    if (!b || b->lost || b->control < 0)
        return b ? b->lost : NULL;
    child_work_read(&b->work);
    struct str rest = buf_text(&b->work.text), line = str_trim(str_cut(&rest, '\n')), word = str_word(&line);
    if (str_is(word, "lost"))
        b->lost = arena_printf(c->arena, "the node " STR_FMT " is lost: it was silent for node_timeout", STR_ARG(str_trim(line)));
    else if (word.n && !b->has_ended) {
        b->has_ended = true;
        campaign_say(c, "the signs of life of the nodes have ended: " STR_FMT, STR_ARG(str_trim(line)));
    }
    return b->lost;
}

const char *campaign_beats_cancelled(struct campaign *c)
{
    const char *lost = campaign_beats_lost(c);
    if (lost && !c->signal)
        campaign_cancel(c, SIGTERM);
    return lost ? lost : c->signal ? "cancelled" : NULL;
}

void campaign_beats_stop(struct campaign *c)
{
    if (c->beats)
        fs_close(&c->beats->control);
}

void campaign_beats_end(struct campaign *c)
{
    struct campaign_beats *b = c->beats;
    if (!b)
        return;
    campaign_beats_stop(c);
    int64_t now = clock_mono_ns(), until = now + (BEATS_END_MS + 1000) * INT64_C(1000000);
    if (!child_work_wait(&b->work, now + campaign_left_ms(c, CAMPAIGN_STEPS, until) * INT64_C(1000000)))
        child_work_kill(&b->work);
    child_work_reap(&b->work, BEATS_TURN_MS);
    child_work_deinit(&b->work);
    c->beats = NULL;
}
