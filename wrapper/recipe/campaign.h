/* campaign.h: execute a recipe: start services, measure each point, end everything, record it. */
#ifndef RECIPE_CAMPAIGN_H
#define RECIPE_CAMPAIGN_H
#include "base/query.h"
#include "recipe/campaign_state.h"
#include "recipe/keeper.h"
#include "recipe/recipe_plan.h"
#include "repeat/repeat_state.h"

#include <stdio.h>

struct addrinfo;

/* A place on a node for an instance of a role. */
struct campaign_seat {
    const char *node; /* name */
    const char *host; /* address that others reach it by */
    size_t instance;
    unsigned group; /* of a heterogeneous job */
    unsigned ports[RECIPE_PORTS_MAX];
};

struct campaign_process {
    struct keeper keeper;
    const char *component;
    const struct campaign_seat *seat;
};

/* A role that is a service, while it is up. */
struct campaign_service {
    const struct recipe_role *role;
    struct arena arena; /* of all below, until it is stopped */
    bool is_up;
    char hash[SHA256_HEX]; /* of the part that it was started for */
    const char *endpoint; /* of one that runs already; NULL */
    const char *token; /* file with the token that requests carry; NULL: none */
    struct recipe_port ports[RECIPE_PORTS_MAX]; /* names */
    size_t port_count;
    struct campaign_seat *seats;
    size_t seat_count, open_count; /* seats; those that clients reach */
    struct campaign_process *processes;
    size_t process_count, process_room;
};

struct campaign_node {
    const char *name, *address;
    struct addrinfo *known; /* the address on the network, resolved once: later a name server may not answer. NULL: not known */
    unsigned group; /* of a heterogeneous job */
};

/* The machines of the campaign. */
struct campaign_hosts {
    bool is_slurm; /* processes start by srun */
    bool is_het; /* the allocation is a heterogeneous job */
    struct campaign_node *nodes;
    size_t count;
};

/* The results so far, for monitors. */
struct campaign_results {
    bool is_running, has_last;
    double requests, errors; /* sums */
    double throughput, latency_s, tokens_per_request; /* of the last run; NAN: not known */
};

/* The process of campaign_monitor.h. */
struct campaign_monitor {
    struct child_work work;
    int control; /* closing it ends the process; -1: none */
};
#define CAMPAIGN_MONITOR_NONE ((struct campaign_monitor){.work = CHILD_WORK_NONE, .control = -1})

struct campaign_options {
    bool resume, new_one, preflight_only;
    size_t points; /* end after so many; 0: all */
    const char *tree_option;
};

struct campaign {
    const struct recipe *recipe;
    struct recipe_planned planned;
    struct campaign_options options;
    struct campaign_hosts hosts;
    struct campaign_state state;
    struct repeat_state repeat; /* records the parent run */
    struct campaign_service services[RECIPE_ROLES_MAX]; /* by role */
    struct campaign_process client; /* the measured program */
    struct campaign_process others[RECIPE_ROLES_MAX]; /* other clients, and further instances */
    size_t other_count;
    struct arena *arena; /* of the complete campaign */
    char **env;
    FILE *notes;
    struct http *http;
    int signals; /* signalfd */
    int signal; /* that ends the campaign; 0: none */
    int64_t end_ns; /* with a signal: when the tear-down must be over, monotonic */
    double grace_s;
    int64_t next_beat_ns;
    size_t order; /* of runs */
    double initialise_s, teardown_s, report_s; /* before the first point; of what is up after the last one; until logs are merged */
    bool is_partial; /* --points has ended it */
    bool is_over; /* no more points: max_time, or on_failure: stop */
    double most_s; /* max_time; 0: none */
    size_t done; /* points of this execution */
    bool was_closed; /* the record of the execution before this one is complete */
    struct campaign_results results;
    struct campaign_monitor monitor;
    struct campaign_alerts *alerts; /* of campaign_alerts.c; NULL before its begin */
    struct campaign_beats *beats; /* of campaign_beats.c; NULL: nodes are not watched */
    const char *customs[64]; /* names of monitoring.custom */
    size_t custom_count;
    bool is_shared; /* another job ran on a node of the campaign when the present run began */
    size_t heat_unknown; /* runs whose node does not report whether it slowed down for heat */
    bool preflight_done; /* the checks that are made once have passed */
    char **checked; /* programs that all nodes of the allocation have */
    size_t checked_count, checked_room;
    const char *known_options[RECIPE_ROLES_MAX]; /* by role: hash of the part whose options were checked; NULL: none */
};

