/* server.h: queries the service: whether it is ready, what it is, its own settings. */
#ifndef LLMLOAD_SERVER_H
#define LLMLOAD_SERVER_H
#include "base/http.h"
#include "base/json.h"
#include "base/json_out.h"
#include "benchmarks/native/llmload/load.h"

#include <sys/types.h>

/* A client for one of the load's addresses. */
struct llm_server {
    struct http *http;
    const char *base; /* scheme://host:port, and what goes before every path */
    const char *query; /* that goes behind every path */
    enum dialect dialect;
    const char *api_path; /* of requests, behind base */
    const struct load *load; /* whose secrets its answers may repeat */
    const char *max_field; /* the name of the member that limits an answer's length */
    pid_t pid; /* 0: not known */
    int cancel, stop, deadline; /* an epoll descriptor of the other two, which ends requests; the caller's cancel_fd; a timer */
    struct arena arena;
};
/* Requests are stopped as soon as cancel_fd can be read (-1: none); it stays the caller's.
 * ERR_SYSTEM: no libcurl, no descriptor. */
int server_open(struct llm_server *ret, const struct load *load, size_t which, pid_t pid, int cancel_fd, struct err *err);
/* Sets the time limit for all further requests together, in seconds. */
void server_patience(struct llm_server *s, double seconds);
/* Returns whether cancel_fd can be read. */
bool server_is_cancelled(const struct llm_server *s);
void server_deinit(struct llm_server *s);
/* GET (body NULL) or POST of JSON. 0: a reply came (its status is in *ret); -1: none, ret->trouble
 * has the kind. Free with http_reply_deinit in both cases. */
int server_ask(struct llm_server *s, const char *path, const char *body, struct http_reply *ret, struct err *err);
/* Returns the reply's JSON if the status is 200, which the caller frees with json_free; else NULL. */
struct json *server_json(struct llm_server *s, const char *path);
/* Returns false where the process of --server-pid is gone. */
bool server_lives(const struct llm_server *s);

/* ready.c: seconds from the beginning of waiting until each gate was passed; NaN: not passed, or
 * the server has no such page. */
struct readiness {
    double connect_s, health_s, model_s, answer_s;
    unsigned tries;
};
/* Waits at most limit_s. Three gates: a connection is accepted; /health answers 200 (Ollama:
 * /api/version) and the model is listed; a request of one token is answered. *model NULL is set to
 * the first that is listed (in the server's arena). ERR_REMOTE: not ready in time, or 401, 403,
 * 404, or a refusal that waiting does not mend; ERR_SYSTEM: its process is gone, or cancel_fd can
 * be read. */
int server_ready(struct llm_server *s, const char **model, double limit_s, struct readiness *ret, struct err *err);
/* Members of the result, `,"server_ready_…":…`. */
void server_ready_json(const struct readiness *r, struct json_out *j);
/* The first model that is listed; NULL: the list cannot be had. In the server's arena. */
const char *server_first_model(struct llm_server *s);

/* facts.c */
enum { FACTS_MAX = 64 };
struct facts {
    const char *kind, *version; /* "vllm", "sglang", "llama.cpp", "tgi", "ollama"; NULL: not known */
    struct {
        const char *key, *value; /* as the server names them */
    } fact[FACTS_MAX];
    size_t count;
};
/* Requests all pages that are known to have facts; a page that fails is no error. Texts are in the
 * server's arena. */
void server_facts(struct llm_server *s, struct facts *ret);
void server_facts_json(const struct facts *f, struct json_out *j); /* server_kind, server_settings … */
#endif
