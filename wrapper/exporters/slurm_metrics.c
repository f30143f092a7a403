/* slurm_metrics.c: metrics of a Slurm cluster; see slurm_metrics.h. */
#include "exporters/slurm_metrics.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SQUEUE, SINFO, SDIAG, SSHARE, FIELDS_MAX = 10, SLOTS = 1 << 16, SERIES_MAX = 40000 };

const struct slurm_source slurm_sources[SLURM_SOURCES] = {
    {"squeue", (const char *const[]){"squeue", "-a", "-r", "-h", "-o", "%T|%r|%C|%D|%b|%P|%a|%u", NULL}},
    {"sinfo", (const char *const[]){"sinfo", "-h", "-N", "-O",
                                    "NodeList:|,StateLong:|,CPUsState:|,Partition:|,Gres:|,GresUsed:|,Memory:|,AllocMem:|", NULL}},
    {"sdiag", (const char *const[]){"sdiag", NULL}},
    {"sshare", (const char *const[]){"sshare", "-n", "-P", "-o", "account,fairshare", NULL}}};

/* ---- sums ---- */

static const struct {
    const char *prefix, *help;
} slurm_helps[] = {{"slurm_queue_", "Jobs of the cluster in this state."},
                   {"slurm_nodes_", "Nodes of the cluster in this state."},
                   {"slurm_cpus_", "CPUs of the cluster in this state."},
                   {"slurm_gpus_", "GPUs of the cluster in this state, or their share in use."},
                   {"slurm_node_", "CPUs and memory (MB) of a node."},
                   {"slurm_partition_", "CPUs and jobs of a partition."},
                   {"slurm_account_fairshare", "Fair share of an account."},
                   {"slurm_account_", "Jobs and CPUs of an account."},
                   {"slurm_user_rpc_stats", "Requests of a user to slurmctld (sdiag): count, or times in microseconds."},
                   {"slurm_user_", "Jobs and CPUs of a user."},
                   {"slurm_rpc_stats", "Requests of a type to slurmctld (sdiag): count, or times in microseconds."},
                   {"slurm_scheduler_", "Statistics of the scheduler (sdiag); times in microseconds."},
                   {"benchwrap_slurm_source_up", "1: this command of Slurm has answered."}};

int slurm_tally_init(struct slurm_tally *t, struct arena *a, bool hide_users, struct err *err)
{
    *t = (struct slurm_tally){.arena = a, .hide_users = hide_users, .slots = arena_get(a, SLOTS * sizeof *t->slots)};
    return t->slots ? 0 : err_memory(err, "the metrics of Slurm");
}

static uint32_t tally_hash(uint32_t hash, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        hash = (hash ^ (unsigned char)text.p[i]) * 16777619u;
    return hash;
}

/* Appends a series with one sample to the set. The pointer is valid until the next call. NULL:
 * SERIES_MAX are there, or out of memory (t->failed). */
static struct exporter_series *tally_make(struct slurm_tally *t, const char *family, const char *label, const char *value)
{
    struct metric_set *set = &t->set;
    struct tree_sample *one = ARENA_NEW(t->arena, struct tree_sample);
    if (!one || set->count == SERIES_MAX || !ARRAY_FITS_IN(t->arena, set->list, set->room, set->count + 1)) {
        t->failed |= set->count < SERIES_MAX;
        return NULL;
    }
    struct exporter_series *s = &set->list[set->count++];
    *s = (struct exporter_series){
        .family = family, .unit = "", .help = "", .samples = one, .count = 1, .counter = str_ends(str_of(family), "_total")};
    for (size_t i = sizeof slurm_helps / sizeof *slurm_helps; i-- > 0;)
        if (strncmp(family, slurm_helps[i].prefix, strlen(slurm_helps[i].prefix)) == 0)
            s->help = slurm_helps[i].help;
    if (label)
        s->labels[s->n_labels++] = (struct metric_label){label, value};
    return s;
}

