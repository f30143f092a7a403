/* slurm_job: any reply of scontrol, as JSON and as text, leaves harmless fields or none. */
#include "probes/slurm_job.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct slurm_who who = {.id = "2", .name = "a\nb"};
    struct slurm_job job;
    struct str text = {(const char *)data, n};
    slurm_job_parse_json(&job, text, &who, NULL);
    look_at(&job);
    slurm_job_parse_text(&job, text, &who, NULL);
    look_at(&job);
    return 0;
}
