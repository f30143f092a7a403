/* mcp_kubernetes.h: objects of Kubernetes as kubectl prints them, and what answers show of them. */
#ifndef MCP_MCP_KUBERNETES_H
#define MCP_MCP_KUBERNETES_H
#include "mcp/mcp_cluster.h"

/* One answer. Only the members that it names are copied: values of environments and secrets are in none of them. */
struct kube {
    struct mcp_call *call;
    struct redaction redaction;
    int64_t now_s; /* since 1970 */
    const char *space; /* option --namespace=NAME, or NULL: that of the user's configuration */
    const char *why; /* why the last part of an answer is missing */
};
/* Checks the argument `namespace`. 0 (kube_end is due); -1: call->why. */
int kube_begin(struct kube *k, struct mcp_call *call);
void kube_end(struct kube *k);
/* Returns whether the text is a name of an object as Kubernetes permits it: no option, no path,
 * nothing of a shell. */
bool kube_is_name(const char *text);
/* Runs `kubectl get WORDS --output=json`; words end with NULL. Returns its output, which the caller
 * frees with json_free; NULL with the reason in call->why. */
struct json *kube_get(struct kube *k, const char *const *words, bool in_namespace);

/* Appends a text without secrets; null where the node is none. */
void kube_text(struct kube *k, struct json_out *to, const char *key, const struct json *node);
/* Appends an integer; null where the node is none. */
void kube_number(struct json_out *to, const char *key, const struct json *node);
/* Appends "active", "succeeded" and "failed": how many pods of the Job. */
void kube_job_counts(struct json_out *to, const struct json *job);
/* Appends "created" and "age_s", which is null where the time is not known or in the future by this
 * machine's clock. */
void kube_age(struct kube *k, struct json_out *to, const struct json *object);
/* Appends "state", "reason" and, of the caller's own, "message" of a pod, and returns its state. */
const char *kube_pod_state(struct kube *k, struct json_out *to, const struct json *pod, bool own);
/* Appends the same members of a Job, and returns its state. */
const char *kube_job_state(struct kube *k, struct json_out *to, const struct json *job, bool own);

/* Answers the tool "job": one Job or pod, its events and its runs. Returns -1 with call->why. */
int kube_job(struct mcp_call *call, struct json_out *to);
/* Answers the tool "log": the last lines of a pod's container, or of a daemon. Returns -1 with
 * call->why. */
int kube_log(struct mcp_call *call, struct json_out *to);
#endif
