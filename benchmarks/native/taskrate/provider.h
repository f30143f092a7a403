/* provider.h: a way to have tasks run. One file and one row in providers.def each. */
#ifndef TASKRATE_PROVIDER_H
#define TASKRATE_PROVIDER_H
#include "benchmarks/native/taskrate/bench.h"

enum provider_how {
    HOW_LOCAL,    /* this process starts the tasks itself */
    HOW_ATTACHED, /* a command for each task, which ends when the task has ended (srun) */
    HOW_DETACHED, /* a command for each task, which returns when the task is in the queue (sbatch) */
    HOW_BULK,     /* one command for many tasks, which returns when they are in the queue (sbatch --array) */
    HOW_TOOL      /* one command for many tasks, which ends when they have ended (GNU parallel) */
};

/* One submission: tasks first … first + count - 1, on one command. */
struct submission {
    const struct task_batch *batch;
    size_t first, count;
    struct argument_words argv;
    struct buf *input;   /* for the command's standard input; empty: none */
    struct arena *arena; /* for the words: they are done with as soon as the command has been started */
};

/* What a scheduler's queue reports of this run's jobs. */
struct queue {
    bool known;
    size_t waiting, running;
    char why[200]; /* why some wait, in the scheduler's words */
};

struct task_provider {
    const char *name, *summary;
    const char *path;        /* what a task goes through: client -> … -> process */
    bool live;               /* has been tried on a live system */
    bool remote;             /* touches a shared controller: capped and rate limited */
    const char *index;       /* variable that has the number of an array's task, or NULL */
    size_t cap;              /* most tasks of a batch without --max-tasks; 0: no cap */
    double rate;             /* submit calls a second without --rate; 0: not limited */
    unsigned calls;          /* that a submission makes to the controller, where that is not 1 (0) */
    unsigned clients;        /* commands at once without --clients */
    size_t tasks;            /* of a batch without --tasks */
    size_t chain;            /* tasks of the chain without --chain */
    enum provider_how (*how)(const struct bench *b);
    /* Finds the tools, reads configuration and limits, declares slots. -1: a refusal with its reason. */
    int (*begin)(struct bench *b, struct err *err);
    /* The command for tasks; words are in the submission's arena or live longer. */
    int (*line)(struct bench *b, struct submission *s, struct err *err);
    /* How many tasks one command may start (HOW_BULK, HOW_TOOL; wide steps). */
    size_t (*chunk)(const struct bench *b);
    /* Queries the queue. Called when no report came for a while. May be NULL. */
    void (*ask)(struct bench *b, struct queue *ret);
    void (*count)(struct bench *b, struct scheduler_counters *ret); /* sdiag and the like; may be NULL */
    /* Which cluster a job's name belongs to: what must be equal for a sweep. May be NULL. */
    void (*identity)(struct buf *to);
    /* Ends all jobs with this name. 0: none is left; -1: it could not be done. NULL: nothing outlives the program. */
    int (*cancel)(const char *tag, struct err *err);
    void (*end)(struct bench *b);
};

extern const struct task_provider *const providers[];
extern const size_t provider_count;
const struct task_provider *provider_find(const char *name); /* NULL: none */

/* The stub's first argument for task `first` (or, with index, the number in that variable less `from` plus first), then ballast and command. */
int provider_task(struct bench *b, const struct submission *s, size_t first, const char *index, long from, struct argument_words *to, struct err *err);
/* The same as one line for /bin/sh, everything quoted. */
int provider_task_line(struct bench *b, const struct submission *s, size_t first, const char *index, long from, struct buf *to, struct err *err);
/* The words behind the stub's first argument: --argsize bytes of ballast, and the payload's
 * command. */
int provider_rest(const struct bench_settings *set, enum task_payload payload, struct argument_words *to, struct err *err);
/* Adds one word, which must live as long as the list. 0; -1 with err: too many. */
int words_add(struct argument_words *w, const char *word, struct err *err);
/* Several, the last one NULL: words_addv(&w, err, "-h", path, NULL). */
int words_list(struct argument_words *w, const char *const *list, struct err *err);
#define words_addv(w, err, ...) words_list((w), (const char *const[]){__VA_ARGS__}, (err))
/* Adds the words of another list. 0; -1 with err: too many. */
int words_join(struct argument_words *w, const struct argument_words *more, struct err *err);
/* Cuts a line into words as a shell would, with quotes and backslashes, without anything else. */
int words_split(struct argument_words *w, struct arena *a, const char *text, struct err *err);
#endif
