/* provider_kubernetes.c: a Job through kubectl for each task, or an indexed one for many (--array). Not yet tried on a live system.
 *
 * The image must hold the stub at the path of --stub, or the nodes must have it there: the folder is mounted read-only from the node. */
#include "base/json.h"
#include "base/json_out.h"
#include "benchmarks/native/taskrate/queue.h"

#include <stdio.h>
#include <string.h>

static enum provider_how kubernetes_how(const struct bench *b)
{
    return b->set.array ? HOW_BULK : HOW_DETACHED;
}

static void kubernetes_identity(struct buf *to)
{
    CLEANUP_BUF struct buf out;
    buf_init(&out, 4096);
    if (queue_ask(NULL, &out, NULL, "kubectl", "config", "current-context", NULL) == 0)
        buf_str(to, str_trim(buf_text(&out)));
}

/* Returns the number of complete processors in "4" or "3920m". */
static size_t whole_cpus(const char *text)
{
    struct str s = str_of(text);
    uint64_t n;
    bool milli = str_ends(s, "m");
    if (milli)
        s.n--;
    return str_uint(s, &n) ? (size_t)(milli ? n / 1000 : n) : 0;
}

static size_t kubernetes_count_cpus(const struct json *nodes)
{
    size_t all = 0;
    for (const struct json *i = json_first(json_get(nodes, "items")); i; i = json_next(i)) {
        bool ready = false;
        for (const struct json *c = json_first(json_pointer(i, "/status/conditions")); c; c = json_next(c))
            ready |=
                strcmp(json_string(json_get(c, "type"), ""), "Ready") == 0 && strcmp(json_string(json_get(c, "status"), ""), "True") == 0;
        if (ready && !json_bool(json_pointer(i, "/spec/unschedulable"), false))
            all += whole_cpus(json_string(json_pointer(i, "/status/allocatable/cpu"), ""));
    }
    return all;
}

/* Reads nodes and version of the cluster. -1 with err, which states that nothing was submitted. */
static int kubernetes_begin(struct bench *b, struct err *err)
{
    CLEANUP_BUF struct buf out;
    struct json *json = NULL;
    buf_init(&out, (size_t)16 << 20);
    queue_untried(b);
    if (!b->set.image)
        return err_set(
            err, ERR_USAGE,
            "kubernetes needs the container image of a task: --image NAME (one that holds the stub at %s, or nodes that have it there)",
            b->set.stub);
    if (queue_ask(b, &out, err, "kubectl", "get", "nodes", "-o", "json", NULL) < 0)
        return err_wrap(err, "cannot read the nodes of the cluster, so nothing was submitted");
    if (json_parse(&json, buf_text(&out), NULL, err) < 0)
        return err_wrap(err, "kubectl get nodes");
    b->slots = (unsigned)kubernetes_count_cpus(json);
    json_free(json);
    b->slots_from = "allocatable processors of nodes that are ready";
    if (!b->slots)
        return err_set(err, ERR_REMOTE, "no node of the cluster is ready and accepts pods; nothing was submitted");
    buf_clear(&out);
    json = NULL;
    if (queue_ask(b, &out, NULL, "kubectl", "version", "-o", "json", NULL) == 0 && json_parse(&json, buf_text(&out), NULL, NULL) == 0) {
        bench_fact(b, "kubernetes.version", str_of(json_string(json_pointer(json, "/serverVersion/gitVersion"), "")));
        json_free(json);
    }
    b->scheduler_version = bench_fact_of(b, "kubernetes.version");
    return 0;
}

static size_t kubernetes_chunk(const struct bench *b)
{
    (void)b;
    return 10000;
}

static void kubernetes_put_label(struct json_out *j, const struct bench *b)
{
    json_open(j, "labels", '{');
    json_text(j, "taskrate", b->tag);
    json_close(j, '}');
}

/* Makes `kubectl create` for the tasks of s, with the job as JSON on its standard input. -1 with
 * err: out of memory. */
