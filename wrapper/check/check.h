/* check.h: the reviewer's gate: what is wrong with runs that somebody wants to publish.
 *
 * The input is hostile: a pull request of anybody. Everything is read through base/folder.h within bounds that are told (struct check_limits), no file of it
 * is executed, nothing is written, and what is found is said once for each place. The same code looks at a tree on disk and at a range of commits. */
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
    const char *path;   /* as stored (any bytes but NUL), "mlruns/<exp>/<run>/…"; "": the whole */
    unsigned line;      /* 0: the file as a whole */
    const char *text;   /* what is wrong, made plain */
    struct check_finding *next;
};

struct check_limits {
    uint64_t file_B, run_B, all_B; /* of a file, of a run, of all runs together */
    size_t files, all_files, runs; /* in a run; in all; in all */
    size_t findings;            /* kept; the rest is counted */
};

struct catalogue;
struct rules;
struct check_state {
    struct arena *arena;        /* the caller's; holds what was found */
    /* asked */
    struct check_limits limits;
    bool has_remote;            /* the repository has one: without a word on its profile it is public */
    bool public_profile;        /* the repository is public: personal data is an error */
    enum check_severity severity[CHECK_KINDS]; /* of each finding here: check_kinds[], changed by the target's policy */
    const char *signers;        /* OpenSSH's file of allowed signers; NULL: signatures are not asked for */
    const struct catalogue *catalogue; /* the shipped rules; NULL: every rule file is unknown */
    int64_t now_ms, committed_ms; /* committed_ms: of the newest commit of the range; 0: there is none */
    void (*progress)(void *context, size_t done, size_t total); /* may be NULL */
    void *context;
    const struct folder *tree; /* in which the parents and series that runs name are searched; set by check_tree and check_range */
    const struct folder *published; /* of a range: what is there already; set by check_range */
    /* found */
    struct check_finding *first, *last;
    size_t count, dropped;      /* findings; of these not kept */
    size_t by_severity[3];
    size_t runs, runs_bad;      /* looked at; with an error */
    size_t runs_retracting;     /* that retract another run */
    size_t runs_amending;       /* that amend another run */
    size_t runs_unverifiable;   /* with metrics that no stored output shows */
    uint64_t bytes;             /* looked at */
    size_t files;
    double apart_s;             /* private: what unknown rules have taken */
    struct rules *rules;        /* private: of the last run that had some */
    struct check_index *seen;    /* private: what stands under which id */
};

void check_begin(struct check_state *k, struct arena *a);
void check_end(struct check_state *k);
/* One more finding. The text is made plain here: foreign bytes may stand in it. */
void check_found(struct check_state *k, enum check_id id, const char *path, unsigned line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

#define CHECK_POLICY_FILE "benchwrap-check.yaml"
/* Changes k->severity by the text of the target's CHECK_POLICY_FILE, lines "finding: error|warning|note" ("": it has none). -1: the text is damaged, or
 * names no finding or severity; err has the line. */
int check_policy(struct check_state *k, struct str text, struct err *err);
/* "note", "warning", "error". */
const char *check_severity_word(enum check_severity s);
/* Is a repository with this benchwrap.yaml ("": it has none) public? See base/profile.h. */
bool check_is_public(struct str text, bool has_remote);
/* All of a tree; `at` is its name in paths ("mlruns"). -1: it cannot be read at all. */
int check_tree(struct check_state *k, const struct folder *tree, const char *at, struct err *err);
/* Does git, or a system it runs on, take the name for a file of git's own (".git", "GIT~1", ".gitattributes" …)? */
bool check_name_is_gits(struct str name);
/* One experiment's own files (not its runs), and one run. `path`: "mlruns/<exp>", "mlruns/<exp>/<run>". */
void check_experiment_files(struct check_state *k, const struct folder *experiment, const char *path);
void check_run(struct check_state *k, const struct folder *run, const char *path);
#endif
