/* mcp_kubernetes_job.c: one Job or pod of Kubernetes with exit codes, events and its runs, and the end of a pod's log. */
#include "mcp/mcp_kubernetes.h"

#include <string.h>

enum { HOST_NAME_BYTES = 63 /* of a pod's name, as its own HOSTNAME has it */ };

static const char *kube_object_name(const struct json *object)
{
    return json_string(json_pointer(object, "/metadata/name"), "");
}

/* ---- containers ---- */

/* Writes how a container ended. */
static void kube_put_ending(struct kube *k, struct json_out *to, const char *key, const struct json *ended)
{
    if (!ended) {
        json_null(to, key);
        return;
    }
    json_open(to, key, '{');
    kube_number(to, "exit_code", json_get(ended, "exitCode"));
    kube_number(to, "signal", json_get(ended, "signal"));
    kube_text(k, to, "reason", json_get(ended, "reason"));
    kube_text(k, to, "message", json_get(ended, "message"));
    kube_text(k, to, "started", json_get(ended, "startedAt"));
    kube_text(k, to, "finished", json_get(ended, "finishedAt"));
    json_close(to, '}');
}

/* Writes a container with its state, and how it ended, also the time before; of a state that is not
 * known null. */
static void kube_put_container(struct kube *k, struct json_out *to, const struct json *c, bool is_init)
{
    const struct json *state = json_get(c, "state"), *waiting = json_get(state, "waiting"), *ended = json_get(state, "terminated");
    json_open(to, NULL, '{');
    kube_text(k, to, "name", json_get(c, "name"));
    json_flag(to, "init", is_init);
    kube_text(k, to, "image", json_get(c, "image"));
    json_text(to, "state", ended ? "terminated" : waiting ? "waiting" : json_get(state, "running") ? "running" : NULL);
    kube_text(k, to, "reason", json_get(waiting ? waiting : ended, "reason"));
    kube_text(k, to, "message", json_get(waiting ? waiting : ended, "message"));
    kube_number(to, "restarts", json_get(c, "restartCount"));
    kube_put_ending(k, to, "ended", ended);
    kube_put_ending(k, to, "ended_before", json_pointer(c, "/lastState/terminated"));
    json_close(to, '}');
}

/* Writes all containers of the pod, those that initialise it first. */
static void kube_put_containers(struct kube *k, struct json_out *to, const struct json *pod)
{
    json_open(to, "containers", '[');
    for (const struct json *c = json_first(json_pointer(pod, "/status/initContainerStatuses")); c; c = json_next(c))
        kube_put_container(k, to, c, true);
    for (const struct json *c = json_first(json_pointer(pod, "/status/containerStatuses")); c; c = json_next(c))
        kube_put_container(k, to, c, false);
    json_close(to, ']');
}

/* Writes the pods with state, node and containers. */
static void kube_put_pods(struct kube *k, struct json_out *to, const struct json *pods)
{
    json_open(to, "pods", '[');
    for (const struct json *p = json_first(pods); p; p = json_next(p)) {
        json_open(to, NULL, '{');
        kube_text(k, to, "name", json_pointer(p, "/metadata/name"));
        kube_pod_state(k, to, p, true);
        kube_text(k, to, "node", json_pointer(p, "/spec/nodeName"));
        kube_put_containers(k, to, p);
        kube_age(k, to, p);
        json_close(to, '}');
    }
    json_close(to, ']');
}

/* Writes the Job with its state, counts and times. */
static void kube_put_job_object(struct kube *k, struct json_out *to, const struct json *job)
{
    json_open(to, "job", '{');
    kube_text(k, to, "name", json_pointer(job, "/metadata/name"));
    kube_text(k, to, "namespace", json_pointer(job, "/metadata/namespace"));
    kube_job_state(k, to, job, true);
    kube_number(to, "completions", json_pointer(job, "/spec/completions"));
    kube_number(to, "parallelism", json_pointer(job, "/spec/parallelism"));
    kube_job_counts(to, job);
    kube_text(k, to, "started", json_pointer(job, "/status/startTime"));
    kube_text(k, to, "finished", json_pointer(job, "/status/completionTime"));
    kube_age(k, to, job);
    json_close(to, '}');
}

