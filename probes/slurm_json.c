/* slurm_json.c: a job out of `scontrol show job --json`. Every numeric field may be an integer, a text, null, or {set, infinite, number}. */
#include "base/json.h"
#include "probes/slurm_job.h"

#include <stdio.h>
#include <stdlib.h>

/* Returns a number in any of the forms; -1: it is none. 0 with *ret_infinite for one without an
 * end. */
static int64_t slurm_json_number(const struct json *j, bool *ret_infinite)
{
    int64_t n;
    *ret_infinite = false;
    if (json_is_number(j))
        return json_integer(j, -1);
    if (json_is_string(j))
        return str_int(str_of(json_string(j, "")), &n) ? n : -1;
    if (!json_is_object(j) || !json_bool(json_get(j, "set"), false)) {
        *ret_infinite = json_bool(json_get(j, "infinite"), false);
        return *ret_infinite ? 0 : -1;
    }
    *ret_infinite = json_bool(json_get(j, "infinite"), false);
    return *ret_infinite ? 0 : json_integer(json_get(j, "number"), -1);
}

/* Stores a number, a duration in seconds. Stores nothing for a value that Slurm uses for "none". */
static void slurm_json_store_number(struct slurm_job *job, enum slurm_field field, const struct json *j)
{
    bool infinite;
    char text[32];
    int64_t n = slurm_json_number(j, &infinite);
    if (slurm_rows[field].kind == SLURM_DURATION && infinite) {
        slurm_job_store(job, field, STR("unlimited"));
        return;
    }
    if (n <= 0 || infinite || n > INT64_C(1) << 48)
        return;
    if (field == SLURM_CORE_SPEC && n >= 0x7ffe) /* "none", and the thread_spec that shares the field */
        return;
    snprintf(text, sizeof text, "%lld", (long long)(slurm_rows[field].kind == SLURM_DURATION ? n * 60 : n));
    slurm_job_store(job, field, str_of(text));
}

/* Stores a text, or the texts of a list with commas between. */
static void slurm_json_store_text(struct slurm_job *job, enum slurm_field field, const struct json *j)
{
    struct buf all CLEANUP_BUF;
    buf_init(&all, 1 << 16);
    if (json_is_string(j)) {
        slurm_job_store(job, field, str_of(json_string(j, "")));
        return;
    }
    for (const struct json *e = json_is_array(j) ? json_first(j) : NULL; e; e = json_next(e)) {
        const char *text = json_string(e, "");
        if (*text)
            buf_printf(&all, "%s%s", all.n ? "," : "", text);
    }
    if (!all.failed)
        slurm_job_store(job, field, buf_text(&all));
}

static void slurm_json_store_fields(struct slurm_job *job, const struct json *j)
{
    for (size_t i = 0; i < SLURM_FIELDS; i++) {
        struct str rest = str_of(slurm_rows[i].json);
        for (struct str word; (word = str_word(&rest)).n && job->field[i].n == 0;) {
            char pointer[64];
            snprintf(pointer, sizeof pointer, STR_FMT, STR_ARG(word));
            const struct json *found = json_pointer(j, pointer);
            if (slurm_rows[i].kind == SLURM_WORD || slurm_rows[i].kind == SLURM_FREE)
                slurm_json_store_text(job, (enum slurm_field)i, found);
            else
                slurm_json_store_number(job, (enum slurm_field)i, found);
        }
    }
}

/* The job of that id. Of an array's waiting tasks and its last one the ids are those of the array:
 * this process's own one runs. */
static const struct json *find_job(const struct json *all, const struct slurm_who *who)
{
    int64_t wanted;
    if (!str_int(str_of(who->id), &wanted))
        return NULL;
    for (const struct json *j = json_first(json_get(all, "jobs")); j; j = json_next(j)) {
        bool infinite;
        if (slurm_json_number(json_get(j, "job_id"), &infinite) == wanted)
            return j;
    }
    return NULL;
}

int slurm_job_parse_json(struct slurm_job *ret, struct str reply, const struct slurm_who *who, struct err *err)
{
    struct json *all = NULL;
    *ret = (struct slurm_job){0};
    arena_init(&ret->arena, 1 << 20);
    if (json_parse(&all, reply, NULL, err))
        return err_wrap(err, "scontrol's JSON");
    const struct json *job = find_job(all, who);
    if (job) {
        slurm_json_store_fields(ret, job);
        const struct json *meta = json_get(all, "meta");
        const char *release = json_string(json_pointer(meta, "/slurm/release"), json_string(json_pointer(meta, "/Slurm/release"), ""));
        slurm_job_store(ret, SLURM_VERSION, str_of(release));
    }
    json_free(all);
    return job ? 0 : err_set(err, ERR_INPUT, "scontrol's reply is not about the job %.40s", who->id);
}