/* family: a text that lives as long as the program. label NULL: none. */
static void slurm_tally_sum(struct slurm_tally *t, const char *family, const char *label, struct str value, double amount)
{
    const char *shown = label ? metric_series_label_text(value, t->arena) : "";
    t->failed |= !shown;
    if (!shown || (label && !shown[0]))
        return;
    uint32_t hash = tally_hash(tally_hash(2166136261u, str_of(family)), str_of(shown));
    for (size_t at = hash % SLOTS;; at = (at + 1) % SLOTS) {
        size_t i = t->slots[at];
        struct exporter_series *s = i ? &t->set.list[i - 1] : tally_make(t, family, label, shown);
        if (!s)
            return;
        if (!i)
            t->slots[at] = t->set.count;
        else if (strcmp(s->family, family) != 0 || (label && strcmp(shown, s->labels[0].value) != 0))
            continue;
        ((struct tree_sample *)s->samples)->value += amount; /* the arena's */
        return;
    }
}

static void tally_count(struct slurm_tally *t, const char *family, double amount)
{
    slurm_tally_sum(t, family, NULL, STR(""), amount);
}

/* ---- texts ---- */

static size_t split_slurm_fields(struct str line, struct str fields[FIELDS_MAX])
{
    size_t n = 0;
    while (line.p && n < FIELDS_MAX)
        fields[n++] = str_trim(str_cut(&line, '|'));
    for (size_t i = 0; i < n; i++)
        if (str_is(fields[i], "(null)")) /* without accounting a job has no account */
            fields[i] = STR("none");
    return n;
}

static double slurm_number(struct str text)
{
    double value;
    return str_double(text, &value) && isfinite(value) && value >= 0 ? value : 0;
}

/* GPUs in a list of generic resources: "gpu:a100:4(S:0-1),gpu:2", "gres/gpu:1", "gpu". */
static double slurm_gpus(struct str list)
{
    double sum = 0;
    while (list.p) {
        struct str item = str_trim(str_cut(&list, ',')), name = item;
        if (str_starts(item, "gres/") || str_starts(item, "gres:"))
            item = str_sub(item, 5, item.n);
        name = item;
        struct str first = str_cut(&name, ':');
        if (!str_is(first, "gpu") && !str_starts(first, "gpu("))
            continue;
        struct str last = str_cut(&item, '(');
        double count = 1;
        while (last.p) {
            struct str part = str_cut(&last, ':');
            if (part.n && str_is_digit(part.p[0]))
                count = slurm_number(part);
        }
        sum += count;
    }
    return sum;
}

/* ---- squeue ---- */

/* Counts one job of squeue's output by state, account and user. False: the line has too few
 * fields. */