/* ---- events ---- */

/* Returns whether the event is about the Job or one of its pods. */
static bool kube_is_event_of(const struct json *event, const struct json *job, const struct json *pods)
{
    const char *uid = json_string(json_pointer(event, "/involvedObject/uid"), "");
    if (job && strcmp(json_string(json_pointer(job, "/metadata/uid"), ""), uid) == 0)
        return true;
    for (const struct json *p = json_first(pods); p; p = json_next(p))
        if (strcmp(json_string(json_pointer(p, "/metadata/uid"), ""), uid) == 0)
            return true;
    return false;
}

/* Writes the events of the job and its pods, or that events are missing and why. */
static void kube_put_events(struct kube *k, struct json_out *to, const struct json *job, const struct json *pods)
{
    static const char *const words[] = {"events", NULL};
    struct json *events = kube_get(k, words, true);
    if (!events) {
        mcp_cluster_missing(k->call, to, "events");
        return;
    }
    json_open(to, "events", '[');
    for (const struct json *e = json_first(json_get(events, "items")); e; e = json_next(e)) {
        const struct json *last = json_get(e, "lastTimestamp");
        if (!kube_is_event_of(e, job, pods))
            continue;
        json_open(to, NULL, '{');
        kube_text(k, to, "type", json_get(e, "type"));
        kube_text(k, to, "object", json_pointer(e, "/involvedObject/name"));
        kube_text(k, to, "reason", json_get(e, "reason"));
        kube_text(k, to, "message", json_get(e, "message"));
        kube_number(to, "count", json_get(e, "count"));
        kube_text(k, to, "last", json_is_string(last) ? last : json_get(e, "eventTime"));
        json_close(to, '}');
    }
    json_close(to, ']');
    json_free(events);
}

/* ---- the runs in the tree ---- */

/* Returns whether it is the name of a pod in the list, as a run has it. */
static bool kube_is_pod_name(const struct json *pods, const char *name)
{
    for (const struct json *p = json_first(pods); p; p = json_next(p))
        if (*name && strncmp(kube_object_name(p), name, HOST_NAME_BYTES) == 0)
            return true;
    return false;
}

/* Returns whether the run was recorded in one of the pods. A run without a namespace was recorded
 * where that is not visible; its pod's name decides. */
static bool kube_is_run_of(const struct json *run, const struct json *pods)
{
    const char *space = json_string(json_get(run, "tags.job.namespace"), NULL),
               *own = json_string(json_pointer(json_first(pods), "/metadata/namespace"), "");
    return kube_is_pod_name(pods, json_string(json_get(run, "tags.job.pod"), "")) && (!space || strcmp(space, own) == 0);
}

static bool kube_has_run(const struct json *runs, const struct json *pods, const char *id)
{
    for (const struct json *r = json_first(runs); r; r = json_next(r))
        if (strcmp(json_string(json_get(r, "run_id"), ""), id) == 0)
            return kube_is_run_of(r, pods);
    return false;
}

/* Appends the elements of a list that belong to runs of the pods. key_of_run: the member with the run's id. */
static void kube_put_run_rows(struct json_out *to, const char *key, const struct json *rows, const char *key_of_run,
                              const struct json *runs, const struct json *pods)
{
    json_open(to, key, '[');
    for (const struct json *r = json_first(rows); r; r = json_next(r))
        if (kube_has_run(runs, pods, json_string(json_get(r, key_of_run), "")))
            json_tree(to, NULL, r);
    json_close(to, ']');
}

/* Writes the runs that benchwrap recorded in the job's pods and their archived texts, or which of
 * these are missing and why. */
static void kube_put_runs(struct kube *k, struct json_out *to, const char *name, const struct json *pods)
{
    struct mcp_call *call = k->call;
    const char *filter = arena_printf(call->a, "--filter=tags.`job.pod` LIKE '%.50s%%'", name);
    const char *find[] = {"ls",    "--json",
                          "--all", "--columns=run_id,run_name,experiment,status,start_time,tags.job.pod,tags.job.namespace",
                          filter,  NULL},
               *archive[] = {"grep", "--json", "--all", filter, NULL}; /* all texts: there is no job script */
    struct json *runs = mcp_call_words(call, find, NULL), *lines = runs ? mcp_call_words(call, archive, "^") : NULL;
    if (!runs)
        mcp_cluster_missing(call, to, "runs");
    else if (!lines)
        mcp_cluster_missing(call, to, "archive");
    if (runs)
        kube_put_run_rows(to, "runs", runs, "run_id", runs, pods);
    if (lines)
        kube_put_run_rows(to, "archive", lines, "run", runs, pods);
    json_free(runs);
    json_free(lines);
}

