/* load.h: the description of one run, from the options. */
#ifndef LLMLOAD_LOAD_H
#define LLMLOAD_LOAD_H
#include "benchmarks/native/llmload/metrics.h"
#include "base/arena.h"
#include "base/opt.h"

enum dialect { DIALECT_CHAT, DIALECT_COMPLETIONS, DIALECT_OLLAMA_CHAT, DIALECT_OLLAMA_GENERATE, DIALECT_TRITON, DIALECTS };
extern const struct dialect_row {
    const char *name, *path; /* "openai-chat", "/v1/chat/completions"; of Triton the end of the path */
    const char *health; /* path that answers 200 where the server is ready */
    bool ollama; /* its own protocol: lines of JSON, its own counts and places */
    bool chat; /* the prompt is messages, not a text */
    bool by_model; /* paths name the model, bodies do not */
    bool bare_end; /* its streams have no last event */
} dialects[DIALECTS];

enum arrivals { ARRIVALS_CLOSED, ARRIVALS_CONSTANT, ARRIVALS_POISSON, ARRIVALS_GAMMA, ARRIVALS_BURSTS, ARRIVALS_TRACE, ARRIVALS_KINDS };
extern const char *const arrivals_names[ARRIVALS_KINDS];

/* A value that changes in time: straight pieces one after the other; the last one's end value holds
 * without limit. "10", "1-100@60s,100@2m". */
enum { PROFILE_MAX = 64 };
struct profile {
    struct {
        double from, to, seconds;
    } piece[PROFILE_MAX];
    unsigned n; /* 0: not given */
};
double profile_at(const struct profile *p, double t);
double profile_most(const struct profile *p); /* its highest value */
double profile_seconds(const struct profile *p); /* of all pieces */

struct input_hashes; /* inputs.h */

struct load {
    struct input_hashes *inputs; /* where files of the load are noted; NULL: nowhere */
    const char **urls; /* http://host:port[/path], https://…, unix:/path/of/socket[:/path] */
    size_t url_count;
    const char *shown_url; /* the first, as printed: without its query, which may hold a key */
    bool least_in_flight; /* else round robin */
    enum dialect dialect;
    const char *model, *key, *proxy, *ca_file;
    const char **headers; /* "Name: value" */
    size_t header_count;
    struct str extra_body; /* members added to every body, without braces */
    bool stream, ignore_eos, insecure, http2, continuous_usage, token_ids;
    uint32_t max_tokens; /* 0: the server's default */
    const char *max_field; /* "max_tokens", "max_completion_tokens" */
    double temperature; /* below 0: not sent */
    const char *source_address; /* that connections come from, several with commas between; NULL */
    bool drop; /* open loop: what would wait for a slot is dropped */
    double cooldown_s; /* load continues after the window */
    const char *path; /* of requests: that of --path, else the dialect's */
    bool user_clock; /* no kernel stamps */

    enum arrivals arrivals;
    struct profile rate; /* requests per second, open loop */
    struct profile concurrency; /* closed loop: streams; open loop: most in flight at once (n 0: no limit) */
    double burstiness; /* shape of the gamma distribution; 1: Poisson */
    double burst_on_s, burst_off_s;
    const char *trace; /* file */
    double trace_speed; /* 2: twice as fast */
    uint64_t requests; /* measured ones; 0: by time */
    double duration_s; /* of the measurement; 0: by count */
    double warmup_s, grace_s;
    uint64_t warmup_requests;
    unsigned turns; /* of a session; 1: none */
    double think_s; /* mean pause between turns (exponential) */
    double cancel_share, cancel_after_s;
    double connect_s, ttft_s, stall_s, request_s; /* time limits; 0: none */
    uint64_t seed;
    uint64_t prompts_used; /* by the levels of a sweep before this one */
    unsigned threads; /* 0: one per CPU that this process may use */
    unsigned share, shares; /* of several agents this one sends index % shares == share; 0 of 1 */
    struct objectives objectives;
    const char *objectives_name; /* preset, or NULL */
    const char *schedule_out; /* file that the schedule is written to */
};

/* Reads the checked options into ret; texts point into the set or the arena. ERR_USAGE names the
 * option. */
int load_read(struct load *ret, const struct opt_set *set, struct arena *arena, struct err *err);
/* A load by count ends if each of so many agents keeps a slot to the last; else ERR_USAGE. */
int load_check_end(const struct load *l, unsigned agents, struct err *err);
/* Replaces this client's API key and the values of its headers by asterisks in the n bytes of a text
 * that a server answered, and the beginning of one at its end. A caller that shortens or escapes the
 * text does so afterwards. */
void load_hide_secrets(const struct load *l, char *text, size_t n);
#endif
