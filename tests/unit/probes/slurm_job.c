/* Replies of scontrol, of every version and with what users put into them: the fields taken are those that are expected. */
#include "base/fs.h"
#include "probes/slurm_job.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

static const char *folder(void)
{
    return access("tests/slurm", F_OK) == 0 ? "tests/slurm" : NULL;
}

static void read_file(int dir, const char *name, struct buf *to)
{
    buf_init(to, 1 << 20);
    fs_read(dir, name, (1 << 20) - 4096, 0, to, NULL);
}

static void told(int dir, struct buf *to)
{
    struct buf reply CLEANUP_BUF, id CLEANUP_BUF, name CLEANUP_BUF;
    struct slurm_job job;
    struct err err = {0};
    bool json = faccessat(dir, "reply.json", F_OK, 0) == 0;
    read_file(dir, json ? "reply.json" : "reply.txt", &reply);
    read_file(dir, "id", &id);
    read_file(dir, "name", &name);
    struct slurm_who who = {.id = id.p, .name = name.n ? name.p : NULL};
    int rc = (json ? slurm_job_parse_json : slurm_job_parse_text)(&job, buf_text(&reply), &who, &err);
    buf_init(to, 1 << 20);
    if (rc)
        buf_printf(to, "no: %s\n", err.text);
    else
        slurm_job_print(&job, to);
    slurm_job_deinit(&job);
}

static bool one_case(const char *cases, const char *name)
{
    char path[300];
    struct buf got CLEANUP_BUF, expect CLEANUP_BUF;
    snprintf(path, sizeof path, "%s/%s", cases, name);
    CLEANUP_FD int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    told(dir, &got);
    if (getenv("UPDATE"))
        fs_write(dir, "expect", buf_text(&got), 0644, false, NULL);
    read_file(dir, "expect", &expect);
    if (str_eq(buf_text(&got), buf_text(&expect)))
        return true;
    fprintf(stderr, "%s:\n%s", name, got.p ? got.p : "");
    return false;
}

static void replies_tell_what_is_expected(void **state)
{
    (void)state;
    struct fs_names list;
    size_t wrong = 0;
    setenv("TZ", "UTC", 1);
    assert_non_null(folder());
    assert_int_equal(fs_list(AT_FDCWD, folder(), &list, NULL), 0);
    assert_true(list.count > 20);
    for (size_t i = 0; i < list.count; i++)
        wrong += !strstr(list.names[i], ".md") && !one_case(folder(), list.names[i]);
    fs_names_deinit(&list);
    assert_int_equal(wrong, 0);
}

static void printed_fields_read_back(void **state)
{
    (void)state;
    struct slurm_job job, again;
    struct buf first CLEANUP_BUF, second CLEANUP_BUF;
    buf_init(&first, 1 << 16);
    buf_init(&second, 1 << 16);
    slurm_job_read(&job, STR("PARTITION debug\nNONSENSE x\nENDS 1795217252\nNODES many\nPARTITION other\nLIMIT unlimited\nENDS\n"));
    assert_int_equal(slurm_job_ends_s(&job), 1795217252);
    slurm_job_print(&job, &first);
    slurm_job_read(&again, buf_text(&first));
    slurm_job_print(&again, &second);
    assert_string_equal(first.p, "PARTITION debug\nLIMIT unlimited\nENDS 1795217252\n");
    assert_string_equal(first.p, second.p);
    slurm_job_deinit(&job);
    slurm_job_deinit(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(replies_tell_what_is_expected), cmocka_unit_test(printed_fields_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