static bool add_squeue_line(struct slurm_tally *t, struct str line)
{
    static const struct {
        const char *state, *family, *account, *user;
    } rows[] = {
        {"PENDING", "slurm_queue_pending", "slurm_account_jobs_pending", "slurm_user_jobs_pending"},
        {"RUNNING", "slurm_queue_running", "slurm_account_jobs_running", "slurm_user_jobs_running"},
        {"SUSPENDED", "slurm_queue_suspended", "slurm_account_jobs_suspended", "slurm_user_jobs_suspended"},
        {"CANCELLED", "slurm_queue_cancelled", NULL, NULL},
        {"COMPLETING", "slurm_queue_completing", NULL, NULL},
        {"COMPLETED", "slurm_queue_completed", NULL, NULL},
        {"CONFIGURING", "slurm_queue_configuring", NULL, NULL},
        {"FAILED", "slurm_queue_failed", NULL, NULL},
        {"TIMEOUT", "slurm_queue_timeout", NULL, NULL},
        {"PREEMPTED", "slurm_queue_preempted", NULL, NULL},
        {"NODE_FAIL", "slurm_queue_node_fail", NULL, NULL},
    };
    struct str f[FIELDS_MAX];
    if (split_slurm_fields(line, f) < 8)
        return false;
    double cpus = slurm_number(f[2]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!str_is(f[0], rows[i].state))
            continue;
        bool pending = i == 0, running = i == 1;
        tally_count(t, rows[i].family, 1);
        if (pending && str_has(f[1], "Dependency"))
            tally_count(t, "slurm_queue_pending_dependency", 1);
        for (struct str partitions = f[5]; pending && partitions.p;)
            slurm_tally_sum(t, "slurm_partition_jobs_pending", "partition", str_cut(&partitions, ','), 1);
        if (running)
            slurm_tally_sum(t, "slurm_partition_jobs_running", "partition", f[5], 1);
        if (rows[i].account)
            slurm_tally_sum(t, rows[i].account, "account", f[6], 1);
        if (running)
            slurm_tally_sum(t, "slurm_account_cpus_running", "account", f[6], cpus);
        if (running && slurm_gpus(f[4]) > 0)
            slurm_tally_sum(t, "slurm_account_gpus_running", "account", f[6], slurm_gpus(f[4]) * slurm_number(f[3]));
        if (rows[i].user && !t->hide_users)
            slurm_tally_sum(t, rows[i].user, "user", f[7], 1);
        if (running && !t->hide_users)
            slurm_tally_sum(t, "slurm_user_cpus_running", "user", f[7], cpus);
        return true;
    }
    return true;
}

/* ---- sinfo ---- */

