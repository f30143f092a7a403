/* recipe.h: a recipe in memory: roles, values and points, read from YAML and checked. Nothing is started. */
#ifndef RECIPE_RECIPE_H
#define RECIPE_RECIPE_H
#include "base/yaml.h"
#include "benchmarks/expr.h"
#include "series/sweep.h"

enum { RECIPE_ROLES_MAX = 64, RECIPE_FILE_MAX = 1 << 20, RECIPE_VERSION = 1 };

/* A value with a name that is an expression: a var, or a condition (name NULL). */
struct recipe_rule {
    const char *name;
    struct expr *expr;
    const char *text; /* as written */
    const struct yaml *at;
    bool of_service; /* a condition of a service file: about llmload's metrics */
};

struct recipe_rules {
    struct recipe_rule *list;
    size_t count;
};

struct recipe_override {
    struct expr *when;
    const struct yaml *at; /* of the condition */
    const struct yaml *set; /* map of scalars */
};

/* A service file. */
struct recipe_service {
    const char *name, *file;
    const char *text; /* NULL: it is compiled in */
    const struct yaml *root;
};

struct recipe_role {
    const char *name;
    const struct yaml *at;
    bool is_service;
    struct recipe_service *service; /* NULL: none */
    const struct recipe_role *nodes_of; /* on whose nodes it runs; NULL: it has its own */
    char **command, **args, **warmup; /* templates; NULL: none */
};

#define RECIPE_PAIR '+'

struct recipe {
    struct arena *arena;
    const char *file; /* for messages */
    const char *name, *description, *experiment;
    const struct yaml *root; /* the own form, also of a toolkit's recipe */
    const char *text; /* of the own form */
    const char *const *remarks; /* what a reader must know of it, such as meanings chosen for the toolkit's keys; NULL at the end */
    struct recipe_role roles[RECIPE_ROLES_MAX];
    size_t role_count;
    const struct recipe_role *measured; /* NULL: no client */
    struct recipe_rules vars, valid;
    struct recipe_override *overrides;
    size_t override_count;
    struct recipe_search {
        const char *axis; /* the value that is searched, the sweep's last axis; NULL: none */
        size_t count; /* candidates of a search; points of one search are adjacent */
        struct expr *condition; /* on the metrics of a run */
        const char *text;
    } search;
    char **server_nodes, **client_nodes; /* given by the caller instead of the roles' own; NULL: none */
    char **each_node; /* every point is measured on each of these nodes, or pairs: two names with RECIPE_PAIR between; NULL: none */
    struct parameter_sweep sweep; /* points are its, also where there is no axis (1 point) */
};

/* Where recipes and service files are searched: folders, first match first, then those compiled in. */
struct recipe_places {
    const char *folders[4]; /* below each: recipes/NAME.yaml and services/NAME.yaml; NULL ends them */
};

/* What a caller sets before it reads a recipe; all members as in struct recipe. */
struct recipe_nodes {
    char **servers, **clients, **each;
};
/* Reads and checks a recipe: a path, or a name from the places. Toolkit recipes are translated. Texts
 * live in the arena. nodes: NULL for none. 0; -1 with ERR_INPUT "file:line:column: …", ERR_USAGE or ERR_SYSTEM. */
int recipe_open(struct recipe *ret, const char *name_or_path, const struct recipe_places *places, const struct recipe_nodes *nodes,
                struct arena *a, struct err *err);
/* The same from a text; file is for messages. */
int recipe_read(struct recipe *ret, const char *file, struct str text, const struct recipe_places *places, const struct recipe_nodes *nodes,
                struct arena *a, struct err *err);
/* The own form of a toolkit's recipe, which recipe_keys_check has accepted. Its service is a service file of the places.
 * *ret_remarks as in struct recipe. In the arena; NULL with err. */
const char *recipe_of_toolkit(const struct yaml *root, const char *file, const struct recipe_places *places, struct arena *a,
                              const char *const **ret_remarks, struct err *err);
/* Is it a recipe of the toolkit: no `version`, and one of its keys? */
bool recipe_is_toolkit(const struct yaml *root);
/* Fills the sweep of r from its YAML: grid, zip, list and overrides. 0; -1 with err. */
int recipe_read_sweep(struct recipe *r, struct err *err);
/* Compiles an expression of the recipe, into its arena. 0; -1 with err: ERR_INPUT, or out of memory. */
int recipe_expression(const struct recipe *r, const struct yaml *at, struct expr **ret, struct err *err);
/* A time limit as sbatch --time reads it: M, M:S, H:M:S, D-H, D-H:M or D-H:M:S. In seconds; 0: unlimited. False: it is none. */
bool recipe_time_limit(struct str text, int64_t *ret_s);
/* The text of a scalar child of a map as a C text; otherwise where it is absent or null. */
const char *recipe_scalar(const struct recipe *r, const struct yaml *map, const char *key, const char *otherwise);

/* ---- files ---- */

struct recipe_file {
    const char *kind; /* "recipes" or "services" */
    const char *name, *text;
    size_t n;
    const char *from; /* folder; NULL: compiled in */
};
/* Compiled in by scripts/make-shipped-recipes; ends with name NULL. */
extern const struct recipe_file recipe_shipped[];
/* Reads NAME.yaml of that kind from the places. 0; 1: there is none; -1 with err. */
int recipe_file_find(struct recipe_file *ret, const char *kind, const char *name, const struct recipe_places *places, struct arena *a, struct err *err);
/* Reads and checks the service file of this name. In the arena. 0; 1: there is none; -1 with err. */
int recipe_service_open(struct recipe_service **ret, const char *name, const struct recipe_places *places, struct arena *a, struct err *err);
/* All files of that kind, by name; a name's first place hides the others. In the arena; NULL: out of memory. */
struct recipe_file *recipe_file_list(const char *kind, const struct recipe_places *places, struct arena *a, size_t *ret_n);
/* The nearest name of that kind; NULL: none is near. */
const char *recipe_file_nearest(const char *kind, const char *name, const struct recipe_places *places, struct arena *a);
/* As recipe_service_open, but an unknown name is an error, which suggests the nearest one. at,
 * file: the place of the name, for the message. 0; -1 with err. */
int recipe_service_require(struct recipe_service **ret, const char *name, const struct yaml *at, const char *file,
                           const struct recipe_places *places, struct arena *a, struct err *err);
#endif
