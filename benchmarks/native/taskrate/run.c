/* run.c: one measurement, read downwards: floor, warm-up, batches, chain, output. */
#include "benchmarks/native/taskrate/run.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/progress.h"
#include "benchmarks/native/taskrate/external.h"
#include "benchmarks/native/taskrate/local.h"
#include "benchmarks/native/taskrate/output.h"
#include "benchmarks/native/taskrate/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { FLOOR_TASKS = 1000, BATCHES_MAX = 100000 };

struct course { /* of one run */
    struct bench *b;
    struct report_channel report;
    struct own_run own;
    struct task_table *table;
    struct progress progress;
    size_t batches, done; /* planned */
    unsigned serial;
    bool local;
};

/* Returns false with *err where the sizes need --max-tasks, or there are more than BATCHES_MAX
 * batches. */
static bool run_check_limits(const struct bench *b, struct err *err)
{
    const struct bench_settings *s = &b->set;
    for (size_t i = 0; i < s->size_count; i++)
        if (b->provider->cap && s->sizes[i] > s->max_tasks) {
            err_set(err, ERR_USAGE, "%zu tasks on what may be a shared controller: at most %zu without --max-tasks %zu", s->sizes[i],
                    s->max_tasks, s->sizes[i]);
            return false;
        }
    if (s->size_count * s->duration_count * s->repeat > BATCHES_MAX) {
        err_set(err, ERR_USAGE, "sizes (%zu) times durations (%zu) times repetitions (%u) are more than %d batches", s->size_count,
                s->duration_count, s->repeat, BATCHES_MAX);
        return false;
    }
    return true;
}

static size_t run_largest_batch(const struct bench_settings *s)
{
    size_t n = s->chain;
    for (size_t i = 0; i < s->size_count; i++)
        n = s->sizes[i] > n ? s->sizes[i] : n;
    return s->floor && n < FLOOR_TASKS ? FLOOR_TASKS : n;
}

/* Appends an empty batch to b->batches. The pointer is valid until the next call. NULL with err:
 * out of memory. */
static struct task_batch *run_add_batch(struct bench *b, struct err *err)
{
    if (!ARRAY_FITS(b->batches, b->batch_room, b->batch_count + 1)) {
        err_memory(err, "%zu batches", b->batch_count + 1);
        return NULL;
    }
    struct task_batch *x = &b->batches[b->batch_count++];
    *x = (struct task_batch){.completion = ""};
    return x;
}

/* What runs at once in this batch at most. */
static unsigned slots_of(const struct bench *b, const struct task_batch *x)
{
    unsigned slots = b->set.slots ? b->set.slots : b->slots;
    enum provider_how how = b->provider->how(b);
    if (x->floor)
        return local_processors();
    if (x->chain)
        return 1;
    if (how == HOW_ATTACHED && b->set.clients * b->set.width < slots)
        return b->set.clients * b->set.width;
    return slots ? slots : 1;
}

static void run_show_progress(struct course *c, const struct task_batch *x)
{
    char more[100];
    snprintf(more, sizeof more, "%s of %zu task%s", batch_kind(x), x->tasks, str_plural(x->tasks));
    if (!c->b->set.quiet)
        progress_show(&c->progress, c->done, more);
}

static void run_print_batch(struct course *c, const struct task_batch *x)
{
    c->done++;
    if (c->b->set.quiet || !c->progress.on)
        return;
    progress_clear(&c->progress);
    if (x->throughput > 0)
        fprintf(stderr, "%s of %zu task%s: %.5g tasks/s\n", batch_kind(x), x->tasks, str_plural(x->tasks), x->throughput);
    else
        fprintf(stderr, "%s of %zu task%s: %s\n", batch_kind(x), x->tasks, str_plural(x->tasks),
                x->reason[0]       ? x->reason
                : x->no_throughput ? x->no_throughput
                                   : "nothing");
}

