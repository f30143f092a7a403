/* tree.c: experiments, runs and reading them back. */
#include "mlruns-format/tree.h"
#include "base/fs.h"
#include "base/json.h"
#include "mlruns-format/tree_meta.h"
#include "mlruns-format/tree_parts.h"
#include "mlruns-format/tree_thinned.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char path[64];
    int top, root, spool;
    struct arena arena;
};

static int begin(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->path, sizeof p->path, "/tmp/bw-tree.XXXXXX");
    assert_non_null(mkdtemp(p->path));
    p->top = open(p->path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(mkdirat(p->top, "mlruns", 0777) | mkdirat(p->top, "spool", 0777), 0);
    p->root = openat(p->top, "mlruns", O_RDONLY | O_DIRECTORY);
    p->spool = openat(p->top, "spool", O_RDONLY | O_DIRECTORY);
    arena_init(&p->arena, 0);
    *state = p;
    return 0;
}

static int end(void **state)
{
    struct place *p = *state;
    arena_deinit(&p->arena);
    close(p->root);
    close(p->spool);
    close(p->top);
    fs_remove_tree(AT_FDCWD, p->path, NULL);
    free(p);
    return 0;
}

static const char *text_of(struct place *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static const char *text_of(struct place *p, const char *fmt, ...)
{
    char path[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(path, sizeof path, fmt, ap);
    va_end(ap);
    struct buf b CLEANUP_BUF;
    buf_init(&b, 64 << 20);
    if (fs_read(p->root, path, 63 << 20, 0, &b, NULL) < 0)
        return NULL;
    return arena_dup(&p->arena, b.p ? b.p : "", b.n);
}

static void put(struct place *p, const char *path, const char *text)
{
    char way[512];
    snprintf(way, sizeof way, "%s", path);
    *strrchr(way, '/') = 0;
    assert_int_equal(fs_mkdirs(p->root, way, 0777, NULL), 0);
    assert_int_equal(fs_write(p->root, path, str_of(text), 0666, false, NULL), 0);
}

static void experiment_ids_are_those_of_the_contract(void **state)
{
    struct buf b CLEANUP_BUF;
    size_t rows = 0;
    (void)state;
    buf_init(&b, 1 << 20);
    assert_int_equal(fs_read(AT_FDCWD, "mlruns-format/vectors/experiment-ids.tsv", 1 << 19, 0, &b, NULL), 0);
    for (struct str rest = buf_text(&b), line; (line = str_cut(&rest, '\n')).n; rows++) {
        struct str name = str_cut(&line, '\t');
        uint64_t id;
        assert_true(str_uint(line, &id));
        if (tree_experiment_id(name) != id)
            fail_msg(STR_FMT " has id %u, wanted " STR_FMT, STR_ARG(name), tree_experiment_id(name), STR_ARG(line));
    }
    assert_true(rows >= 10);
}

static uint32_t make(struct place *p, const char *name, const char **ret_name)
{
    uint32_t id = 0;
    struct str got = {0};
    struct err err = {0};
    if (tree_experiment(p->root, str_of(name), &p->arena, &id, &got, &err) < 0)
        fail_msg("%s", err.text);
    if (ret_name)
        *ret_name = got.p;
    return id;
}

static void an_experiment_is_six_lines_and_a_tag(void **state)
{
    struct place *p = *state;
    const char *name;
    assert_int_equal(make(p, "ior", &name), 498177579);
    assert_string_equal(name, "ior");
    assert_string_equal(text_of(p, "498177579/meta.yaml"),
                        "artifact_location: \"mlruns/498177579\"\ncreation_time: 1767225600000\nexperiment_id: \"498177579\"\n"
                        "last_update_time: 1767225600000\nlifecycle_stage: \"active\"\nname: \"ior\"\n");
    assert_string_equal(text_of(p, "498177579/tags/mlflow.experimentKind"), "custom_model_development");
    struct stat a, b;
    fstatat(p->root, "498177579/meta.yaml", &a, 0);
    assert_int_equal(make(p, "ior", &name), 498177579);
    fstatat(p->root, "498177579/meta.yaml", &b, 0);
    assert_true(a.st_ino == b.st_ino && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec);
    struct fs_names l;
    assert_int_equal(fs_list(p->root, "498177579", &l, NULL), 0);
    assert_int_equal(l.count, 2); /* nothing left beside */
    fs_names_deinit(&l);
}

static void names_are_made_legal(void **state)
{
    static const struct { const char *wanted, *got; } rows[] = {
        {"a/b", "a_b"}, {"", "default"}, {"  x  ", "x"}, {"\xc3\xbc", "_"}, {"a\nb", "a_b"}, {"~", "_"}, {"..", ".."}, {"A b-c_d.e", "A b-c_d.e"},
    };
    struct place *p = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name;
        uint32_t id = make(p, rows[i].wanted, &name);
        assert_string_equal(name, rows[i].got);
        assert_int_equal(id, tree_experiment_id(str_of(name)));
    }
    char big[300];
    memset(big, 'n', sizeof big - 1);
    big[299] = 0;
    const char *name;
    make(p, big, &name);
    assert_int_equal(strlen(name), 128);
}

static void an_id_of_another_name_is_left_alone(void **state)
{
    struct place *p = *state;
    const char *name, *was = "artifact_location: x\nexperiment_id: '498177579'\nlifecycle_stage: active\nname: somebody else's\n";
    put(p, "498177579/meta.yaml", was);
    assert_int_equal(make(p, "ior", &name), tree_experiment_id(STR("ior~2")));
    assert_string_equal(name, "ior~2");
    assert_string_equal(text_of(p, "498177579/meta.yaml"), was);
    make(p, "ior", &name);
    assert_string_equal(name, "ior~2"); /* again the same */
}

/* Python MLflow gives random ids: two experiments of one name would stop its migration. */
static void a_name_that_python_uses_is_not_doubled(void **state)
{
    struct place *p = *state;
    const char *name;
    put(p, "384215794356421873/meta.yaml", "artifact_location: file:///x/384215794356421873\ncreation_time: 1\nexperiment_id: '384215794356421873'\nlifecycle_stage: active\nname: ior\n");
    put(p, ".trash/123/meta.yaml", "artifact_location: x\nexperiment_id: '123'\nlifecycle_stage: deleted\nname: ior~2\n");
    make(p, "ior", &name);
    assert_string_equal(name, "ior~3");
}

static void a_damaged_experiment_is_told_and_kept(void **state)
{
    static const char *const texts[] = {
        "<<<<<<< HEAD\nname: \"ior\"\n=======\nname: \"ior\"\n>>>>>>> x\n", "", "name: \"ior\"\n", "just text", "- a\n- b\n", "name: \"ior\nexperiment_id: \"1\"\n", "{", "name: [ior]\nexperiment_id: '1'\n", "\xff\xfe\n",
    };
    struct place *p = *state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint32_t id;
        struct str name;
        struct err err = {0};
        put(p, "498177579/meta.yaml", texts[i]);
        if (tree_experiment(p->root, STR("ior"), &p->arena, &id, &name, &err) != -1 || !strstr(err.text, "mlruns/498177579/meta.yaml") || !strstr(err.text, "damaged"))
            fail_msg("text %zu: %s", i, err.text);
        assert_string_equal(text_of(p, "498177579/meta.yaml"), texts[i]);
    }
}

