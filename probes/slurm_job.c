/* slurm_job.c: stores, prints, reads back and records the fields of a Slurm job. */
#include "probes/slurm_job.h"

#include "probes/look.h"

#include <stdio.h>
#include <time.h>

const struct slurm_row slurm_rows[SLURM_FIELDS] = {
#define FIELD(id, kind, json, text, fact, key) {#id, SLURM_##kind, json, text, fact, key},
#include "probes/slurm_job.def"
#undef FIELD
};

/* Parses a number from 1 to below 2^53. False: it is another one, or none. */
static bool slurm_job_parse_number(struct str value, int64_t *ret)
{
    return str_int(value, ret) && *ret > 0 && *ret < (INT64_C(1) << 53);
}

void slurm_job_store(struct slurm_job *job, enum slurm_field field, struct str value)
{
    static const char *const nothing[] = {"(null)", "N/A", "None", "n/a", "n/s", "Unknown", "*", "Partition_Limit", "4294967295"};
    struct buf plain CLEANUP_BUF;
    int64_t n;
    buf_init(&plain, 5 * SLURM_TEXT_MAX);
    value = str_trim(value);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (str_is(value, nothing[i]))
            return;
    bool text = slurm_rows[field].kind == SLURM_WORD || slurm_rows[field].kind == SLURM_FREE;
    if (value.n == 0 || job->field[field].n ||
        (!text && !slurm_job_parse_number(value, &n) && !(slurm_rows[field].kind == SLURM_DURATION && str_is(value, "unlimited"))))
        return;
    buf_plain(&plain, value, SLURM_TEXT_MAX);
    if (!plain.failed)
        job->field[field] = (struct str){arena_dup(&job->arena, plain.p, plain.n), plain.n};
    if (!job->field[field].p)
        job->field[field] = (struct str){0};
}

void slurm_job_deinit(struct slurm_job *job)
{
    arena_deinit(&job->arena);
    *job = (struct slurm_job){0};
}

void slurm_job_print(const struct slurm_job *job, struct buf *to)
{
    for (size_t i = 0; i < SLURM_FIELDS; i++)
        if (job->field[i].n) {
            buf_printf(to, "%s ", slurm_rows[i].name);
            buf_str(to, job->field[i]);
            buf_putc(to, '\n');
        }
}

void slurm_job_read(struct slurm_job *ret, struct str lines)
{
    *ret = (struct slurm_job){0};
    arena_init(&ret->arena, 1 << 20);
    while (lines.p) {
        struct str line = str_cut(&lines, '\n'), name = str_cut(&line, ' ');
        for (size_t i = 0; line.p && i < SLURM_FIELDS; i++)
            if (str_is(name, slurm_rows[i].name))
                slurm_job_store(ret, (enum slurm_field)i, line);
    }
}

int64_t slurm_job_ends_s(const struct slurm_job *job)
{
    int64_t n;
    return slurm_job_parse_number(job->field[SLURM_ENDS], &n) ? n : 0;
}

/* Writes seconds since 1970 as a person reads them: 2026-11-22T05:29:38Z. False: an unknown
 * time. */
