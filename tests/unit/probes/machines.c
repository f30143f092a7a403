/* machines: each folder of tests/probes is a captured machine; the facts told of it are those in its file `expect`.
 *
 * root/ holds the captured files, env the environment (NAME=VALUE lines), probes (optional) the names of the probes that the case is
 * about ("scontrol": the answer of the scheduler), scheduler/ (optional) what scontrol says of the job (id, name, reply.json or reply.txt), argv (optional) the program and its arguments, a line each, cwd (optional) its working directory, public (optional) marks a case of the public profile; expect.newer (optional) is what newer libraries can tell instead.
 * UPDATE=1 rewrites expect: read the difference. */
#include "base/fs.h"
#include "probes/probe.h"
#include "probes/slurm_job.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

enum { ENV_MAX = 256, TEXT_MAX = 1 << 20 };

static const char *folder_of_cases(void)
{
    static const char *const places[] = {"tests/probes", "../tests/probes", "../../tests/probes"};
    const char *root = getenv("ROOT");
    static char path[4096];
    if (root && (size_t)snprintf(path, sizeof path, "%s/tests/probes", root) < sizeof path && access(path, F_OK) == 0)
        return path;
    for (size_t i = 0; i < 3; i++)
        if (access(places[i], F_OK) == 0)
            return places[i];
    return NULL;
}

static bool wanted(struct str names, const struct fact *f)
{
    if (names.n == 0)
        return true;
    for (struct str name = str_word(&names); name.n > 0; name = str_word(&names))
        if (f->source && str_is(name, f->source + (strncmp(f->source, "probe:", 6) == 0 ? 6 : 0)))
            return true;
    return false;
}

static void print_facts(const struct record *r, struct str names, struct buf *to)
{
    static const char *const kinds[] = {"param", "metric", "tag", "artifact", "missing", "warning"};
    for (const struct fact *f = r->first; f; f = f->next) {
        if (!wanted(names, f))
            continue;
        buf_printf(to, "%s %s " STR_FMT " = ", f->source ? f->source : "-", kinds[f->kind], STR_ARG(f->key));
        if (f->kind == FACT_METRIC)
            buf_double(to, f->value);
        else
            buf_plain(to, f->text, 6000);
        buf_putc(to, '\n');
    }
}

/* The lines of a file: all of them, or those that set a variable. */
static void read_lines(int dir, const char *file, bool variables, struct buf *text, char *env[ENV_MAX])
{
    size_t n = 0;
    if (fs_read(dir, file, TEXT_MAX, 0, text, NULL) == 0)
        for (char *line = text->p, *end; line && *line && n < ENV_MAX - 1; line = end) {
            end = strchr(line, '\n');
            if (end)
                *end++ = 0;
            if (*line && (!variables || (strchr(line, '=') && *line != '#')))
                env[n++] = line;
        }
    env[n] = NULL;
}

/* The job, as the recorder has it told when scontrol has answered. */
static void ask_scheduler(int dir, struct host *h, struct record *r)
{
    struct buf reply CLEANUP_BUF, id CLEANUP_BUF, name CLEANUP_BUF;
    struct slurm_job job;
    struct err err = {0};
    buf_init(&reply, TEXT_MAX + 1);
    buf_init(&id, 64);
    buf_init(&name, 4096);
    fs_read(dir, "scheduler/name", 4000, 0, &name, NULL);
    if (fs_read(dir, "scheduler/id", 40, 0, &id, NULL))
        return;
    struct slurm_who who = {.id = id.p, .name = name.p};
    bool json = fs_read(dir, "scheduler/reply.json", TEXT_MAX, 0, &reply, NULL) == 0;
    if (!json)
        assert_int_equal(fs_read(dir, "scheduler/reply.txt", TEXT_MAX, 0, &reply, NULL), 0);
    r->source = "scontrol";
    if ((json ? slurm_job_parse_json : slurm_job_parse_text)(&job, buf_text(&reply), &who, &err))
        record_missing(r, "job.allocation", "%s", err.text);
    else
        slurm_job_emit(&job, h, r);
    slurm_job_deinit(&job);
}

/* True if the facts are those expected. */
static bool one_machine(const char *cases, const char *name)
{
    char path[8192], *env[ENV_MAX], *argv[ENV_MAX], *cwd[ENV_MAX];
    snprintf(path, sizeof path, "%s/%s", cases, name);
    int dir CLEANUP_FD = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct buf env_text CLEANUP_BUF, argv_text CLEANUP_BUF, cwd_text CLEANUP_BUF, names CLEANUP_BUF, expect CLEANUP_BUF, facts CLEANUP_BUF;
    buf_init(&env_text, TEXT_MAX + 1);
    buf_init(&argv_text, TEXT_MAX + 1);
    buf_init(&cwd_text, TEXT_MAX + 1);
    buf_init(&names, 4096);
    buf_init(&expect, TEXT_MAX + 1);
    buf_init(&facts, TEXT_MAX);
    if (dir < 0)
        return false;
    read_lines(dir, "env", true, &env_text, env);
    read_lines(dir, "argv", false, &argv_text, argv);
    read_lines(dir, "cwd", false, &cwd_text, cwd);
    fs_read(dir, "probes", 2048, 0, &names, NULL);
    fs_read(dir, "expect", TEXT_MAX, 0, &expect, NULL);
    snprintf(path, sizeof path, "%s/%s/root", cases, name);
    struct host h = {.root = openat(dir, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .root_path = path, .env = env, .argv = argv[0] ? argv : NULL, .cwd = cwd[0] ? cwd[0] : "/", .spool = -1,
                     .public_profile = faccessat(dir, "public", F_OK, 0) == 0};
    struct record r;
    record_init(&r, "0123456789abcdef0123456789abcdef", 1);
    probes_run(PROBE_BEFORE, false, &h, &r);
    probes_run(PROBE_BESIDE, false, &h, &r);
    ask_scheduler(dir, &h, &r);
    probes_run(PROBE_AFTER, false, &h, &r);
    print_facts(&r, buf_text(&names), &facts);
    record_deinit(&r);
    probes_end(&h);
    fs_close(&h.root);
    if (getenv("UPDATE"))
        return fs_write(dir, "expect", buf_text(&facts), 0644, false, NULL) == 0;
    if (str_eq(buf_text(&facts), buf_text(&expect)))
        return true;
    buf_clear(&expect); /* what a newer library can read beside that */
    if (fs_read(dir, "expect.newer", TEXT_MAX, 0, &expect, NULL) == 0 && str_eq(buf_text(&facts), buf_text(&expect)))
        return true;
    fprintf(stderr, "%s tells:\n%s", name, facts.p ? facts.p : "nothing\n"); /* print_message cuts */
    return false;
}

static void captured_machines_tell_what_is_expected(void **state)
{
    (void)state;
    struct fs_names list;
    const char *cases = folder_of_cases();
    size_t wrong = 0;
    assert_non_null(cases);
    assert_int_equal(fs_list(AT_FDCWD, cases, &list, NULL), 0);
    assert_true(list.count > 10);
    for (size_t i = 0; i < list.count; i++)
        if (!strchr(list.names[i], '.') && !one_machine(cases, list.names[i])) {
            print_message("# %s differs from its expectation\n", list.names[i]);
            wrong++;
        }
    fs_names_deinit(&list);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(captured_machines_tell_what_is_expected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
