/* processes.c: the program's own processes, separate from the node: processor time, memory, threads, under MLflow's names.
 *
 * The tree is walked from the launcher, which adopts what the program leaves (it is the subreaper), by the kernel's lists of children. Processor time
 * includes that of processes that have ended and were waited for. Memory is the sum of the resident sets: pages shared by several count each time. */
#include "probes/processes.h"

#include "base/array.h"
#include "probes/sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct probe probe_processes;

enum {
    NAME_SIZE = 64,
    PROCESSES_MAX = 20000,
    THREADS_MAX = 512 /* in one walk, whose children are read in addition to the main threads' */
};

static const double UNWAITED_S = 0.2, UNWAITED_PART = 0.1; /* of what the samples measured: ticks are coarse */

struct tree {
    pid_t *pids; /* found, and to be read */
    size_t count, room;
    unsigned threads_seen, threads, processes;
    double ticks, rss_pages, vms_B;
    bool no_lists; /* the kernel lists no children */
};

struct processes {
    struct sample_count time;
    pid_t first[PROCESSES_SEEN];
    size_t seen;
    pid_t launcher;
    bool said;
};

/* Reads the fields of /proc/PID/stat behind the name, which may hold anything, even ") R 1": from
 * the last parenthesis on. Field 3 is the first. False: the process has ended, or a field is no
 * number. */
static bool processes_read_stat(const struct host *h, pid_t pid, char name[NAME_SIZE], double fields[22])
{
    struct look_text text;
    if (!look_read(h, &text, "proc/%d/stat", pid))
        return false; /* it has ended in between */
    char *begin = strchr(text.p, '('), *end = strrchr(text.p, ')');
    if (!begin || !end || end < begin)
        return false;
    snprintf(name, NAME_SIZE, "%.*s", (int)(end - begin - 1), begin + 1);
    struct str rest = str_of(end + 1);
    str_word(&rest); /* state */
    for (int i = 1; i < 22; i++)
        if (!str_double(str_word(&rest), &fields[i]))
            return false;
    return true;
}
enum { PARENT = 1, USER = 11, SYSTEM, USER_WAITED, SYSTEM_WAITED, THREADS = 17, SIZE = 20, RESIDENT };

static void processes_add_pid(struct tree *t, pid_t pid)
{
    if (t->count < PROCESSES_MAX && ARRAY_FITS(t->pids, t->room, t->count + 1))
        t->pids[t->count++] = pid;
}

/* "12 345 ": benchwrap's own helpers are children of the recorder, which is left out, and they with
 * it. */
static void processes_add_children(const struct host *h, struct tree *t, pid_t pid, pid_t thread)
{
    char path[80];
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 18);
    snprintf(path, sizeof path, "proc/%d/task/%d/children", pid, thread);
    if (look_read_file(h, path, (1 << 18) - 65537, &text) != 0) {
        char task[64];
        snprintf(task, sizeof task, "proc/%d/task/%d", pid, thread);
        t->no_lists |= errno == ENOENT && look_exists(h, task);
        return;
    }
    struct str rest = buf_text(&text);
    for (struct str word = str_word(&rest); word.n; word = str_word(&rest)) {
        int64_t child;
        if (str_int(word, &child) && child > 1 && child < INT32_MAX && !(h->real && child == getpid()))
            processes_add_pid(t, (pid_t)child);
    }
}

struct threads {
    const struct host *h;
    struct tree *t;
    pid_t pid;
};

static void processes_add_thread(void *context, const char *name)
{
    struct threads *s = context;
    int64_t thread;
    if (s->t->threads_seen < THREADS_MAX && str_int(str_of(name), &thread) && thread != s->pid) {
        s->t->threads_seen++;
        processes_add_children(s->h, s->t, s->pid, (pid_t)thread);
    }
}

/* Adds a process with its children and threads to the tree. Adds nothing for one that has ended. */
static void processes_add_process(const struct host *h, struct tree *t, pid_t pid)
{
    double f[22];
    char name[NAME_SIZE];
    if (!processes_read_stat(h, pid, name, f))
        return;
    if (h->saw)
        h->saw(h->saw_context, pid, name);
    t->processes++;
    t->ticks += f[USER] + f[SYSTEM] + f[USER_WAITED] + f[SYSTEM_WAITED];
    t->threads += (unsigned)f[THREADS];
    t->vms_B += f[SIZE];
    t->rss_pages += f[RESIDENT];
    processes_add_children(h, t, pid, pid);
    if (f[THREADS] > 1 && f[THREADS] <= THREADS_MAX) {
        struct threads s = {h, t, pid};
        char path[64];
        snprintf(path, sizeof path, "proc/%d/task", pid);
        look_each_name(h, path, processes_add_thread, &s);
    }
}

/* Adds all processes below the launcher, which is the program's parent; where it has gone, those of
 * the program alone. */