static int kubernetes_line(struct bench *b, struct submission *s, struct err *err)
{
    struct argument_words task = {.n = 0};
    struct buf *to = s->input;
    const char *slash = strrchr(b->set.stub, '/');
    if (queue_line(b, s, err, "kubectl", "create", "-f", "-", NULL) < 0 || words_join(&s->argv, &b->set.extra, err) < 0 ||
        provider_task(b, s, s->first, b->set.array ? "JOB_COMPLETION_INDEX" : NULL, 0, &task, err) < 0)
        return -1;
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    struct str folder = {b->set.stub, (size_t)(slash - b->set.stub)};
    json_members(&j, STR("\"apiVersion\":\"batch/v1\",\"kind\":\"Job\""));
    json_open(&j, "metadata", '{');
    json_printf(&j, "generateName", "\"%s-\"", b->tag);
    kubernetes_put_label(&j, b);
    json_close(&j, '}');
    json_open(&j, "spec", '{');
    json_int(&j, "backoffLimit", 0);
    if (b->set.array) {
        json_text(&j, "completionMode", "Indexed");
        json_uint(&j, "completions", s->count);
        json_uint(&j, "parallelism", s->count);
    }
    json_open(&j, "template", '{');
    json_open(&j, "metadata", '{');
    kubernetes_put_label(&j, b);
    json_close(&j, '}');
    json_open(&j, "spec", '{');
    json_text(&j, "restartPolicy", "Never");
    json_open(&j, "containers", '[');
    json_open(&j, NULL, '{');
    json_text(&j, "name", "task");
    json_text(&j, "image", b->set.image);
    json_text(&j, "imagePullPolicy", "IfNotPresent");
    json_texts(&j, "command", (const char *const *)task.word, task.n);
    json_members(&j, STR("\"resources\":{\"requests\":{\"cpu\":\"1\"}}"));
    json_open(&j, "volumeMounts", '[');
    json_open(&j, NULL, '{');
    json_text(&j, "name", "stub");
    json_str(&j, "mountPath", folder);
    json_flag(&j, "readOnly", true);
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    json_close(&j, ']');
    json_open(&j, "volumes", '[');
    json_open(&j, NULL, '{');
    json_text(&j, "name", "stub");
    json_open(&j, "hostPath", '{');
    json_str(&j, "path", folder);
    for (const char *end = "}}]}}}}"; *end; end++)
        json_close(&j, *end);
    buf_putc(to, '\n');
    return to->failed ? err_set(err, ERR_INPUT, "the Job object is too long") : 0;
}

/* Counts the pods of this run's Jobs; ret->known stays false where the query fails. */
static void kubernetes_ask(struct bench *b, struct queue *ret)
{
    CLEANUP_BUF struct buf out;
    struct json *json = NULL;
    const char *label = arena_printf(&b->arena, "taskrate=%s", b->tag);
    buf_init(&out, (size_t)64 << 20);
    *ret = (struct queue){0};
    if (!label || queue_ask(b, &out, NULL, "kubectl", "get", "jobs", "-l", label, "-o", "json", NULL) < 0 ||
        json_parse(&json, buf_text(&out), NULL, NULL) < 0)
        return;
    ret->known = true;
    for (const struct json *i = json_first(json_get(json, "items")); i; i = json_next(i)) {
        int64_t all = json_integer(json_pointer(i, "/spec/completions"), 1), done = json_integer(json_pointer(i, "/status/succeeded"), 0),
                failed = json_integer(json_pointer(i, "/status/failed"), 0);
        int64_t active = json_integer(json_pointer(i, "/status/active"), 0), ready = json_integer(json_pointer(i, "/status/ready"), active);
        if (failed) /* with backoffLimit 0 the Job is over */
            continue;
        ret->running += (size_t)(ready > 0 ? ready : 0);
        ret->waiting += all - done - ready > 0 ? (size_t)(all - done - ready) : 0;
    }
    json_free(json);
}

static int kubernetes_cancel(const char *tag, struct err *err)
{
    char label[64];
    CLEANUP_BUF struct buf out;
    buf_init(&out, (size_t)1 << 20);
    snprintf(label, sizeof label, "taskrate=%s", tag);
    return queue_ask(NULL, &out, err, "kubectl", "delete", "jobs", "-l", label, "--ignore-not-found=true", "--cascade=background",
                     "--wait=false", NULL);
}

const struct task_provider provider_kubernetes = {
    .name = "kubernetes",
    .summary = "a Job for each task; --array: one indexed Job (not yet tried on a live system)",
    .path = "client -> kubectl -> API server -> job controller -> scheduler -> kubelet -> container -> process",
    .remote = true,
    .cap = 500,
    .rate = 10,
    .clients = 2,
    .tasks = 50,
    .chain = 3,
    .how = kubernetes_how,
    .begin = kubernetes_begin,
    .line = kubernetes_line,
    .chunk = kubernetes_chunk,
    .ask = kubernetes_ask,
    .identity = kubernetes_identity,
    .cancel = kubernetes_cancel};