/* Executes the recipe. Returns the exit status: 0: every point is valid; 1: some are not; 128 + a signal;
 * -1 with err: it could not begin. */
int campaign_execute(struct campaign *c, const char *tree, struct err *err);
/* Before the recipe is submitted as a job: refuses what the job would refuse because the recipe has changed, and makes the steps of `prepare` on
 * this host. 0; 1: all points are finished; -1 with err. */
int campaign_before_submit(struct campaign *c, const char *tree, struct err *err);

/* ---- parts of it (campaign_*.c) ---- */

/* Prints one line to c->notes, which is standard error. */
void campaign_say(const struct campaign *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Waits for signals and for ends of processes, at most so many milliseconds; keeps the journal alive. */
void campaign_wait(struct campaign *c, int ms);
/* Ends the campaign as this signal does: all processes get SIGTERM at the same time, and the tear-down is over 2 s after their grace. A
 * second call ends the grace. */
void campaign_cancel(struct campaign *c, int number);
/* The parts of a tear-down in their order. Each leaves time for those behind it. */
enum campaign_stage {
    CAMPAIGN_PROCESSES,
    CAMPAIGN_STEPS, /* of Slurm, and the monitor */
    CAMPAIGN_LOGS
};
/* Milliseconds until this monotonic time, and in a campaign that a signal ends at most until the stage must be over; 0: no time is left. */
int campaign_left_ms(const struct campaign *c, enum campaign_stage stage, int64_t until_ns);
/* The monotonic time when the grace is over that begins now, and so many milliseconds. */
int64_t campaign_grace_end(const struct campaign *c, int more_ms);
/* Stops the keeper, waits for it until this time at most, and frees it. What is known of its program stays. False: it is still there. */
bool campaign_end_keeper(struct campaign *c, struct keeper *k, int64_t until_ns);
/* Waits for a query, at most so long. A signal or a lost node ends the wait; in the tear-down, the time of its stage does. */
enum query_end campaign_query_wait(struct campaign *c, struct query *q, int limit_ms);
/* The process of a service that has ended though its service is up; NULL: none. */
const struct campaign_process *campaign_dead_process(struct campaign *c);

/* Starts the services of the point that are not up already, and stops those that differ. Durations of the
 * phases are added to the point. 0; 1: failed or cancelled, *ret_why states why. */
int campaign_services_up(struct campaign *c, const struct recipe_point *p, struct campaign_point *state, const char **ret_why);
/* Stops one service, or (NULL) all, and waits for their end. */
void campaign_services_down(struct campaign *c, struct campaign_service *one);
/* Waits until a process is ready; NULL: a service that runs already. 0; 1 with *ret_why. */
int campaign_wait_ready(struct campaign *c, const struct recipe_ready *ready, const struct campaign_service *service,
                        const struct campaign_process *process, const char **ret_why);
/* Which service of the point no longer answers where it was ready, in words. It starts again for the next
 * point. NULL: all answer, or cannot be checked. In the campaign's arena. */
const char *campaign_services_silent(struct campaign *c, const struct recipe_point *p);
/* Does the port accept a connection, within 2 s and before a signal? */
bool campaign_can_connect(const struct campaign *c, const char *host, unsigned port);
/* Sends the requests of a service that is ready, such as one that loads a model. 0; 1 with *ret_why. */
int campaign_send_requests(struct campaign *c, const struct recipe_part *part, const struct campaign_service *service,
                           const char **ret_why);

/* What {NAME} stands for while a point runs. */
struct campaign_scope {
    struct campaign *c;
    const struct campaign_service *service; /* whose process is about to start; NULL: a client's */
    const struct campaign_seat *seat; /* NULL: none */
    struct arena *arena;
};
const char *campaign_lookup(void *context, struct str name); /* a recipe_lookup */
/* Seats of a part at a point, on the campaign's nodes. NULL with *ret_why: there are not enough nodes. */
struct campaign_seat *campaign_seats(struct campaign *c, const struct recipe_point *p, const struct recipe_part *part, struct arena *a,
                                     const char **ret_why);
/* The command line that starts words on the seat's node, or tasks on all nodes of the part. In the arena;
 * NULL: out of memory. */
char **campaign_start_words(struct campaign *c, const struct recipe_part *part, const struct campaign_seat *seats, size_t seat,
                            char **words, struct arena *a);
/* The nodes of the allocation that this process is in. 0; -1 with err. */
int campaign_slurm_hosts(struct campaign_hosts *ret, struct arena *a, struct err *err);
/* The beginning of the command line of a step that watches all nodes of the allocation while the
 * campaign runs: srun and its options. name: of the step. In the arena; NULL: out of memory. */
char **campaign_slurm_watch(const struct campaign_hosts *h, const char *name, struct arena *a);
/* Counts the NVIDIA GPUs of the node that this process runs on. */
unsigned campaign_node_gpus(void);
/* Returns whether a process uses one of these GPUs; false where nvidia-smi does not report it. c: NULL where there is no campaign. */
bool campaign_node_gpus_busy(struct campaign *c);
/* Returns the available memory of that node in bytes. */
uint64_t campaign_node_memory(void);
/* Returns the name of that node in the allocation; "?": not known. */
const char *campaign_node_name(void);
/* One line about that node: "node NAME TIME_MS PORTS_UP PORTS_DOWN MEMORY_MIB GPUS_BUSY MISSING_PROGRAM …". */
void campaign_node_print(char *const *programs, FILE *out);
/* What `benchwrap recipe WORDS` prints on each node of the allocation, by one step. 0; -1 with err. */
int campaign_slurm_each(struct campaign *c, char *const *words, struct buf *ret, struct err *err);
/* Such a line of each node of the allocation, by one step. The times are before and after it. 0; -1 with err. */
int campaign_slurm_facts(struct campaign *c, char *const *programs, struct buf *ret, int64_t *ret_from_ms, int64_t *ret_to_ms,
                         struct err *err);
/* Is there a program of this name or path? */
bool campaign_has_program(const char *word);
/* The path of benchwrap. In the arena; NULL: out of memory. */
const char *campaign_own_program(struct arena *a);
/* Does another job run on a node of the allocation? 1, 0; -1: Slurm does not answer. */
int campaign_slurm_other_jobs(struct campaign *c);
/* Why nothing can be measured in the allocation any more: its job has ended, or a node is lost. In the campaign's arena; NULL:
 * it is still there, or Slurm does not answer. */
const char *campaign_slurm_lost(struct campaign *c);
/* Kills steps of this execution, or those of one name (NULL: all), that have survived their srun. */
void campaign_slurm_clean(struct campaign *c, const char *name);
/* The environment of a process: benchwrap's own, then the part's (NULL: none), with values of its secret
 * files. In the arena; NULL: out of memory. */
char **campaign_process_env(const struct recipe_part *part, struct arena *a);
/* The path of a row of `secret_files`. In the arena; NULL: out of memory. */
const char *campaign_secret_path(const struct yaml *file, struct arena *a);
/* COMPONENT.INSTANCE.NODE, which begins the names of the files of a process's output. In the arena; NULL: out of memory. */
const char *campaign_log_name(const char *component, const struct campaign_seat *seat, struct arena *a);
/* What a process with this name of its logs has printed last on standard error, and where: ": LINE (logs/NAME.err)". In the campaign's arena. */
const char *campaign_last_line(struct campaign *c, const char *log_name);
/* Starts a keeper for the words, with its output in logs/COMPONENT.INSTANCE.NODE.out and .err. 0; -1 with err. */
int campaign_start(struct campaign *c, struct campaign_process *ret, const char *component, const struct campaign_seat *seat, char **words,
                   char **env, bool is_launcher, struct arena *a, struct err *err);
/* The port that clients of the service use: `http`, else the first one; 0: none. */
unsigned campaign_client_port(const struct campaign_service *s, const struct campaign_seat *seat);
/* Reserves ports for a seat: those of the recipe where they are free. 0; -1 with err. */
int campaign_take_ports(struct campaign *c, const struct recipe_part *part, struct campaign_seat *seat, struct err *err);

/* Measures the point with its services up: warm-up, runs, gate. Sets the outcome. 0; -1 with err: the
 * campaign cannot continue. */
int campaign_measure(struct campaign *c, const struct recipe_point *p, struct campaign_point *state, struct err *err);
/* Why the run is not valid; NULL: it is. In the campaign's arena. */
const char *campaign_gate(struct campaign *c, const struct recipe_values *values, const struct series_repetition *run);
/* Which condition a run of llmload does not meet that has ended with an error although it measured: the service answered with nothing. NULL: none, or
 * the client failed. In the campaign's arena. */
const char *campaign_unmet(struct campaign *c, const struct recipe_values *values, const struct series_repetition *run);
/* What is written before a run for campaign_gate after it: does another job run on a node of the campaign? */
void campaign_gate_begin(struct campaign *c);
/* The truth of a condition on a run's metrics and the values of its point: 1, 0, -1 not known, with *ret_unknown in words. */
int campaign_truth(struct campaign *c, const struct expr *condition, const struct recipe_values *values,
                   const struct series_repetition *run, const char **ret_unknown);
/* Measures points until the largest candidate that meets the objective is known, for each search.
 * 0; -1 with err. */
int campaign_search(struct campaign *c, struct err *err);
/* Do the points that were measured before answer every search? */
bool campaign_search_is_done(const struct campaign *c);
/* Measures the point unless it is finished. 0; -1 with err. */
int campaign_execute_point(struct campaign *c, const struct recipe_point *p, size_t number, struct err *err);
/* Compares the nodes of --each-node, or the pairs of --each-pair: prints those that differ, and writes the list of nodes to leave out. */
void campaign_compare_nodes(struct campaign *c);
/* Which of n values differ from the others, with one false alarm or more in at most 5 % of such comparisons of normal values? neighbours: each is the better one of two
 * that it shares with the next ones in a ring. false: too few, or out of memory. */
bool campaign_values_differ(const double *v, size_t n, bool neighbours, bool *ret);
/* Makes the steps of `prepare` that were not made before. 0; -1 with err. */
int campaign_prepare(struct campaign *c, struct err *err);
/* Runs one process to its end. limit_s: seconds after which it is stopped; 0: none. 0 with its exit status; 1
 * with *ret_why: it had to be stopped. */
int campaign_run_process(struct campaign *c, struct campaign_process *p, double limit_s, int *ret_exit, const char **ret_why);
/* Returns the first long option of the process's parameters and args that the program's --help does
 * not list, in the campaign's arena. NULL: it lists all of them or none, or out of memory. */
const char *campaign_unknown_option(struct campaign *c, const struct recipe_part *part, const struct recipe_process *p);
/* Checks the nodes before any load. Prints each problem with what to do. The number of problems. */
size_t campaign_preflight(struct campaign *c, const struct recipe_point *p, const char **ret_first);
#endif