static void processes_walk_tree(struct host *h, struct processes *p, struct tree *t)
{
    double f[22];
    char name[NAME_SIZE];
    if (!p->launcher && processes_read_stat(h, h->pid, name, f))
        p->launcher = f[PARENT] > 1 ? (pid_t)f[PARENT] : -1;
    if (p->launcher > 1 && processes_read_stat(h, p->launcher, name, f)) {
        t->ticks += f[USER_WAITED] + f[SYSTEM_WAITED];
        processes_add_children(h, t, p->launcher, p->launcher);
    } else
        processes_add_pid(t, h->pid);
    for (size_t i = 0; i < t->count && i < PROCESSES_MAX; i++)
        processes_add_process(h, t, t->pids[i]);
}

/* Returns the memory of the node in bytes; 0: not known. */
static double processes_node_memory(const struct host *h)
{
    struct look_text text;
    double kB;
    if (!look_read(h, &text, "proc/meminfo"))
        return 0;
    struct str value = look_value((struct str){text.p, text.n}, "MemTotal", ':');
    return str_double(str_word(&value), &kB) ? kB * 1024 : 0;
}

static void processes_emit_tree(struct host *h, struct record *r, struct processes *p, const struct tree *t)
{
    double ticks = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE), rate, rss = t->rss_pages * page,
           total = processes_node_memory(h);
    if (sample_rate(&p->time, h, t->ticks / ticks, 0, &rate)) /* of one processor: two busy ones are 200 */
        sample_emit(h, r, "system/process_cpu_percentage", 100 * rate);
    sample_emit(h, r, "system/process_memory_rss_megabytes", rss / 1e6);
    sample_emit(h, r, "system/process_memory_vms_megabytes", t->vms_B / 1e6);
    if (total > 0)
        sample_emit(h, r, "system/process_memory_percentage", 100 * rss / total);
    sample_emit(h, r, "system/process_threads", t->threads);
    sample_emit(h, r, "system/process_count", t->processes);
}

/* Records count, memory and processor time of the program's processes; where they are not visible,
 * the reason, once. Returns 0. */
static int processes_sample(struct host *h, struct record *r, struct err *err)
{
    struct processes *p = probe_data(h, &probe_processes);
    struct tree t = {0};
    (void)err;
    if (!p || h->pid <= 1)
        return 0; /* there is no program: a node's collector, or `benchwrap probe` */
    if (h->served) {
        if (!p->said)
            emit_missing(h, r, "system/process_count", "%s", h->served);
        p->said = true;
        return 0;
    }
    if (!look_has_own_proc(h)) {
        if (!p->said)
            emit_missing(h, r, "system/process_count", "/proc does not show the PID namespace of this run");
        p->said = true;
        return 0;
    }
    processes_walk_tree(h, p, &t);
    if (t.no_lists && !p->said) {
        p->said = true;
        emit_missing(h, r, "system/process_count",
                     "the kernel keeps no lists of children (CONFIG_PROC_CHILDREN): only the program's first process is seen");
    }
    p->seen = t.count < PROCESSES_SEEN ? t.count : PROCESSES_SEEN;
    if (p->seen)
        memcpy(p->first, t.pids, p->seen * sizeof *p->first);
    if (t.processes > 0)
        processes_emit_tree(h, r, p, &t);
    free(t.pids);
    return 0;
}

void processes_visit(struct host *h)
{
    struct processes *p = probe_data(h, &probe_processes);
    struct tree t = {0};
    if (!p || h->pid <= 1 || !look_has_own_proc(h))
        return;
    processes_walk_tree(h, p, &t);
    free(t.pids);
}

size_t processes_list(const struct host *h, pid_t ret[PROCESSES_SEEN])
{
    const struct processes *p = probe_data(h, &probe_processes);
    size_t n = p ? p->seen : 0;
    if (n)
        memcpy(ret, p->first, n * sizeof *ret);
    return n;
}

double processes_unwaited_s(const struct host *h, const struct record *r)
{
    const struct processes *p = probe_data(h, &probe_processes);
    double user = record_number(r, "run.user_s", -1), sys = record_number(r, "run.system_s", -1);
    double more = p && p->time.known && user >= 0 && sys >= 0 ? p->time.sum - user - sys : 0;
    return more > UNWAITED_S && more > UNWAITED_PART * p->time.sum ? more : 0;
}

static int processes_after(struct host *h, struct record *r, struct err *err)
{
    double more = processes_unwaited_s(h, r);
    (void)err;
    if (more > 0 && record_number(r, "run.left_running", 0) <= 0)
        record_warning(r,
                       "child processes that the program did not wait for used at least %.1f s of processor time, which are not in "
                       "run.user_s and run.system_s",
                       more);
    return 0;
}

const struct probe probe_processes = {
    .name = "processes",
    .summary = "the program's own processes: processor time, memory, threads",
    .sample = processes_sample,
    .after = processes_after,
    .nested = true,
    .keeps = sizeof(struct processes),
};