/* ---- one job ---- */

int kube_job(struct mcp_call *call, struct json_out *to)
{
    const char *name = mcp_call_text(call, "job");
    struct kube k;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (!kube_is_name(name)) {
        call->why = "job: expected the name of a Job or a pod";
        return -1;
    }
    if (kube_begin(&k, call) < 0)
        return -1;
    const char *job_words[] = {"jobs.batch", name, NULL}, *of_job[] = {"pods", arena_printf(call->a, "--selector=job-name=%s", name), NULL},
               *of_name[] = {"pods", arena_printf(call->a, "--field-selector=metadata.name=%s", name), NULL};
    struct json *job = kube_get(&k, job_words, true);
    const char *no_job = call->why;
    struct json *list = call->cancelled ? NULL : kube_get(&k, job ? of_job : of_name, true);
    const struct json *pods = json_get(list, "items");
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    bool found = job || json_count(pods);
    if (job)
        kube_put_job_object(&k, &j, job);
    if (found && list)
        kube_put_pods(&k, &j, pods);
    else if (found)
        mcp_cluster_missing(call, &j, "pods");
    if (found && !call->cancelled)
        kube_put_events(&k, &j, job, pods);
    if (found && !call->cancelled)
        kube_put_runs(&k, &j, name, pods);
    json_close(&j, '}');
    if (!found && !call->cancelled)
        call->why = list ? arena_printf(call->a, "no pod has this name, and no Job: %s", no_job) : call->why;
    json_free(job);
    json_free(list);
    kube_end(&k);
    return call->cancelled || !found ? -1 : mcp_call_composed(call, buf_text(&b), to);
}

/* ---- a log ---- */

/* Answers with the last lines of a daemon's journal on this machine. -1 with call->why. */
static int kube_daemon_log(struct mcp_call *call, const char *daemon, struct json_out *to)
{
    CLEANUP_BUF struct buf log;
    buf_init(&log, 2 * MCP_CLUSTER_BYTES);
    if (strncmp(daemon, "slurm", 5) == 0) {
        call->why = "daemon: this cluster is Kubernetes: expected kubelet, containerd or crio, or instead the argument pod";
        return -1;
    }
    return mcp_cluster_journal(call, daemon, &log) < 0 ? -1 : mcp_cluster_lines(call, buf_text(&log), "the journal", to);
}

int kube_log(struct mcp_call *call, struct json_out *to)
{
    const char *pod = mcp_call_text(call, "pod"), *container = mcp_call_text(call, "container"), *daemon = mcp_call_text(call, "daemon");
    const char *line[10] = {"kubectl", "logs", "--request-timeout=8s", arena_printf(call->a, "--tail=%d", mcp_cluster_line_count(call))};
    size_t n = 4;
    struct kube k;
    struct query q;
    if (!pod == !daemon)
        call->why = "expected either pod or daemon";
    else if (pod && !kube_is_name(pod))
        call->why = "pod: expected the name of a pod";
    else if (container && !kube_is_name(container))
        call->why = "container: expected the name of a container";
    if (call->why)
        return -1;
    if (daemon)
        return kube_daemon_log(call, daemon, to);
    if (kube_begin(&k, call) < 0)
        return -1;
    if (k.space)
        line[n++] = k.space;
    if (container)
        line[n++] = arena_printf(call->a, "--container=%s", container);
    if (json_bool(json_get(call->arguments, "previous"), false))
        line[n++] = "--previous";
    line[n] = pod;
    int rc = mcp_cluster_program(call, line, &q);
    if (rc == 0)
        rc = mcp_cluster_lines(call, buf_text(&q.text), arena_printf(call->a, "pod %s", pod), to);
    query_close(&q);
    kube_end(&k);
    return rc;
}