static void add_node_state(struct slurm_tally *t, struct str state)
{
    static const char *const rows[][2] = {{"alloc", "slurm_nodes_alloc"}, {"comp", "slurm_nodes_comp"},   {"down", "slurm_nodes_down"},
                                          {"drain", "slurm_nodes_drain"}, {"fail", "slurm_nodes_fail"},   {"err", "slurm_nodes_err"},
                                          {"idle", "slurm_nodes_idle"},   {"maint", "slurm_nodes_maint"}, {"mix", "slurm_nodes_mix"},
                                          {"res", "slurm_nodes_resv"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_starts(state, rows[i][0])) {
            tally_count(t, rows[i][1], 1);
            return;
        }
    tally_count(t, "slurm_nodes_other", 1);
}

/* Allocated, idle, other and all CPUs: "4/12/0/16". */
static bool read_cpus(struct str text, double ret[4])
{
    size_t n = 0;
    for (; text.p && n < 4; n++) {
        struct str part = str_cut(&text, '/');
        if (!part.n || !str_is_digit(part.p[0]))
            return false;
        ret[n] = slurm_number(part);
    }
    return n == 4;
}

/* A node has a line for each of its partitions, one after the other. */
static bool add_sinfo_line(struct slurm_tally *t, struct str line, struct str *last)
{
    static const char *const all[] = {"slurm_cpus_alloc", "slurm_cpus_idle", "slurm_cpus_other", "slurm_cpus_total"},
                             *const node[] = {"slurm_node_cpu_alloc", "slurm_node_cpu_idle", "slurm_node_cpu_other",
                                              "slurm_node_cpu_total"},
                             *const partition[] = {"slurm_partition_cpus_allocated", "slurm_partition_cpus_idle",
                                                   "slurm_partition_cpus_other", "slurm_partition_cpus_total"};
    struct str f[FIELDS_MAX];
    double cpus[4];
    if (split_slurm_fields(line, f) < 8 || !read_cpus(f[2], cpus))
        return false;
    if (f[3].n && f[3].p[f[3].n - 1] == '*') /* the default partition */
        f[3].n--;
    for (size_t i = 0; i < 4; i++)
        slurm_tally_sum(t, partition[i], "partition", f[3], cpus[i]);
    if (str_eq(*last, f[0]))
        return true;
    *last = f[0];
    add_node_state(t, f[1]);
    double gpus = slurm_gpus(f[4]), used = slurm_gpus(f[5]);
    for (size_t i = 0; i < 4; i++) {
        tally_count(t, all[i], cpus[i]);
        slurm_tally_sum(t, node[i], "node", f[0], cpus[i]);
    }
    slurm_tally_sum(t, "slurm_node_mem_total", "node", f[0], slurm_number(f[6]));
    slurm_tally_sum(t, "slurm_node_mem_alloc", "node", f[0], slurm_number(f[7]));
    tally_count(t, "slurm_gpus_total", gpus);
    tally_count(t, "slurm_gpus_alloc", used);
    tally_count(t, "slurm_gpus_idle", used < gpus ? gpus - used : 0);
    return true;
}

/* ---- sdiag and sshare ---- */

enum sdiag_part { SDIAG_MAIN, SDIAG_BACKFILL, SDIAG_BY_TYPE, SDIAG_BY_USER, SDIAG_OTHER };

/* Adds the numbers of one request of sdiag: "REQUEST_PING ( 1008) count:2 ave_time:140
 * total_time:280". by_user: the name is a user's. */
static void add_sdiag_rpc(struct slurm_tally *t, struct str line, bool by_user)
{
    static const struct {
        const char *key, *by_type, *by_user;
    } rows[] = {{"count:", "slurm_rpc_stats", "slurm_user_rpc_stats"},
                {"ave_time:", "slurm_rpc_stats_avg_time", "slurm_user_rpc_stats_avg_time"},
                {"total_time:", "slurm_rpc_stats_total_time", "slurm_user_rpc_stats_total_time"}};
    struct str name = str_cut(&line, '(');
    str_cut(&line, ')');
    while (line.p) {
        struct str part = str_trim(str_cut(&line, ' '));
        double value;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (str_starts(part, rows[i].key) && str_double(str_sub(part, strlen(rows[i].key), part.n), &value) && isfinite(value) &&
                value >= 0)
                slurm_tally_sum(t, by_user ? rows[i].by_user : rows[i].by_type, by_user ? "user" : "operation", str_trim(name), value);
    }
}

/* Returns the part of sdiag's output that a line belongs to, by its words before ":". A heading
 * begins a part; every other line belongs to `part`, that of the line before. */
static enum sdiag_part sdiag_part_of(struct str words, enum sdiag_part part)
{
    return str_starts(words, "Backfilling stats")                                           ? SDIAG_BACKFILL
           : str_starts(words, "Remote Procedure Call statistics by message type")          ? SDIAG_BY_TYPE
           : str_starts(words, "Remote Procedure Call statistics by user")                  ? SDIAG_BY_USER
           : str_starts(words, "Remote Procedure Call") || str_starts(words, "Pending RPC") ? SDIAG_OTHER
                                                                                            : part;
}

/* Counts what one line of sdiag states. *part: the part of the output that the line belongs to,
 * updated where the line begins another one. */
static void add_sdiag_line(struct slurm_tally *t, struct str line, enum sdiag_part *part)
{
    static const struct {
        const char *words, *main, *backfill; /* NULL: not there */
    } rows[] = {{"Server thread count", "slurm_scheduler_threads", NULL},
                {"Agent queue size", "slurm_scheduler_queue_size", NULL},
                {"DBD Agent queue size", "slurm_scheduler_dbd_queue_size", NULL},
                {"Last cycle", "slurm_scheduler_last_cycle", "slurm_scheduler_backfill_last_cycle"},
                {"Mean cycle", "slurm_scheduler_mean_cycle", "slurm_scheduler_backfill_mean_cycle"},
                {"Cycles per minute", "slurm_scheduler_cycle_per_minute", NULL},
                {"Depth Mean", NULL, "slurm_scheduler_backfill_depth_mean"},
                {"Total backfilled jobs (since last slurm start)", NULL, "slurm_scheduler_backfilled_jobs_since_start_total"},
                {"Total backfilled jobs (since last stats cycle start)", NULL, "slurm_scheduler_backfilled_jobs_since_cycle_total"},
                {"Total backfilled heterogeneous job components", NULL, "slurm_scheduler_backfilled_heterogeneous_total"}};
    struct str rest = str_trim(line), words = str_trim(str_cut(&rest, ':'));
    double value;
    *part = sdiag_part_of(words, *part);
    if (*part == SDIAG_BY_TYPE || (*part == SDIAG_BY_USER && !t->hide_users))
        add_sdiag_rpc(t, line, *part == SDIAG_BY_USER);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *family = *part == SDIAG_BACKFILL ? rows[i].backfill : *part == SDIAG_MAIN ? rows[i].main : NULL;
        if (family && rest.p && str_is(words, rows[i].words) && str_double(str_trim(rest), &value) && isfinite(value) && value >= 0)
            tally_count(t, family, value);
    }
}

