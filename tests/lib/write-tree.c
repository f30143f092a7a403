/* link: core */
/* write-tree.c: writes trees with libmlruns, and beside each run what a reader must find: write-tree DIR WHAT [COUNT].
 *
 * DIR/mlruns is the tree, DIR/expect.jsonl has one object a run: {"id", "experiment", "name", "status", "params", "tags", "metrics": {key: [[time, step, value]…]}}.
 * WHAT: keys (all key characters, Unicode, long and empty values, names that YAML would take for something else), series (1,000 steps and
 * 20,000 thinned, extreme values), many COUNT (small runs in ten experiments), bulk COUNT (as many, only for measuring: nothing expected). */
#include "base/clock.h"
#include "base/fs.h"
#include "mlruns-format/tree.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t BEGIN = INT64_C(1767225600000);

struct writer {
    int dir, root, spool;
    FILE *expect; /* NULL: nothing expected */
    int count;
};

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "write-tree: %s: %s\n", what, err->text);
    exit(1);
}

static void json(struct buf *b, struct str s, const char *after)
{
    buf_json(b, s);
    buf_puts(b, after);
}

static void expect_texts(struct buf *b, const char *name, const struct record *r, enum fact_kind kind, const char *run_name)
{
    const char *sep = "";
    buf_printf(b, ", \"%s\": {", name);
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == kind) {
            buf_puts(b, sep);
            json(b, f->key, ": ");
            json(b, f->text, "");
            sep = ", ";
        }
    if (run_name) {
        buf_printf(b, "%s\"mlflow.runName\": ", sep);
        json(b, str_of(run_name), "");
    }
    buf_putc(b, '}');
}

static void expect_metrics(struct buf *b, const struct record *r)
{
    const char *sep = "";
    buf_puts(b, ", \"metrics\": [");
    for (const struct fact *f = r->first; f; f = f->next)
        if (f->kind == FACT_METRIC) {
            buf_printf(b, "%s[", sep);
            json(b, f->key, "");
            buf_printf(b, ", %lld, %lld, ", (long long)f->time_ms, (long long)f->step);
            if (isnan(f->value))
                buf_puts(b, "\"nan\"");
            else
                buf_printf(b, "%.17g", f->value); /* another way than the library's */
            buf_putc(b, ']');
            sep = ", ";
        }
    buf_puts(b, "]");
}

static void begin(struct writer *w, struct record *r)
{
    char id[33];
    record_new_id(id);
    record_init(r, id, BEGIN + w->count++ * 1000);
    r->source = "test";
}

/* Ends the record, takes it through a journal into the tree, and notes what is expected. */
static void finish(struct writer *w, struct record *r, const char *experiment, const char *name, enum run_status status)
{
    static char program[] = "prog", arg[] = "--size=1";
    char *argv[] = {program, arg, NULL};
    struct err err = {0};
    struct journal_head head = {.experiment = experiment, .run_name = name, .host = "node1", .tree = "", .user = "jo", .job = "", .options = "", .argv = argv, .start_ms = r->start_ms};
    memcpy(head.id, r->id, sizeof head.id);
    uint32_t id;
    struct str taken;
    r->status = status;
    r->end_ms = r->start_ms + 1500;
    if (tree_experiment(w->root, str_of(experiment), &r->arena, &id, &taken, &err) < 0 ||
        tree_build(r, &head, id, taken, w->spool, w->spool, "run", &err) < 0 || tree_publish(w->root, id, r->id, w->spool, "run", &err) != 0)
        die("cannot write a run", &err);
    if (w->expect) {
        struct buf b CLEANUP_BUF;
        buf_init(&b, 64 << 20);
        buf_printf(&b, "{\"id\": \"%s\", \"experiment\": ", r->id);
        json(&b, str_of(experiment), ", \"name\": ");
        json(&b, str_of(name), "");
        buf_printf(&b, ", \"status\": \"%s\"", record_status_name(status));
        expect_texts(&b, "params", r, FACT_PARAM, NULL);
        expect_texts(&b, "tags", r, FACT_TAG, name);
        expect_metrics(&b, r);
        buf_puts(&b, "}\n");
        if (b.failed || fwrite(b.p, 1, b.n, w->expect) != b.n)
            die("cannot note what is expected", &err);
    }
    record_deinit(r);
}