/* Measures one batch by `plan`. -1: nothing more can be measured. */
static int run_measure_batch(struct course *c, const struct task_batch *plan, struct err *err)
{
    struct bench *b = c->b;
    struct task_batch *x = bench_stop(b) ? NULL : run_add_batch(b, err);
    if (b->stop) { /* while the scheduler was queried */
        b->interrupted = true;
        return 1;
    }
    if (!x)
        return -1;
    *x = *plan;
    x->slots = slots_of(b, x);
    x->begin_wall_ms = clock_wall_ms();
    run_show_progress(c, x);
    b->token = (b->token & ~UINT64_C(0xffff)) | (++c->serial & 0xffff);
    bool begun = tasks_begin(&b->tasks, x->tasks, err) == 0 && clocks_begin(&b->clocks, err) == 0;
    bool local = c->local || x->floor;
    x->before.submitted = x->after.submitted = -1;
    if (begun && !local && b->provider->count)
        b->provider->count(b, &x->before);
    int rc = !begun ? -1 : local ? local_run(b, x, x->floor ? PAYLOAD_STUB : b->set.payload, err) : external_run(b, x, &c->report, err);
    if (rc < 0) {
        b->batch_count--;
        return -1;
    }
    if (!local && b->provider->count) {
        b->provider->count(b, &x->after);
        x->counted = x->before.submitted >= 0 && x->after.submitted >= 0;
    }
    x->begin_wall_ms = (x->begin + b->clocks.wall_less_mono) / 1000000; /* not the time of the request for the scheduler's counts before */
    figures_of(b, x);
    if (b->clocks.overflow)
        bench_note(b, "more than %d machines reported: the clocks of the others are compared as that of one machine", CLOCKS_MAX);
    x->elsewhere = !local && (x->elsewhere || !x->nodes);
    if (c->table && table_add(c->table, b, x, err) < 0) {
        bench_note(b, "the table of tasks ends here: %s", err->text);
        table_close(c->table, NULL);
        c->table = NULL;
    }
    struct err no = {0};
    if (b->set.out && !x->warmup && !x->floor && !x->chain && drawings_write(b, b->set.out, &no) < 0)
        bench_note(b, "no drawings: %s", no.text);
    run_print_batch(c, x);
    if (bench_stop(b))
        b->interrupted = true;
    return b->interrupted ? 1 : 0;
}

/* True after a batch that was stopped: another would only add load. */
static bool run_has_given_up(const struct bench *b)
{
    return b->batch_count && b->batches[b->batch_count - 1].given_up;
}

/* All batches. 0: done; 1: ended early, with what there is; -1: nothing. */
static int run_all_batches(struct course *c, struct err *err)
{
    const struct bench_settings *s = &c->b->set;
    int rc = 0;
    if (s->floor) {
        struct task_batch floor = {.tasks = FLOOR_TASKS, .floor = true, .warmup = true};
        rc = run_measure_batch(c, &floor, err);
        floor.warmup = false;
        if (rc == 0)
            rc = run_measure_batch(c, &floor, err);
    }
    for (unsigned w = 0; rc == 0 && w < s->warmup; w++) {
        struct task_batch warm = {.tasks = s->sizes[0], .duration = s->durations[0], .warmup = true, .repetition = w};
        rc = run_measure_batch(c, &warm, err);
        if (rc == 0 && run_has_given_up(c->b))
            rc = 1;
    }
    for (size_t d = 0; rc == 0 && d < s->duration_count; d++)
        for (size_t n = 0; rc == 0 && n < s->size_count; n++)
            for (unsigned r = 0; rc == 0 && r < s->repeat; r++) {
                struct task_batch x = {.tasks = s->sizes[n], .duration = s->durations[d], .repetition = r};
                rc = run_measure_batch(c, &x, err);
                if (rc == 0 && run_has_given_up(c->b))
                    rc = 1;
            }
    if (rc == 0 && s->chain && c->b->provider->how(c->b) != HOW_TOOL) {
        struct task_batch chain = {.tasks = s->chain, .duration = s->durations[0], .chain = true};
        rc = run_measure_batch(c, &chain, err);
    }
    return rc;
}

/* A folder for report files of tools on this machine. */
static void report_folder(struct bench *b)
{
    const char *tmp = getenv("TMPDIR");
    bool xargs = strcmp(b->provider->name, "parallel") == 0;
    if (!xargs || b->set.report_dir)
        return;
    b->set.report_dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : tmp && tmp[0] == '/' ? tmp : "/tmp";
}

/* Chooses the signals for signalfd: those that request the end, unless taskrate was started with
 * them ignored (nohup, a shell's background), and those by which a full pipe or disk would kill it. */
static void run_choose_signals(sigset_t *mask)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction was;
    sigemptyset(mask);
    sigaddset(mask, SIGCHLD), sigaddset(mask, SIGPIPE), sigaddset(mask, SIGXFSZ);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaddset(mask, ends[i]);
}

/* Prepares a benchmark: signals, a tag for its jobs, the memory for the largest batch, and the
 * output folder. -1 with err; the caller frees what exists in both cases. */
static int run_prepare(struct course *c, struct err *err)
{
    struct bench *b = c->b;
    uint64_t random;
    sigset_t mask;
    run_choose_signals(&mask);
    if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0 || (b->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK)) < 0 ||
        getrandom(&random, sizeof random, 0) != sizeof random)
        return err_sys(err, "preparing signals");
    snprintf(b->tag, sizeof b->tag, "taskrate-%016llx", (unsigned long long)random);
    b->token = random;
    c->local = b->provider->how(b) == HOW_LOCAL;
    c->report = (struct report_channel){.socket = -1, .file = -1};
    c->own.fd = -1;
    report_folder(b);
    if (b->set.out && fs_mkdirs(AT_FDCWD, b->set.out, 0755, err) < 0)
        return err_wrap(err, "--out");
    if (tasks_init(&b->tasks, run_largest_batch(&b->set), err) < 0)
        return -1;
    return b->set.out ? table_open(&c->table, b->set.out, err) : 0;
}