static bool slurm_job_time_text(struct str value, char *to, size_t size)
{
    int64_t n;
    struct tm tm;
    time_t t;
    if (!slurm_job_parse_number(value, &n) ||
        n > INT64_C(4102444800)) /* beyond the year 2100: the controller prints the end of its range for an unknown time */
        return false;
    t = (time_t)n;
    return gmtime_r(&t, &tm) && strftime(to, size, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0;
}

/* Warns where Slurm states another number of nodes than the environment. Of a heterogeneous job scontrol reports one component, so nothing is compared. */
static void slurm_job_check_nodes(const struct slurm_job *job, struct record *r)
{
    const struct fact *f = record_find(r, FACT_PARAM, "job.nodes");
    struct str value = job->field[SLURM_NODES];
    if (f && value.n && !record_find(r, FACT_PARAM, "slurm.het_size") && !str_eq(f->text, value))
        record_warning(
            r,
            "job.nodes is " STR_FMT " by the environment, but Slurm states " STR_FMT
            ": the job was resized, or a variable was changed. The other facts of job.* from the environment may be wrong as well",
            STR_ARG(f->text), STR_ARG(value));
}

/* Reads the GPUs of "cpu=4,node=2,gres/gpu=5"; gres/gpu:a100=3 is a part of them. False: it has
 * none. */
static bool slurm_job_parse_gpus(struct str tres, int64_t *ret)
{
    while (tres.p) {
        struct str value = str_cut(&tres, ','), name = str_cut(&value, '=');
        if (str_is(name, "gres/gpu"))
            return value.p && slurm_job_parse_number(value, ret);
    }
    return false;
}

/* Sums the GPUs of "gpu:a100:3(IDX:0-1,4),gpu:2(IDX:0-1)", node after node. False: it has none. */
static bool slurm_job_sum_gres(struct str gres, int64_t *ret)
{
    bool found = false;
    for (*ret = 0; gres.n;) {
        struct str rest = gres, item = str_cut(&rest, '('), after = {0};
        if (rest.p) {
            after = rest;
            str_cut(&after, ')');
        }
        while (item.p) { /* of several without places the last one has them */
            struct str one = str_cut(&item, ','), number = one;
            int64_t n;
            while (str_starts(one, "gpu:") && number.p && memchr(number.p, ':', number.n))
                str_cut(&number, ':');
            if (str_starts(one, "gpu:") && slurm_job_parse_number(number, &n)) {
                *ret += n;
                found = true;
            }
        }
        gres = after.p ? after : (struct str){0};
    }
    return found;
}

static bool slurm_job_read_count(const struct record *r, const char *key, int64_t *ret)
{
    const struct fact *f = record_find(r, FACT_PARAM, key);
    return f && str_int(f->text, ret);
}

/* Warns where the other nodes may have another number of GPUs: the environment counts those of this
 * node, and of a job that srun makes (`srun --gpus=5`) no others. */
static void slurm_job_check_gpus(const struct slurm_job *job, struct record *r)
{
    static const char *const keys[][2] = {{"step.gpus_per_node", "step.nodes"}, {"job.gpus_per_node", "job.nodes"}};
    int64_t all, nodes, here, of_job;
    if (!slurm_job_parse_gpus(job->field[SLURM_TRES], &all) && !slurm_job_sum_gres(job->field[SLURM_GRES], &all) &&
        !slurm_job_sum_gres(job->field[SLURM_JOB_GRES], &all))
        return; /* a site that does not account for GPUs has none in the TRES */
    if (!slurm_job_read_count(r, "job.nodes", &of_job) || of_job < 2)
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!slurm_job_read_count(r, keys[i][0], &here) || !slurm_job_read_count(r, keys[i][1], &nodes) || nodes != of_job)
            continue;
        bool is_step = i == 0; /* which may have a part of the job's GPUs */
        if (here * nodes > all || (!is_step && here * nodes < all) || all % nodes)
            record_warning(r, "the job has %lld GPUs on %lld nodes: others may have another number than this one in %s (%lld)",
                           (long long)all, (long long)nodes, keys[i][0], (long long)here);
        return;
    }
}

/* Returns whether each component of a heterogeneous job has the field for itself. */
static bool slurm_job_is_of_component(size_t field)
{
    return field == SLURM_CPUS || field == SLURM_TRES || field == SLURM_GRES || field == SLURM_FEATURES || field == SLURM_CORE_SPEC ||
           field == SLURM_SWITCHES || field == SLURM_NODELIST;
}

void slurm_job_emit(const struct slurm_job *job, struct host *h, struct record *r)
{
    bool het = record_find(r, FACT_PARAM, "slurm.het_size");
    slurm_job_check_nodes(job, r);
    if (!het)
        slurm_job_check_gpus(job, r);
    for (size_t i = 0; i < SLURM_FIELDS; i++) {
        struct str value = job->field[i];
        char text[32];
        if (value.n == 0 || !*slurm_rows[i].key || record_find(r, slurm_rows[i].fact, slurm_rows[i].key) ||
            record_find(r, FACT_MISSING, slurm_rows[i].key)) /* of a heterogeneous job scontrol reports one component */
            continue;
        if (het && slurm_job_is_of_component(i)) {
            emit_missing(h, r, slurm_rows[i].key, "scontrol reports one component of this heterogeneous job");
            continue;
        }
        if (slurm_rows[i].kind == SLURM_TIME) {
            if (!slurm_job_time_text(value, text, sizeof text))
                continue;
            value = str_of(text);
        }
        if (slurm_rows[i].fact == FACT_TAG)
            emit_tag(h, r, slurm_rows[i].key, value);
        else
            emit_param(h, r, slurm_rows[i].key, value);
    }
}