static void many_creators_agree(void **state)
{
    struct place *p = *state;
    for (int round = 0; round < 20; round++) {
        char name[32];
        snprintf(name, sizeof name, "race %d", round);
        pid_t pids[8];
        for (int i = 0; i < 8; i++) {
            pids[i] = fork();
            if (pids[i] == 0) {
                uint32_t id;
                struct str got;
                _exit(tree_experiment(p->root, str_of(name), &p->arena, &id, &got, NULL) == 0 && str_is(got, name) ? 0 : 1);
            }
        }
        for (int i = 0; i < 8; i++) {
            int status;
            waitpid(pids[i], &status, 0);
            assert_int_equal(status, 0);
        }
        struct fs_names l;
        char folder[16];
        snprintf(folder, sizeof folder, "%u", tree_experiment_id(str_of(name)));
        assert_int_equal(fs_list(p->root, folder, &l, NULL), 0);
        assert_int_equal(l.count, 2);
        fs_names_deinit(&l);
    }
}

/* A run with these facts, ended; the record is the caller's to fill before. */
static struct journal_head head_of(const struct record *r, const char *name)
{
    static char program[] = "/usr/bin/ior", arg[] = "-a";
    static char *argv[] = {program, arg, NULL};
    struct journal_head h = {.experiment = "ior", .run_name = name, .host = "node1", .tree = "", .user = "jo", .job = "", .options = "", .argv = argv, .start_ms = r->start_ms};
    memcpy(h.id, r->id, 33);
    return h;
}

static const char ID[33] = "0123456789abcdef0123456789abcdef";

