/* plan.h: what was requested: defaults < /etc/benchwrap.yaml <
 * $XDG_CONFIG_HOME/benchwrap/config.yaml < the results repository's benchwrap.yaml
 * and this clone's .benchwrap/config.yaml < environment < flags, each value with its origin; and what follows from it: program, tree, spool, rules, experiment.
 *
 * Nothing is started or written, no network used, and none of the program's files touched:
 * configuration files, the catalogue and the way
 * to the tree are read. */
#ifndef WRAPPER_PLAN_H
#define WRAPPER_PLAN_H
#include "base/arena.h"
#include "base/err.h"
#include "base/opt.h"
#include "benchmarks/catalogue.h"
#include "exporters/exporter_config.h"
#include "plan/references.h"

/* The rows of launch/options.def. */
extern const struct opt_row plan_rows[];
extern const size_t plan_rows_count;

struct rules;

struct plan_warning {
    const char *text; /* one sentence, safe to print */
    struct plan_warning *next;
};

struct plan_file {        /* a configuration file that was searched */
    const char *path;
    enum opt_origin origin;
    bool found;
    struct plan_file *next;
};

struct plan {
    struct arena arena;         /* owns the texts below that plan_make has made. Others are constants, or parts of argv and of the environment */
    struct opt_set opts;        /* rows = plan_rows; values with their origin */
    char *const *argv;          /* program and arguments as typed; argv[0] == NULL: none was given */
    char *const *program;       /* the same with launchers (srun, env, numactl …) peeled off: points into argv */
    const char *cwd;
    const char *tree;           /* absolute path of the mlruns folder, which may not exist yet */
    const char *tree_where;     /* what decided it: "--tree", "BENCHWRAP_TREE", "/etc/benchwrap.yaml:3", "default" … */
    const char *repository;     /* root of the results repository, or NULL */
    const char *server;         /* MLflow server the run is sent to, as it may be printed (without credentials); NULL: none */
    const char *server_uri;     /* the same as it was given: never printed, never written */
    const char *server_where;   /* what decided it; where there is none, why */
    const char *server_run;     /* MLFLOW_RUN_ID: another client's run on that server, which this one is appended to; NULL: a run of its own */
    const char *spool;          /* <parent of realpath(mlruns)>/.benchwrap/spool */
    const char *spool_fallback; /* $XDG_STATE_HOME/benchwrap/spool, when that cannot be written; NULL without a home */
    struct catalogue catalogue; /* --catalogue, $XDG_CONFIG_HOME/benchwrap/catalogue, /etc/benchwrap/catalogue; the shipped one */
    const char *config_dir;     /* $XDG_CONFIG_HOME/benchwrap; NULL without a home */
    const char *rules;          /* path of the rule file (or "shipped:<name>"), or NULL */
    const char *rules_why;      /* why this one, or why none */
    struct rules *loaded;       /* those rules, when they were named (and so had to be checked); else NULL: load them when there is time */
    struct reference_files references; /* that judge the run, strongest first; the named one has been read */
    const char *references_where[REFERENCE_FILES_MAX]; /* who named or found each */
    const char *benchmark;      /* name of the catalogue entry or rule file, or NULL */
    const char *experiment;     /* requested name, with legal characters alone */
    const char *experiment_given; /* the same as it was given */
    const char *experiment_where;
    struct exporter_config *exporters; /* of the administrator's and the user's files */
    struct exporter_variable *exporter_variables; /* which hold their secrets, also those of entries that are ignored */
    struct plan_warning *warnings;
    struct plan_file *files;    /* weakest first */
};

/* Makes the plan of a command line: argv[0] is skipped; then options, `--`, program and arguments (a
 * line without program is fine: ls and doctor need the tree only). env is the process's own
 * environment. The plan points into argv and env, which must outlive it. 0: the caller calls
 * plan_deinit. -1 with err: *ret is unchanged. ERR_USAGE and ERR_INPUT: what the user typed or named is wrong (125 before anything
 * starts); ERR_SYSTEM: memory, or no working directory. Files that were not named on the line or in
 * the environment never fail: what is wrong in them becomes a warning with file, line and column. */
int plan_make(struct plan *ret, int argc, char **argv, char **env, struct err *err);
/* Makes the plan of a command as plan_make does: of those of its options that `names` has (NULL ends
 * it), where its command line has them, of the environment and of the files. The plan refers to texts
 * in `a`, which must outlive it. */
int plan_make_with(struct plan *ret, const struct opt_set *given, char **env, struct arena *a, const char *const *names, struct err *err);
/* The same with the names, at least one, as its last arguments. */
#define plan_make_for(ret, given, env, a, err, ...) plan_make_with(ret, given, env, a, (const char *const[]){__VA_ARGS__, NULL}, err)
/* Frees all that the plan owns. */
void plan_deinit(struct plan *plan);
/* Returns the name of an experiment, with _ in the place of illegal characters; in the arena, NULL
 * when out of memory. Secrets are found before, not after. */
char *plan_experiment_legal(const char *name, struct arena *a);
/* Finds the mlruns folder that a --tree option (or its absence: NULL) means, for commands that read a
 * tree. 0 with *ret, as plan->tree, in `a`; -1 with err. */
int plan_tree(const char *tree_option, char **env, struct arena *a, const char **ret, struct err *err);
/* Finds the catalogue as it is without a command line, by configuration files and environment, for
 * commands that read rules. 0 with *ret, whose texts are in `a`; -1 with err. */
int plan_catalogue(char **env, struct arena *a, struct catalogue *ret, struct err *err);
#endif