static void write_keys(struct writer *w)
{
    static const char *const keys[] = {"a", "B.c-d_e f/g", "0", "9.9", "x/y/z", "_", "-", "a b c", "sub/_-._-", "UPPER", "system/node_0/cpu"};
    static const char *const values[] = {"", " ", "plain", "0123", "1_0", "yes", "null", "~", "2026-11-20", "12:30:45", "- a", "a: b #c", "{\"a\": [1]}", "quo\"te's",
                                         "back\\slash", "two\nlines", "end\n", "\n", "cr\r\nlf", "tab\t", "bell\a esc\x1b[0m", "form\x0c feed\x0b vt", "x\xe2\x80\xa8y\xc2\x85z",
                                         "Gr\xc3\xbc\xc3\x9f" "e \xe2\x98\x83 \xf0\x9f\x98\x80 \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d e\xcc\x81", "\xef\xbb\xbf" "bom", "\xef\xbf\xbe"};
    static const char *const names[] = {"yes", "0123", "1e3", "null", "- a", "a: b", "quo\"te's", "back\\slash", "\xe2\x98\x83 \xf0\x9f\x98\x80", "#", "@x", "&a *a", "!t", "12:30:45", "{", "%"};
    struct record r;
    char key[256], value[8001];
    memset(key, 'k', 250);
    key[250] = 0;
    memset(value, 'v', sizeof value - 1);
    value[8000] = 0;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        begin(w, &r);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            record_param(&r, keys[i], str_of(values[(n + i) % (sizeof values / sizeof *values)]));
            record_tag(&r, keys[i], str_of(values[(n + i * 7 + 1) % (sizeof values / sizeof *values)]));
            record_metric(&r, keys[i], (double)i / 3, "s", DIR_LOWER, 0, 0);
        }
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            char k[32];
            snprintf(k, sizeof k, "value.n%zu", i);
            record_param(&r, k, str_of(values[i]));
        }
        record_param(&r, key, (struct str){value, 6000});
        record_tag(&r, key, (struct str){value, 8000});
        record_metric(&r, key, 1, "", DIR_NONE, 0, 0);
        finish(w, &r, n % 2 ? "keys - all_._" : "keys", names[n], n % 3 == 0 ? RUN_FINISHED : n % 3 == 1 ? RUN_FAILED : RUN_KILLED);
    }
}

static void write_series(struct writer *w)
{
    static const double extremes[] = {0, -0.0, 1, -1, 1e308, 5e-324, 0.1, 1.0 / 3, 123456789012345678.0, 1e-7, 9007199254740993.0, 2.5e15};
    struct record r;
    begin(w, &r);
    for (int i = 0; i < 1000; i++)
        record_metric(&r, "steps_MiB_per_s", sqrt(i), "MiB_per_s", DIR_HIGHER, i, r.start_ms + i);
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++)
        record_metric(&r, "extreme", extremes[i], "", DIR_NONE, (int64_t)i, r.start_ms);
    record_metric(&r, "steps.negative", 1, "", DIR_NONE, -5, r.start_ms);
    for (int i = 0; i < 3; i++) {
        record_metric(&r, "same", 7, "", DIR_NONE, 0, r.start_ms); /* equal samples get other times */
        record_metric_nan(&r, "nans", 0, r.start_ms);
    }
    record_metric(&r, "infinite", INFINITY, "", DIR_NONE, 0, 0);
    finish(w, &r, "series", "a series", RUN_FINISHED);
    FILE *keep = w->expect;
    w->expect = NULL; /* thinned: other tests say how */
    begin(w, &r);
    for (int i = 0; i < 20000; i++)
        record_metric(&r, "system/long", sin(i / 500.0), "", DIR_NONE, i, r.start_ms + 10 * i);
    finish(w, &r, "series", "a long series", RUN_FINISHED);
    w->expect = keep;
}

static void write_many(struct writer *w, int count)
{
    for (int i = 0; i < count; i++) {
        struct record r;
        char name[32], experiment[32];
        snprintf(name, sizeof name, "run %d", i);
        snprintf(experiment, sizeof experiment, "many %d", i % 10);
        begin(w, &r);
        record_param_int(&r, "number", i);
        record_param_double(&r, "third", i / 3.0);
        record_tag(&r, "site", STR("here"));
        unsigned own = 0; /* runs of two calls have values of their own: equal ones are copies */
        for (int k = 0; k < 8; k++)
            own = own * 31 + (unsigned char)r.id[k];
        record_metric(&r, "run.wall_s", 1.5 + i + own % 100000 / 1e6, "s", DIR_LOWER, 0, r.start_ms + 1500);
        record_artifact(&r, "stdout.log", "stdout.log");
        record_artifact(&r, "job/a b \xc3\xbc.txt", "stdout.log");
        finish(w, &r, experiment, name, RUN_FINISHED);
    }
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct writer w = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: write-tree DIR keys|series|many|bulk [COUNT]\n");
        return 2;
    }
    int64_t count = 300;
    if (argc > 3 && !str_int(str_of(argv[3]), &count))
        return 2;
    char tree[4096];
    snprintf(tree, sizeof tree, "%s/mlruns", argv[1]);
    if (fs_mkdirs(AT_FDCWD, tree, 0777, &err) < 0)
        die("cannot begin", &err);
    snprintf(tree, sizeof tree, "%s/spool", argv[1]);
    if (fs_mkdirs(AT_FDCWD, tree, 0777, &err) < 0)
        die("cannot begin", &err);
    w.dir = open(argv[1], O_RDONLY | O_DIRECTORY);
    w.root = openat(w.dir, "mlruns", O_RDONLY | O_DIRECTORY);
    w.spool = openat(w.dir, "spool", O_RDONLY | O_DIRECTORY);
    if (fs_write(w.spool, "stdout.log", STR("what the program said\n"), 0666, false, &err) < 0)
        die("cannot begin", &err);
    if (strcmp(argv[2], "bulk") != 0) {
        int fd = openat(w.dir, "expect.jsonl", O_WRONLY | O_CREAT | O_APPEND, 0666);
        w.expect = fd < 0 ? NULL : fdopen(fd, "a");
        if (!w.expect)
            return 1;
    }
    if (strcmp(argv[2], "keys") == 0)
        write_keys(&w);
    else if (strcmp(argv[2], "series") == 0)
        write_series(&w);
    else
        write_many(&w, (int)count);
    return w.expect && fclose(w.expect) != 0;
}