static int publish(struct place *p, struct record *r, const char *name, struct err *err)
{
    struct journal_head h = head_of(r, name);
    uint32_t id = make(p, "ior", NULL);
    if (r->status == RUN_RUNNING) {
        r->status = RUN_FINISHED;
        r->end_ms = r->start_ms + 1500;
    }
    if (tree_build(r, &h, id, STR("ior"), p->spool, p->spool, "run", err) < 0)
        return -1;
    return tree_publish(p->root, id, r->id, p->spool, "run", err);
}

#define RUN "498177579/0123456789abcdef0123456789abcdef"

static void a_run_lies_as_the_format_says(void **state)
{
    struct place *p = *state;
    struct record r;
    struct err err = {0};
    record_init(&r, ID, 1767225600123);
    r.source = "test";
    record_param(&r, "cpu.model", STR("X \xc3\xbc\n"));
    record_param(&r, "empty", STR(""));
    record_tag(&r, "site", STR("old"));
    record_tag(&r, "site", STR("new"));
    record_metric(&r, "write.max_MiB_per_s", 1234.5, "MiB_per_s", DIR_HIGHER, 0, 1767225600500);
    record_metric(&r, "write.max_MiB_per_s", 0.1, "MiB_per_s", DIR_HIGHER, 1, 1767225600500);
    record_metric_nan(&r, "write.max_MiB_per_s", 2, 1767225600500);
    record_metric(&r, "system/node_0/cpu", 1e20, "percent", DIR_NONE, -1, 1767225600500);
    assert_int_equal(fs_create(p->spool, "out", STR("hello\n"), 0600, NULL), 0);
    record_artifact(&r, "stdout.log", "out");
    record_artifact(&r, "job/copy.txt", "out");
    record_artifact(&r, "lost.txt", "not-there");
    if (publish(p, &r, "a \"name\"\twith\ncontrols ", &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(text_of(p, RUN "/meta.yaml"),
                        "artifact_uri: \"mlruns/" RUN "/artifacts\"\nend_time: 1767225601623\nentry_point_name: \"\"\nexperiment_id: \"498177579\"\nlifecycle_stage: \"active\"\n"
                        "run_id: \"0123456789abcdef0123456789abcdef\"\nrun_name: \"a \\\"name\\\" with controls\"\nsource_name: \"\"\nsource_type: 4\nsource_version: \"\"\n"
                        "start_time: 1767225600123\nstatus: 3\ntags: []\nuser_id: \"jo\"\n");
    assert_string_equal(text_of(p, RUN "/params/cpu.model"), "X \xc3\xbc\n");
    assert_string_equal(text_of(p, RUN "/params/empty"), "");
    assert_string_equal(text_of(p, RUN "/tags/site"), "new");
    assert_string_equal(text_of(p, RUN "/tags/mlflow.runName"), "a \"name\" with controls");
    assert_string_equal(text_of(p, RUN "/metrics/write.max_MiB_per_s"), "1767225600500 1234.5 0\n1767225600501 0.1 1\n1767225600502 nan 2\n");
    assert_string_equal(text_of(p, RUN "/metrics/system/node_0/cpu"), "1767225600500 1e+20 -1\n");
    assert_string_equal(text_of(p, RUN "/artifacts/stdout.log"), "hello\n");
    assert_string_equal(text_of(p, RUN "/artifacts/job/copy.txt"), "hello\n");
    struct stat a, b;
    fstatat(p->spool, "out", &a, 0);
    fstatat(p->root, RUN "/artifacts/stdout.log", &b, 0);
    assert_true(a.st_ino == b.st_ino); /* linked, not copied */
    assert_null(text_of(p, RUN "/artifacts/lost.txt"));
    struct json *j;
    assert_int_equal(json_parse(&j, str_of(text_of(p, RUN "/artifacts/benchwrap.json")), NULL, NULL), 0);
    assert_string_equal(json_string(json_pointer(j, "/missing/0/key"), ""), "artifacts/lost.txt");
    assert_int_equal(json_count(json_get(j, "artifacts")), 2);
    assert_string_equal(json_string(json_pointer(j, "/metrics/write.max_MiB_per_s/unit"), ""), "MiB_per_s");
    assert_true(json_number(json_pointer(j, "/metrics/write.max_MiB_per_s/max"), 0) == 1234.5);
    assert_string_equal(json_string(json_pointer(j, "/metrics/write.max_MiB_per_s/value"), ""), "nan");
    assert_true(json_number(json_pointer(j, "/metrics/write.max_MiB_per_s/samples"), 0) == 3);
    json_free(j);
    assert_int_equal(faccessat(p->spool, "run", F_OK, 0), -1); /* moved, not copied */
    /* The same run a second time: told, not replaced. */
    assert_int_equal(publish(p, &r, "again", &err), 1);
    assert_non_null(strstr(text_of(p, RUN "/meta.yaml"), "controls"));
    record_deinit(&r);
}

static void an_empty_record_survives_a_clone(void **state)
{
    struct place *p = *state;
    struct record r;
    struct err err = {0};
    record_init(&r, ID, 1767225600123);
    if (publish(p, &r, "", &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(text_of(p, RUN "/params/run.program"), "ior");
    assert_string_equal(text_of(p, RUN "/metrics/run.wall_s"), "1767225601623 1.5 0\n");
    assert_string_equal(text_of(p, RUN "/tags/mlflow.runName"), "ior-01234567");
    assert_non_null(text_of(p, RUN "/artifacts/benchwrap.json"));
    record_deinit(&r);
}

static void long_values_are_cut_and_named(void **state)
{
    struct place *p = *state;
    struct record r;
    struct err err = {0};
    char *big = malloc(30000);
    for (int i = 0; i < 30000; i += 2)
        memcpy(big + i, "\xc3\xbc", 2);
    record_init(&r, ID, 1767225600123);
    record_param(&r, "fits", (struct str){big, 12000});
    record_param(&r, "long", (struct str){big, 12002});
    record_tag(&r, "fits", (struct str){big, 16000});
    record_tag(&r, "long", (struct str){big, 16002});
    record_tag(&r, "mlflow.runName", (struct str){big, 600});
    record_tag(&r, "benchwrap.cut", STR("not ours to say"));
    if (publish(p, &r, "x", &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(strlen(text_of(p, RUN "/params/fits")), 12000);
    assert_int_equal(strlen(text_of(p, RUN "/params/long")), 12000);
    assert_int_equal(strlen(text_of(p, RUN "/tags/fits")), 16000);
    assert_int_equal(strlen(text_of(p, RUN "/tags/long")), 16000);
    assert_int_equal(strlen(text_of(p, RUN "/tags/mlflow.runName")), 500);
    assert_string_equal(text_of(p, RUN "/tags/benchwrap.cut"), "param long, tag long");
    assert_non_null(strstr(text_of(p, RUN "/artifacts/benchwrap.json"), "longer than MLflow accepts"));
    record_deinit(&r);
    free(big);
}

static int note_run(void *context, struct tree_run *run)
{
    struct tree_run **list = context;
    run->next = *list;
    *list = run;
    return 0;
}

static const struct tree_entry *entry_of(const struct tree_entry *e, const char *key)
{
    while (e && strcmp(e->key, key) != 0)
        e = e->next;
    return e;
}

static void long_series_keep_their_extremes(void **state)
{
    struct place *p = *state;
    struct record r;
    struct err err = {0};
    struct tree_run *run;
    record_init(&r, ID, 1767225600123);
    for (int i = 0; i < 54321; i++) {
        double v = i == 777 ? 1e9 : i == 40000 ? -1e9 : sin(i / 50.0);
        if (i % 100 == 3)
            record_metric_nan(&r, "m", i, 1767225600123 + i);
        else
            record_metric(&r, "m", v, "s", DIR_LOWER, i, 1767225600123 + i);
    }
    for (int i = 0; i < 1000; i++)
        record_metric(&r, "whole", i, "", DIR_NONE, i, 0);
    for (int i = 0; i < 1001; i++)
        record_metric_nan(&r, "nan", i, 0);
    if (publish(p, &r, "x", &err) != 0 || tree_find(p->root, "0123", TREE_METRICS, &p->arena, &run, &err) != 0)
        fail_msg("%s", err.text);
    assert_null(run->problem);
    const struct tree_entry *e = entry_of(run->metrics, "m");
    bool high = false, low = false;
    assert_true(e->count <= 1000 && e->count > 900);
    for (size_t i = 0; i < e->count; i++) {
        high = high || e->samples[i].value == 1e9;
        low = low || e->samples[i].value == -1e9;
        assert_true(i == 0 || e->samples[i].time_ms > e->samples[i - 1].time_ms);
    }
    assert_true(high && low);
    assert_int_equal(e->samples[e->count - 1].step, 54320);
    assert_int_equal(entry_of(run->metrics, "whole")->count, 1000);
    assert_true(entry_of(run->metrics, "nan")->count <= 1000);
    struct tree_run *complete;
    assert_int_equal(tree_find(p->root, "0123", TREE_METRICS | TREE_COMPLETE, &p->arena, &complete, &err), 0);
    assert_null(complete->problem);
    assert_int_equal(entry_of(complete->metrics, "m")->count, 54321);
    assert_true(entry_of(complete->metrics, "m")->samples[777].value == 1e9 && isnan(entry_of(complete->metrics, "m")->samples[3].value));
    assert_int_equal(entry_of(complete->metrics, "whole")->count, 1000);
    assert_int_equal(entry_of(complete->metrics, "nan")->count, 1001);
    const char *all = text_of(p, RUN "/artifacts/series.jsonl");
    size_t samples = 0, other = 0;
    for (struct str rest = str_of(all), line; (line = str_cut(&rest, '\n')).n;) {
        struct json *l;
        assert_int_equal(json_parse(&l, line, NULL, NULL), 0);
        bool ours = strcmp(json_string(json_get(l, "key"), ""), "m") == 0;
        for (const struct json *one = json_first(json_get(l, "samples")); one; one = json_next(one), ours ? samples++ : other++) {
            int64_t i = (int64_t)samples;
            if (!ours)
                continue;
            assert_int_equal(json_integer(json_at(one, 0), 0), 1767225600123 + i);
            assert_int_equal(json_integer(json_at(one, 1), -1), i);
            if (i % 100 == 3)
                assert_string_equal(json_string(json_at(one, 2), ""), "nan");
            else
                assert_true(json_number(json_at(one, 2), NAN) == (i == 777 ? 1e9 : i == 40000 ? -1e9 : sin((double)i / 50.0)));
        }
        json_free(l);
    }
    assert_int_equal(samples, 54321);
    assert_int_equal(other, 1001);
    struct json *j;
    assert_int_equal(json_parse(&j, str_of(text_of(p, RUN "/artifacts/benchwrap.json")), NULL, NULL), 0);
    assert_int_equal(json_integer(json_pointer(j, "/metrics/m/thinned/bucket"), 0), (54320 + 498) / 499);
    assert_int_equal(json_integer(json_pointer(j, "/metrics/m/thinned/points"), 0), e->count);
    assert_null(json_pointer(j, "/metrics/whole/thinned"));
    json_free(j);
    record_deinit(&r);
}

/* What a copy across file systems leaves when its writer dies before the last step is finished by the next try. */
static void a_copy_without_its_last_step_is_completed(void **state)
{
    struct place *p = *state;
    struct record r;
    struct err err = {0};
    record_init(&r, ID, 1767225600123);
    if (publish(p, &r, "x", &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(unlinkat(p->root, RUN "/meta.yaml", 0), 0);
    if (publish(p, &r, "x", &err) != 0)
        fail_msg("%s", err.text);
    assert_non_null(text_of(p, RUN "/meta.yaml"));
    record_deinit(&r);
}

static void another_file_system_gets_a_copy(void **state)
{
    struct place *p = *state;
    struct stat here, there;
    char other[] = "/dev/shm/bw-tree.XXXXXX";
    if (!mkdtemp(other) || stat(other, &there) < 0 || fstat(p->root, &here) < 0 || here.st_dev == there.st_dev) {
        rmdir(other);
        skip();
    }
    int spool = p->spool;
    struct record r;
    struct err err = {0};
    p->spool = open(other, O_RDONLY | O_DIRECTORY);
    record_init(&r, ID, 1767225600123);
    assert_int_equal(fs_create(p->spool, "out", STR("hello\n"), 0600, NULL), 0);
    record_artifact(&r, "a/b/stdout.log", "out");
    if (publish(p, &r, "x", &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(text_of(p, RUN "/artifacts/a/b/stdout.log"), "hello\n");
    assert_non_null(text_of(p, RUN "/meta.yaml"));
    assert_int_equal(faccessat(p->spool, "run", F_OK, 0), -1);
    struct fs_names l;
    assert_int_equal(fs_list(p->root, "498177579", &l, NULL), 0);
    assert_int_equal(l.count, 3);
    fs_names_deinit(&l);
    assert_int_equal(publish(p, &r, "x", &err), 1);
    record_deinit(&r);
    close(p->spool);
    p->spool = spool;
    fs_remove_tree(AT_FDCWD, other, NULL);
}

static void trees_of_python_are_read(void **state)
{
    struct place *p = *state;
    struct tree_run *run;
    struct err err = {0};
    put(p, "384215794356421873/meta.yaml", "artifact_location: file:///x/384215794356421873\ncreation_time: 1\nexperiment_id: '384215794356421873'\nlifecycle_stage: active\nname: it''s\n");
    put(p, "384215794356421873/meta.yaml", "artifact_location: file:///x/384215794356421873\ncreation_time: 1\nexperiment_id: '384215794356421873'\nlifecycle_stage: active\nname: 'it''s'\n");
    put(p, "384215794356421873/ffff456789abcdef0123456789abcdef/meta.yaml",
        "artifact_uri: file:///home/x y/mlruns/384215794356421873/ffff456789abcdef0123456789abcdef/a\n  b/artifacts\nend_time: 1700000001000\nentry_point_name: ''\nexperiment_id: '384215794356421873'\n"
        "lifecycle_stage: deleted\nrun_id: ffff456789abcdef0123456789abcdef\nrun_name: gr\xc3\xbc\xc3\x9f-1\nrun_uuid: ffff456789abcdef0123456789abcdef\nsource_name: ''\nsource_type: 4\n"
        "source_version: ''\nstart_time: 1700000000000\nstatus: 5\ntags: []\nuser_id: jo\n");
    put(p, "384215794356421873/ffff456789abcdef0123456789abcdef/params/lr", "0.1");
    put(p, "384215794356421873/ffff456789abcdef0123456789abcdef/tags/a/b", "x\n");
    put(p, "384215794356421873/ffff456789abcdef0123456789abcdef/metrics/loss", "1700000000001 inf\n1700000000002 2.5 1\r\n1700000000003 nan 2 set digest\n1700000000004 -3e-2 1");
    if (tree_find(p->root, "ffff", TREE_PARAMS | TREE_METRICS | TREE_TAGS, &p->arena, &run, &err) != 0)
        fail_msg("%s", err.text);
    assert_null(run->problem);
    assert_true(run->experiment_id == 384215794356421873u);
    assert_string_equal(run->experiment, "it's");
    assert_string_equal(run->name, "gr\xc3\xbc\xc3\x9f-1");
    assert_string_equal(run->artifact_uri, "file:///home/x y/mlruns/384215794356421873/ffff456789abcdef0123456789abcdef/a b/artifacts");
    assert_string_equal(run->lifecycle, "deleted");
    assert_string_equal(run->path, "mlruns/384215794356421873/ffff456789abcdef0123456789abcdef");
    assert_true(run->status == RUN_KILLED && run->start_ms == 1700000000000 && run->end_ms == 1700000001000);
    assert_string_equal(entry_of(run->params, "lr")->value.p, "0.1");
    assert_string_equal(entry_of(run->tags, "a/b")->value.p, "x\n");
    const struct tree_entry *e = entry_of(run->metrics, "loss");
    assert_int_equal(e->count, 4);
    assert_true(isinf(e->samples[0].value) && e->samples[0].step == 0 && e->samples[1].value == 2.5 && isnan(e->samples[2].value) && e->samples[3].value == -0.03);
    assert_int_equal(tree_find(p->root, "ffff", TREE_METRICS | TREE_LAST, &p->arena, &run, &err), 0);
    e = entry_of(run->metrics, "loss");
    assert_int_equal(e->count, 1);
    assert_int_equal(e->samples[0].step, 2);
}

static void damaged_runs_are_told(void **state)
{
    static const struct { const char *file, *text, *problem; } rows[] = {
        {"meta.yaml", "", "empty"}, {"meta.yaml", "run_id: x\n", "another run id"}, {"meta.yaml", "status: seven\n", "not an integer"}, {"meta.yaml", "a: [\n", "meta.yaml"},
        {"meta.yaml", "run_id: aaaa456789abcdef0123456789abcdef\nexperiment_id: '2'\n", "another experiment id"},
        {"meta.yaml", "run_id: aaaa456789abcdef0123456789abcdef\nexperiment_id: '1'\nend_time: null\n", "no start_time"},
        {"meta.yaml", "run_id: aaaa456789abcdef0123456789abcdef\nexperiment_id: '1'\nstart_time: 5\nstatus: 9\n", "unknown status"},
        {"meta.yaml", "run_id: aaaa456789abcdef0123456789abcdef\nexperiment_id: '1'\nstart_time: 5\nrun_name: a: b\n", "meta.yaml"},
        {"meta.yaml", "run_id: aaaa456789abcdef0123456789abcdef\nexperiment_id: '1'\nstart_time: 5\nrun_name: a b: c\n", "meta.yaml"},
        {"meta.yaml", "run_id: aaaa456789abcdef0123456789abcdef\nexperiment_id: '1'\nstart_time: 5\nstatus: 3\nuser_id: u\n", NULL},
        {"meta.yaml", "run_id: aaaa456789abcdef0123456789abcdef\nexperiment_id: '1'\nstart_time: 5\nstatus: 3\nrun_name: run 0 - a :b\n", NULL},
        {"metrics/m", "1 2 3\n\n2 3 4\n", "metrics/m:2"}, {"metrics/m", "", "metrics/m is empty"}, {"metrics/m", "1.0 2 3\n", "metrics/m:1"}, {"metrics/m", "1 two 3\n", "metrics/m:1"},
        {"metrics/m", "1 2 3\n", NULL},
    };
    struct place *p = *state;
    put(p, "1/meta.yaml", "experiment_id: '1'\nname: x\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128];
        struct tree_run *run = NULL;
        struct err err = {0};
        snprintf(path, sizeof path, "1/aaaa456789abcdef0123456789abcdef/%s", rows[i].file);
        put(p, path, rows[i].text);
        assert_int_equal(tree_walk(p->root, TREE_METRICS, &p->arena, note_run, &run, &err), 0);
        assert_non_null(run);
        if (rows[i].problem ? !run->problem || !strstr(run->problem, rows[i].problem) : run->problem != NULL)
            fail_msg("row %zu: %s", i, run->problem ? run->problem : "no problem");
    }
    put(p, "1/meta.yaml", "<<<<<<<\n");
    struct tree_run *run = NULL;
    assert_int_equal(tree_walk(p->root, 0, &p->arena, note_run, &run, NULL), 0);
    assert_non_null(run->problem);
    assert_string_equal(run->experiment, "1");
}

static void runs_are_found_by_prefix(void **state)
{
    struct place *p = *state;
    struct tree_run *run = NULL;
    put(p, "1/meta.yaml", "experiment_id: '1'\nname: x\n");
    put(p, "1/abcd000000000000000000000000000a/meta.yaml", "run_id: abcd000000000000000000000000000a\nexperiment_id: '1'\nstart_time: 5\nstatus: 3\n");
    put(p, "1/abcd100000000000000000000000000b/meta.yaml", "run_id: abcd100000000000000000000000000b\nexperiment_id: '1'\nstart_time: 5\nstatus: 3\n");
    put(p, "models/abcd2/meta.yaml", "");
    put(p, ".trash/x/abcd300000000000000000000000000b/meta.yaml", "");
    put(p, "1/tags/abcd", "");
    assert_int_equal(tree_find(p->root, "abcd", 0, &p->arena, &run, NULL), 2);
    assert_int_equal(tree_find(p->root, "abcd1", 0, &p->arena, &run, NULL), 0);
    assert_string_equal(run->id, "abcd100000000000000000000000000b");
    assert_int_equal(tree_find(p->root, "abcd000000000000000000000000000a", 0, &p->arena, &run, NULL), 0);
    assert_string_equal(run->id, "abcd000000000000000000000000000a");
    static const char *const none[] = {"abc", "", "abcd3", "ABCD", "abcd000000000000000000000000000ab", "..", "abcd000000000000000000000000000b", "../1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(tree_find(p->root, none[i], 0, &p->arena, &run, NULL), 1);
}

/* The journal of the test vectors, torn tail and all, becomes the run of the test vectors. UPDATE=1 writes the latter anew. */
static void the_vectors_of_the_format(void **state)
{
    struct place *p = *state;
    struct record r;
    struct journal_head head;
    struct journal_state st;
    struct err err = {0};
    struct buf want CLEANUP_BUF;
    int vectors = open("mlruns-format/vectors", O_RDONLY | O_DIRECTORY);
    assert_true(vectors >= 0);
    if (journal_read(vectors, &r, &head, &st, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(st.lines == 11 && st.started && st.ended && st.all_bytes > st.good_bytes && st.last_ms == 1767225661623);
    uint32_t id = make(p, head.experiment, NULL);
    if (tree_build(&r, &head, id, str_of(head.experiment), p->spool, p->spool, "run", &err) < 0 || tree_publish(p->root, id, r.id, p->spool, "run", &err) != 0)
        fail_msg("%s", err.text);
    char *got = strdup(text_of(p, RUN "/artifacts/benchwrap.json")), *line = strstr(got, "  \"generator\"");
    assert_non_null(line);
    memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n') + 1) + 1); /* the only line that depends on the program */
    if (getenv("UPDATE"))
        fs_write(vectors, "journal.json", str_of(got), 0666, false, NULL);
    buf_init(&want, 1 << 20);
    assert_int_equal(fs_read(vectors, "journal.json", 1 << 19, 0, &want, NULL), 0);
    assert_string_equal(got, want.p);
    assert_string_equal(text_of(p, RUN "/metrics/write.max_MiB_per_s"), "1767225600500 1234.5 0\n1767225600501 nan 9007199254740993\n");
    free(got);
    close(vectors);
    record_deinit(&r);
}

static void a_run_without_its_folder_is_not_published(void **state)
{
    struct place *p = *state;
    struct err err = {0};
    uint32_t id = make(p, "ior", NULL);
    assert_int_equal(tree_publish(p->root, id, "0123456789abcdef0123456789abcdef", p->spool, "absent", &err), -1);
    assert_non_null(strstr(err.text, "cannot publish the run as mlruns/498177579/0123456789abcdef0123456789abcdef: "));
    assert_int_equal(tree_publish(p->root, 7, "0123456789abcdef0123456789abcdef", p->spool, "absent", &err), -1);
    assert_non_null(strstr(err.text, "cannot open mlruns/7: "));
}

static void complete_series_are_read_by_key(void **state)
{
    struct place *p = *state;
    struct folder run = folder_disk(p->spool);
    struct tree_entry *list;
    struct err err = {0};
    assert_int_equal(tree_thinned_read(&run, NULL, &p->arena, &list, &err), 1);
    assert_int_equal(fs_mkdirs(p->spool, "artifacts", 0777, NULL), 0);
    assert_int_equal(fs_write(p->spool, "artifacts/series.jsonl", STR("{\"key\":\"a\",\"samples\":[[1,2,3.5],[4,5,\"NaN\"]]}\n{\"key\":\"b\",\"samples\":[[7,8,9]]}\n"
        "{\"key\":\"a\",\"samples\":[[6,7,8]]}\n"), 0666, false, NULL), 0);
    assert_int_equal(tree_thinned_read(&run, NULL, &p->arena, &list, &err), 0);
    assert_true(strcmp(list->key, "a") == 0 && list->count == 3 && list->samples[0].time_ms == 1 && list->samples[0].step == 2 && list->samples[0].value == 3.5);
    assert_true(isnan(list->samples[1].value) && list->samples[2].value == 8);
    assert_true(strcmp(list->next->key, "b") == 0 && list->next->count == 1 && !list->next->next);
    assert_int_equal(tree_thinned_read(&run, "b", &p->arena, &list, &err), 0);
    assert_true(strcmp(list->key, "b") == 0 && list->samples[0].value == 9 && !list->next);
    assert_int_equal(fs_write(p->spool, "artifacts/series.jsonl", STR("{\"key\":\n"), 0666, false, NULL), 0);
    assert_int_equal(tree_thinned_read(&run, NULL, &p->arena, &list, &err), -1);
    assert_non_null(strstr(err.text, "artifacts/series.jsonl: "));
    assert_int_equal(unlinkat(p->spool, "artifacts/series.jsonl", 0) | mkdirat(p->spool, "artifacts/series.jsonl", 0777), 0);
    assert_int_equal(tree_thinned_read(&run, NULL, &p->arena, &list, &err), -1); /* there, and not a file */
    assert_true(tree_may_be_thinned(SERIES_MAX) && !tree_may_be_thinned(SERIES_MAX + 1) && !tree_may_be_thinned(SERIES_MAX / 3));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(experiment_ids_are_those_of_the_contract), IN_FOLDER(an_experiment_is_six_lines_and_a_tag), IN_FOLDER(names_are_made_legal), IN_FOLDER(an_id_of_another_name_is_left_alone),
        IN_FOLDER(a_name_that_python_uses_is_not_doubled), IN_FOLDER(a_damaged_experiment_is_told_and_kept), IN_FOLDER(many_creators_agree), IN_FOLDER(a_run_lies_as_the_format_says),
        IN_FOLDER(an_empty_record_survives_a_clone), IN_FOLDER(long_values_are_cut_and_named), IN_FOLDER(long_series_keep_their_extremes), IN_FOLDER(a_copy_without_its_last_step_is_completed),
        IN_FOLDER(another_file_system_gets_a_copy), IN_FOLDER(trees_of_python_are_read), IN_FOLDER(damaged_runs_are_told), IN_FOLDER(runs_are_found_by_prefix),
        IN_FOLDER(the_vectors_of_the_format), IN_FOLDER(a_run_without_its_folder_is_not_published), IN_FOLDER(complete_series_are_read_by_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
