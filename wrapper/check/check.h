/* check.h: review runs before they are published: what is wrong with a tree or a range of commits.
 *
 * The input is hostile: anyone can open a pull request. check reads everything through
 * base/folder.h and within the bounds of struct check_limits. It executes no file of the input,
 * changes nothing, and reports each finding once for each place. The same code checks a tree on
 * disk and a range of commits. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H
#include "base/arena.h"
#include "base/err.h"
#include "base/folder.h"

enum check_severity { CHECK_NOTE, CHECK_WARNING, CHECK_ERROR };
enum check_id {
#define FINDING(name, word, severity, meaning, remedy) CHECK_##name,
#include "check/findings.def"
#undef FINDING
    CHECK_KINDS
};
struct check_finding_kind {
    const char *word;
    enum check_severity severity;
    const char *meaning, *remedy;
};
extern const struct check_finding_kind check_kinds[CHECK_KINDS];

struct check_finding {
    enum check_id id;
    const char *path;   /* as stored, any bytes but NUL: "mlruns/<exp>/<run>/…"; "": all of the input */
    unsigned line;      /* 0: all of the file */
    const char *text;   /* what is wrong, safe to print */
    struct check_finding *next;
};

struct check_limits {
    uint64_t file_B, run_B, all_B; /* bytes of a file, of a run, of all runs together */
    size_t files, all_files, runs; /* files and folders of a run, of all runs; runs */
    size_t findings;               /* stored findings; further ones are only counted */
};

struct catalogue;
struct rules;
/* One check: its settings, then its results. check_begin sets defaults; the caller changes the
 * settings before check_tree or check_range. */
struct check_state {
    struct arena *arena;        /* the caller's; holds the findings and their texts */
    /* settings */
    struct check_limits limits;
    bool has_remote;            /* the repository has a remote: without a profile it is public */
    bool public_profile;        /* the repository is public: personal data is an error */
    enum check_severity severity[CHECK_KINDS]; /* check_kinds[], changed by the target's policy */
    const char *signers;        /* OpenSSH's file of allowed signers; NULL: check no signatures */
    const struct catalogue *catalogue; /* the reviewer's rules; NULL: only the shipped ones are known */
    int64_t now_ms;             /* wall time at check_begin */
    int64_t committed_ms;       /* of the newest commit of the range; 0: there is none */
    void (*progress)(void *context, size_t done, size_t total); /* total 0: not known; may be NULL */
    void *context;
    const struct folder *tree;  /* parents and repetitions are searched here; set by check_tree, check_range */
    const struct folder *published; /* the target's tree; set by check_range */
    /* results */
    struct check_finding *first, *last;
    size_t count, dropped;      /* stored findings; findings that are only counted */
    size_t by_severity[3];      /* all findings, stored or not */
    size_t runs, runs_bad;      /* checked runs; those with an error */
    size_t runs_retracting;     /* runs that retract another run */
    size_t runs_amending;       /* runs that amend another run */
    size_t runs_annotating;     /* runs that annotate another run */
    size_t runs_unverifiable;   /* runs with metrics that no stored output shows */
    uint64_t bytes;             /* checked bytes */
    size_t files;               /* checked files and folders */
    double apart_s;             /* private: seconds that sandboxed work has needed */
    struct rules *rules;        /* private: of the last run that had rules */
    struct check_index *seen;   /* private: id, values and output of each run */
};

/* Initialises *k with default limits and severities. check_end must follow. */
void check_begin(struct check_state *k, struct arena *a);
/* Frees what *k owns. The findings remain in the arena. */
void check_end(struct check_state *k);
/* Stores one more finding, or counts it when the limit is reached. The text may hold foreign bytes:
 * it is made safe to print here. Copies path and text. */
void check_found(struct check_state *k, enum check_id id, const char *path, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#define CHECK_POLICY_FILE "benchwrap-check.yaml"
/* Changes k->severity by the text of the target's CHECK_POLICY_FILE: lines
 * "finding: error|warning|note". An empty text changes nothing. 0; -1: the text is damaged, or
 * names no finding or severity; err has the line. */
int check_policy(struct check_state *k, struct str text, struct err *err);
/* Returns "note", "warning" or "error". */
const char *check_severity_word(enum check_severity s);
/* Returns whether a repository with this benchwrap.yaml ("": it has none) is public; see
 * base/profile.h. */
bool check_is_public(struct str text, bool has_remote);
/* Checks all runs of a tree. `at` is the tree's name in paths ("mlruns"). 0; -1: the tree's folder
 * cannot be read. */
int check_tree(struct check_state *k, const struct folder *tree, const char *at, struct err *err);
/* Returns whether git, or a system that it runs on, uses the name for one of git's own files
 * (".git", "GIT~1", ".gitattributes" …). True also without memory. */
bool check_name_is_gits(struct str name);
/* Checks an experiment's own files, without its runs. `path`: "mlruns/<exp>". */
void check_experiment_files(struct check_state *k, const struct folder *experiment, const char *path);
/* Checks one run. `path`: "mlruns/<exp>/<run>". */
void check_run(struct check_state *k, const struct folder *run, const char *path);
#endif
