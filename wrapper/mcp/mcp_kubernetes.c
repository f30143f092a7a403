/* mcp_kubernetes.c: Kubernetes as a cluster of agents, by kubectl: pods and Jobs, nodes. It reads objects, and changes none. */
#include "mcp/mcp_kubernetes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int kube_begin(struct kube *k, struct mcp_call *call)
{
    struct err err = {0};
    const char *space = mcp_call_text(call, "namespace");
    *k = (struct kube){.call = call, .now_s = (int64_t)time(NULL)};
    if (space && !kube_is_name(space)) {
        call->why = "namespace: expected a name of small letters, digits and -";
        return -1;
    }
    k->space = space ? arena_printf(call->a, "--namespace=%s", space) : NULL;
    if (redaction_begin_here(&k->redaction, call->options->is_public, call->options->env, &err) == 0)
        return 0;
    redaction_end(&k->redaction);
    call->why = arena_printf(call->a, "%s", err.text);
    return -1;
}

void kube_end(struct kube *k)
{
    redaction_end(&k->redaction);
}

bool kube_is_name(const char *text)
{
    enum { NAME_MAX_BYTES = 253 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    size_t n = strlen(text);
    return n > 0 && n <= NAME_MAX_BYTES && strspn(text, letters) == n && text[0] != '-' && text[0] != '.';
}

struct json *kube_get(struct kube *k, const char *const *words, bool in_namespace)
{
    enum { WORDS_MOST = 12 };
    const char *line[WORDS_MOST + 6] = {"kubectl", "get"};
    size_t n = 2;
    struct query q;
    struct json *doc = NULL;
    struct err err = {0};
    for (size_t i = 0; i < WORDS_MOST && words[i]; i++)
        line[n++] = words[i];
    line[n++] = "--output=json";
    line[n++] = "--request-timeout=8s";
    if (in_namespace && k->space)
        line[n++] = k->space;
    if (mcp_cluster_program(k->call, line, &q) == 0 && json_parse(&doc, buf_text(&q.text), NULL, &err) < 0)
        k->call->why = arena_printf(k->call->a, "kubectl's output is no JSON: %s", err.text);
    query_close(&q);
    return doc;
}

/* ---- texts ---- */

void kube_text(struct kube *k, struct json_out *to, const char *key, const struct json *node)
{
    const char *text = json_string(node, NULL);
    char *clean = text ? redaction_text(&k->redaction, text, k->call->a) : NULL;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    if (!clean || !*clean) {
        json_null(to, key);
        return;
    }
    buf_plain(&b, str_of(clean), MCP_CLUSTER_TEXT);
    json_str(to, key, buf_text(&b));
}

void kube_age(struct kube *k, struct json_out *to, const struct json *object)
{
    const struct json *created = json_pointer(object, "/metadata/creationTimestamp");
    struct tm tm = {0};
    int64_t age = strptime(json_string(created, ""), "%Y-%m-%dT%H:%M:%SZ", &tm) ? k->now_s - (int64_t)timegm(&tm) : -1;
    kube_text(k, to, "created", created);
    if (age >= 0)
        json_int(to, "age_s", age);
    else
        json_null(to, "age_s");
}

void kube_number(struct json_out *to, const char *key, const struct json *node)
{
    if (json_is_number(node))
        json_int(to, key, json_integer(node, 0));
    else
        json_null(to, key);
}

void kube_job_counts(struct json_out *to, const struct json *job)
{
    static const char *const keys[] = {"active", "succeeded", "failed"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_int(to, keys[i], json_integer(json_get(json_get(job, "status"), keys[i]), 0)); /* Kubernetes leaves out zeros here */
}

/* ---- states ---- */

static const struct json *kube_find_condition(const struct json *object, const char *type)
{
    for (const struct json *c = json_first(json_pointer(object, "/status/conditions")); c; c = json_next(c))
        if (strcmp(json_string(json_get(c, "type"), ""), type) == 0)
            return c;
    return NULL;
}

static bool kube_is_condition(const struct json *condition, const char *status)
{
    return strcmp(json_string(json_get(condition, "status"), ""), status) == 0;
}

/* Returns the state of the first container that waits or has failed; NULL: there is none. */
static const struct json *kube_find_trouble(const struct json *pod)
{
    static const char *const lists[] = {"/status/initContainerStatuses", "/status/containerStatuses"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct json *c = json_first(json_pointer(pod, lists[i])); c; c = json_next(c)) {
            const struct json *waiting = json_pointer(c, "/state/waiting"), *ended = json_pointer(c, "/state/terminated");
            if (waiting || (ended && json_integer(json_get(ended, "exitCode"), 0) != 0))
                return waiting ? waiting : ended;
        }
    return NULL;
}

const char *kube_pod_state(struct kube *k, struct json_out *to, const struct json *pod, bool own)
{
    const struct json *why = json_get(pod, "status"), *placed = kube_find_condition(pod, "PodScheduled");
    bool ends = json_string(json_pointer(pod, "/metadata/deletionTimestamp"), NULL) != NULL;
    const char *state = ends ? "Terminating" : json_string(json_get(why, "phase"), "Unknown");
    if (!json_get(why, "reason") && kube_is_condition(placed, "False"))
        why = placed;
    else if (!json_get(why, "reason"))
        why = kube_find_trouble(pod);
    json_text(to, "state", state);
    kube_text(k, to, "reason", json_get(why, "reason"));
    if (own)
        kube_text(k, to, "message", json_get(why, "message"));
    return state;
}

const char *kube_job_state(struct kube *k, struct json_out *to, const struct json *job, bool own)
{
    static const char *const types[] = {"Failed", "Complete", "FailureTarget", "SuccessCriteriaMet", "Suspended"};
    const char *state = json_integer(json_pointer(job, "/status/active"), 0) > 0 ? "Running" : "Pending";
    const struct json *why = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types && !why; i++) {
        const struct json *c = kube_find_condition(job, types[i]);
        if (kube_is_condition(c, "True")) {
            state = types[i];
            why = c;
        }
    }
    json_text(to, "state", state);
    kube_text(k, to, "reason", json_get(why, "reason"));
    if (own)
        kube_text(k, to, "message", json_get(why, "message"));
    return state;
}

/* ---- the queue ---- */

static const char *kube_object_space(const struct json *object)
{
    return json_string(json_pointer(object, "/metadata/namespace"), "");
}

/* Writes whether the object is the caller's own, and only then what names it. */
static void kube_put_names(struct kube *k, struct json_out *to, const struct json *object, bool own)
{
    json_flag(to, "own", own);
    if (!own)
        return;
    kube_text(k, to, "name", json_pointer(object, "/metadata/name"));
    kube_text(k, to, "namespace", json_pointer(object, "/metadata/namespace"));
}

/* Returns how often the containers of a pod were restarted. */
static int64_t kube_count_restarts(const struct json *pod)
{
    int64_t n = 0;
    for (const struct json *c = json_first(json_pointer(pod, "/status/containerStatuses")); c; c = json_next(c))
        n += json_integer(json_get(c, "restartCount"), 0);
    return n;
}

/* Writes the members of a pod, and counts its state. Names only where it is the caller's own. */
static void kube_put_pod(struct kube *k, struct json_out *to, const struct json *pod, bool own, struct mcp_state_counts *states)
{
    kube_put_names(k, to, pod, own);
    mcp_cluster_count(states, str_of(kube_pod_state(k, to, pod, own)));
    if (own)
        kube_text(k, to, "owner", json_pointer(pod, "/metadata/ownerReferences/0/name"));
    kube_text(k, to, "node", json_pointer(pod, "/spec/nodeName"));
    json_int(to, "restarts", kube_count_restarts(pod));
    kube_age(k, to, pod);
}

static void kube_put_job(struct kube *k, struct json_out *to, const struct json *job, bool own, struct mcp_state_counts *states)
{
    kube_put_names(k, to, job, own);
    mcp_cluster_count(states, str_of(kube_job_state(k, to, job, own)));
    kube_number(to, "completions", json_pointer(job, "/spec/completions"));
    kube_job_counts(to, job);
    kube_age(k, to, job);
}

/* Writes one list of the queue. all: of all namespaces; what is in another one than the caller's
 * has no name. */
static int kube_put_queue(struct kube *k, struct json_out *to, const char *kind, const char *key, bool all,
                          void (*put)(struct kube *k, struct json_out *to, const struct json *object, bool own,
                                      struct mcp_state_counts *states))
{
    const char *here[] = {kind, NULL}, *everywhere[] = {kind, "--all-namespaces", NULL};
    struct json *own = kube_get(k, here, true), *list = own && all ? kube_get(k, everywhere, false) : NULL;
    const char *space = kube_object_space(json_first(json_get(own, "items")));
    struct mcp_state_counts states = {.count = 0};
    int rc = list || (own && !all) ? 0 : -1;
    if (rc < 0) {
        k->why = k->call->why;
        mcp_cluster_missing(k->call, to, key);
    } else {
        json_open(to, key, '[');
        for (const struct json *o = json_first(json_get(all ? list : own, "items")); o; o = json_next(o)) {
            json_open(to, NULL, '{');
            put(k, to, o, !all || (*space && strcmp(kube_object_space(o), space) == 0), &states);
            json_close(to, '}');
        }
        json_close(to, ']');
        mcp_cluster_counts(to, arena_printf(k->call->a, "%s_by_state", key), &states);
    }
    json_free(own);
    json_free(list);
    return rc;
}

/* Appends the jobs and pods of the namespace. One of both is enough. -1: call->why has the reason. */
static int kube_queue(struct mcp_call *call, struct json_out *to)
{
    bool all = json_bool(json_get(call->arguments, "all"), false);
    struct kube k;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (kube_begin(&k, call) < 0)
        return -1;
    struct json_out j = json_begin(&b, JSON_TIGHT, '{');
    int jobs = kube_put_queue(&k, &j, "jobs.batch", "jobs", all, kube_put_job),
        pods = call->cancelled ? -1 : kube_put_queue(&k, &j, "pods", "pods", all, kube_put_pod);
    json_close(&j, '}');
    kube_end(&k);
    call->why = k.why;
    return call->cancelled || (jobs < 0 && pods < 0) ? -1 : mcp_call_composed(call, buf_text(&b), to);
}

/* ---- nodes ---- */

static const char node_states[] = "ready|notready|unknown|cordoned";

/* Returns whether the text is empty, or words of node_states with commas between them. */
static bool kube_are_node_states(const char *text)
{
    for (struct str rest = str_of(text); *text && rest.p;) {
        struct str word = str_cut(&rest, ',');
        bool known = false;
        for (struct str states = STR(node_states); states.p && !known;)
            known = str_eq(word, str_cut(&states, '|'));
        if (!known)
            return false;
    }
    return true;
}

/* Returns whether the node is in one of the requested states, which commas separate; "": any is. */
static bool kube_has_state(const char *wanted, const char *state, bool cordoned)
{
    for (struct str rest = str_of(wanted); *wanted && rest.p;) {
        struct str word = str_cut(&rest, ',');
        if (str_is_anycase(word, state) || (cordoned && str_is(word, "cordoned")))
            return true;
    }
    return !*wanted;
}

/* Writes the conditions of the node as a list. */
static void kube_put_conditions(struct kube *k, struct json_out *to, const struct json *node)
{
    const struct json *list = json_pointer(node, "/status/conditions");
    json_open(to, "conditions", '[');
    for (const struct json *c = json_first(list); c; c = json_next(c)) {
        json_open(to, NULL, '{');
        kube_text(k, to, "type", json_get(c, "type"));
        kube_text(k, to, "status", json_get(c, "status"));
        kube_text(k, to, "reason", json_get(c, "reason"));
        kube_text(k, to, "message", json_get(c, "message"));
        kube_text(k, to, "since", json_get(c, "lastTransitionTime"));
        json_close(to, '}');
    }
    json_close(to, ']');
}

/* Writes the taints of the node as a list. */
static void kube_put_taints(struct kube *k, struct json_out *to, const struct json *node)
{
    json_open(to, "taints", '[');
    for (const struct json *t = json_first(json_pointer(node, "/spec/taints")); t; t = json_next(t)) {
        json_open(to, NULL, '{');
        kube_text(k, to, "key", json_get(t, "key"));
        kube_text(k, to, "value", json_get(t, "value"));
        kube_text(k, to, "effect", json_get(t, "effect"));
        json_close(to, '}');
    }
    json_close(to, ']');
}

/* Writes what pods can get: texts in Kubernetes' own units, such as "64" and "263856564Ki". */
static void kube_put_allocatable(struct kube *k, struct json_out *to, const struct json *node)
{
    json_open(to, "allocatable", '{');
    for (const struct json *x = json_first(json_pointer(node, "/status/allocatable")); x; x = json_next(x))
        kube_text(k, to, json_key(x), x);
    json_close(to, '}');
}

/* Writes a node whose state the caller requested, with taints, conditions and what it can allocate.
 * Others are ignored. */
static void kube_put_node(struct kube *k, struct json_out *to, const struct json *node, const char *wanted)
{
    const struct json *ready = kube_find_condition(node, "Ready");
    bool cordoned = json_bool(json_pointer(node, "/spec/unschedulable"), false);
    const char *state = kube_is_condition(ready, "True") ? "Ready" : kube_is_condition(ready, "False") ? "NotReady" : "Unknown";
    if (!kube_has_state(wanted, state, cordoned))
        return;
    json_open(to, NULL, '{');
    kube_text(k, to, "node", json_pointer(node, "/metadata/name"));
    json_text(to, "state", state);
    kube_text(k, to, "reason", json_get(ready, "reason"));
    kube_text(k, to, "message", json_get(ready, "message"));
    kube_text(k, to, "since", json_get(ready, "lastTransitionTime"));
    json_flag(to, "unschedulable", cordoned);
    kube_put_taints(k, to, node);
    kube_put_conditions(k, to, node);
    kube_put_allocatable(k, to, node);
    kube_text(k, to, "kubelet", json_pointer(node, "/status/nodeInfo/kubeletVersion"));
    kube_age(k, to, node);
    json_close(to, '}');
}

/* Appends the nodes of the cluster with these states. -1: call->why has the reason. */
static int kube_nodes(struct mcp_call *call, struct json_out *to)
{
    static const char *const words[] = {"nodes", NULL};
    const char *state = mcp_call_text(call, "state"), *wanted = state ? state : "";
    struct kube k;
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 20);
    if (!kube_are_node_states(wanted)) {
        call->why = "state: expected ready, notready, unknown or cordoned, with commas between them";
        return -1;
    }
    if (kube_begin(&k, call) < 0)
        return -1;
    struct json *nodes = kube_get(&k, words, false);
    struct json_out j = json_begin(&b, JSON_TIGHT, '[');
    for (const struct json *n = json_first(json_get(nodes, "items")); n; n = json_next(n))
        kube_put_node(&k, &j, n, wanted);
    json_close(&j, ']');
    kube_end(&k);
    int rc = nodes ? mcp_call_composed(call, buf_text(&b), to) : -1;
    json_free(nodes);
    return rc;
}

const struct mcp_cluster mcp_kubernetes = {
    .name = "kubernetes",
    .title = "Kubernetes",
    .program = "kubectl",
    .answer = {[MCP_QUEUE] = kube_queue, [MCP_NODES] = kube_nodes, [MCP_JOB] = kube_job, [MCP_LOG] = kube_log}};
