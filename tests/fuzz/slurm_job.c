/* slurm_job: any reply of scontrol on a job, as JSON and as text, or on steps leaves harmless fields or none. */
#include "base/hostlist.h"
#include "probes/slurm_job.h"
#include "probes/slurm_step.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void look_at(struct slurm_job *job)
{
    struct buf text CLEANUP_BUF, again CLEANUP_BUF;
    struct slurm_job back;
    buf_init(&text, 1 << 20);
    buf_init(&again, 1 << 20);
    slurm_job_print(job, &text);
    must(str_valid_utf8(buf_text(&text)));
    for (size_t i = 0; i < text.n; i++)
        must((unsigned char)text.p[i] >= ' ' || text.p[i] == '\n');
    slurm_job_read(&back, buf_text(&text));
    slurm_job_print(&back, &again);
    must(str_eq(buf_text(&text), buf_text(&again)));
    must(slurm_job_ends_s(job) >= 0);
    slurm_job_deinit(&back);
    slurm_job_deinit(job);
}

static bool fits(void *context, struct str host, pid_t pid)
{
    (void)context;
    return host.n > 0 && pid > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct slurm_who who = {.id = "2", .name = "a\nb"};
    struct slurm_job job;
    struct str text = {(const char *)data, n};
    slurm_job_parse_json(&job, text, &who, NULL);
    look_at(&job);
    slurm_job_parse_text(&job, text, &who, NULL);
    look_at(&job);
    struct slurm_step step;
    int found = slurm_step_parse(&step, text, fits, NULL, NULL);
    must(found <= 0 ? !step.nodes && !step.tasks : step.nodes > 0 && step.tasks > 0 && step.list.n > 0);
    hostlist_has(text, STR("n12"));
    must(found <= 0 || !hostlist_has(step.list, STR("")));
    return 0;
}