static bool add_sshare_line(struct slurm_tally *t, struct str line)
{
    struct str f[FIELDS_MAX];
    double value;
    size_t n = split_slurm_fields(line, f);
    if (n >= 2 && f[0].n && str_double(f[1], &value) && value >= 0 && value <= 1)
        slurm_tally_sum(t, "slurm_account_fairshare", "account", f[0], value);
    return n >= 2;
}

bool slurm_tally_add(struct slurm_tally *t, size_t source, struct str text)
{
    struct str node = {NULL, 0};
    enum sdiag_part part = SDIAG_MAIN;
    bool good = source == SDIAG ? str_has(text, "Main schedule") : true;
    while (text.p && good) {
        struct str line = str_cut(&text, '\n');
        if (str_trim(line).n == 0)
            continue;
        if (source == SQUEUE)
            good = add_squeue_line(t, line);
        else if (source == SINFO)
            good = add_sinfo_line(t, line, &node);
        else if (source == SDIAG)
            add_sdiag_line(t, line, &part);
        else
            good = add_sshare_line(t, line);
    }
    /* A state that no job is in is 0, not missing. */
    static const char *const zeros[] = {
        "slurm_queue_pending",    "slurm_queue_running", "slurm_queue_suspended", "slurm_queue_pending_dependency",
        "slurm_queue_completing", "slurm_queue_failed",  "slurm_queue_cancelled"};
    for (size_t i = 0; good && source == SQUEUE && i < sizeof zeros / sizeof *zeros; i++)
        tally_count(t, zeros[i], 0);
    static const char *const states[] = {"slurm_nodes_alloc", "slurm_nodes_down", "slurm_nodes_drain", "slurm_nodes_idle",
                                         "slurm_nodes_mix"};
    for (size_t i = 0; good && source == SINFO && i < sizeof states / sizeof *states; i++)
        tally_count(t, states[i], 0);
    return good;
}

void slurm_tally_state(struct slurm_tally *t, size_t source, bool up)
{
    slurm_tally_sum(t, "benchwrap_slurm_source_up", "source", str_of(slurm_sources[source].name), up);
}

static int tally_order(const void *a, const void *b)
{
    const struct exporter_series *x = a, *y = b;
    int order = strcmp(x->family, y->family);
    return order ? order : strcmp(x->n_labels ? x->labels[0].value : "", y->n_labels ? y->labels[0].value : "");
}

static double tally_value(const struct slurm_tally *t, const char *family)
{
    for (size_t i = 0; i < t->set.count; i++)
        if (strcmp(t->set.list[i].family, family) == 0)
            return t->set.list[i].samples[0].value;
    return 0;
}

int slurm_tally_end(struct slurm_tally *t, struct metric_set *ret, struct err *err)
{
    double all = tally_value(t, "slurm_gpus_total");
    if (all > 0)
        tally_count(t, "slurm_gpus_utilization", tally_value(t, "slurm_gpus_alloc") / all);
    if (t->failed)
        return err_memory(err, "the metrics of Slurm");
    qsort(t->set.list, t->set.count, sizeof *t->set.list, tally_order);
    *ret = t->set;
    return 0;
}