/* Cleans up after killed runs, writes the note by which a later start ends this run's jobs, and opens
 * the channel of the tasks' reports; a local provider needs none of these. Then begins the provider. */
static int run_begin_provider(struct course *c, struct err *err)
{
    struct bench *b = c->b;
    char leftover[4096];
    struct err no = {0};
    if (!c->local) {
        own_clean_up(b);
        snprintf(leftover, sizeof leftover, "%s/%s", b->set.report_dir ? b->set.report_dir : "", b->tag);
        if ((b->provider->cancel || b->set.report_dir) && own_begin(&c->own, b, b->set.report_dir ? leftover : NULL, &no) < 0)
            bench_note(b, "if this is killed, its jobs stay unknown (%s): %s; end them by that name", b->tag, no.text);
        if (report_init(&c->report, b, err) < 0)
            return -1;
    }
    return b->provider->begin(b, err);
}

/* Ends what is left in the queue. */
static void clean_up(struct course *c)
{
    struct bench *b = c->b;
    struct err err = {0};
    bool cleaned = true;
    if (b->submitted && b->provider->cancel && b->provider->cancel(b->tag, &err) < 0) {
        bench_note(b, "jobs may be left in the queue: %s; the next start of taskrate tries again", err.text);
        cleaned = false;
    }
    report_deinit(&c->report, b);
    own_end(&c->own, cleaned);
}

/* Prints the result on standard output, and writes it to --out. Where a file cannot be written, the
 * table goes to standard error. -1 with err. */
static int run_print_results(const struct bench *b, struct err *err)
{
    CLEANUP_BUF struct buf document, people;
    buf_init(&document, DOCUMENT_MAX);
    buf_init(&people, DOCUMENT_MAX);
    output_json(b, &document);
    const struct screen screen = screen_of(STDOUT_FILENO);
    output_text(b, &screen, &people);
    if (document.failed || people.failed)
        return err_set(err, ERR_SYSTEM, "memory for the result");
    if (b->set.out) {
        char path[4096];
        snprintf(path, sizeof path, "%s/taskrate.json", b->set.out);
        if (fs_write(AT_FDCWD, path, buf_text(&document), 0644, false, err) < 0) {
            fs_write_all(STDERR_FILENO, people.p, people.n); /* the numbers are not lost with the disk */
            return err_wrap(err, "the result");
        }
    }
    const struct buf *to = b->set.json ? &document : &people;
    if (fs_write_all(STDOUT_FILENO, to->p, to->n) == 0)
        return 0;
    err_sys(err, "writing the result to standard output");
    if (!b->set.out)
        fs_write_all(STDERR_FILENO, people.p, people.n);
    return -1;
}

static bool all_good(const struct bench *b)
{
    bool good = !b->interrupted && b->batch_count > 0;
    for (size_t i = 0; i < b->batch_count; i++)
        good = good && (b->batches[i].warmup || (b->batches[i].complete && !b->batches[i].no_throughput));
    return good;
}

int taskrate_run(struct bench *b, struct err *err)
{
    struct course c = {.b = b};
    const struct bench_settings *s = &b->set;
    struct err no = {0};
    if (!run_check_limits(b, err) || run_prepare(&c, err) < 0)
        return 2;
    c.batches = s->warmup + s->size_count * s->duration_count * s->repeat + (s->chain ? 1 : 0) + (s->floor ? 2 : 0);
    progress_begin(&c.progress, stderr, "batch", c.batches);
    int rc = run_begin_provider(&c, err);
    if (rc == 0)
        rc = run_all_batches(&c, err);
    progress_clear(&c.progress);
    if (c.table && table_close(c.table, &no) < 0)
        bench_note(b, "the table of tasks is not complete: %s", no.text);
    clean_up(&c);
    size_t measured = 0;
    for (size_t i = 0; i < b->batch_count; i++)
        measured += !b->batches[i].floor;
    if (rc < 0 && !measured) {
        for (size_t i = 0; i < b->note_count; i++)
            fprintf(stderr, "taskrate: %s\n", b->notes[i]);
        return 2;
    }
    if (rc < 0)
        bench_note(b, "ended early: %s", err->text);
    if (run_print_results(b, err) < 0)
        return 2;
    return rc == 0 && all_good(b) ? 0 : 1;
}
