/* recipe_point.h: one point of a recipe, resolved: what each role starts, where, and when it is ready. */
#ifndef RECIPE_RECIPE_POINT_H
#define RECIPE_RECIPE_POINT_H
#include "base/sha256.h"
#include "recipe/recipe_values.h"

enum { RECIPE_PORTS_MAX = 16, RECIPE_PROCESSES_MAX = 8, RECIPE_NODES_MAX = 100000 };

struct recipe_ready {
    const char *http; /* path; NULL */
    const char *tcp; /* name of a port; NULL */
    char **command; /* NULL */
    double timeout_s, interval_s;
    bool is_set;
};

enum recipe_where { RECIPE_ALL, RECIPE_FIRST, RECIPE_REST };

/* A program that the role starts on some of its nodes. */
struct recipe_process {
    const char *component; /* in the logs: "server", "server-head" */
    char **words; /* with the container's program before it */
    char **bare; /* the command alone, inside the container */
    enum recipe_where where;
    struct recipe_ready ready;
    size_t own; /* words of `bare` that the service file or the role has as the command; then options of parameters and args follow */
};

struct recipe_port {
    const char *name;
    unsigned number;
};

struct recipe_request {
    const char *method, *path, *body;
    double timeout_s;
};

struct recipe_container {
    const char *runtime, *image; /* runtime NULL: none */
    char **binds, **options;
    bool gpus;
};

/* A role at a point. */
struct recipe_part {
    const struct recipe_role *role;
    const char *endpoint; /* of a service that runs already; NULL */
    struct recipe_ready ready; /* of the endpoint; other services have it in their processes */
    char **hosts; /* names; NULL: any */
    size_t nodes, instances, tasks; /* tasks 0: one on each node, times instances */
    unsigned gpus, cpus; /* 0: none stated */
    uint64_t memory_B;
    struct recipe_process processes[RECIPE_PROCESSES_MAX];
    size_t process_count;
    struct recipe_port ports[RECIPE_PORTS_MAX];
    size_t port_count;
    struct recipe_container container;
    char **srun; /* options of srun that start its container (pyxis); NULL: none */
    char **env; /* NAME=VALUE; NULL at the end */
    char **secrets; /* names; NULL at the end */
    const struct recipe_request *requests; /* after it is ready */
    size_t request_count;
    char **warmup;
    const char *token; /* file with the token that requests to the service carry; NULL: none */
    bool restart; /* at each point */
    char hash[SHA256_HEX]; /* of what it starts, before ports and nodes are known */
};

struct recipe_point {
    size_t index; /* of the sweep */
    const char *label; /* "batch=1 concurrency=8"; "" */
    struct recipe_values values;
    struct recipe_part *parts; /* in the recipe's order */
    size_t part_count;
    char id[SHA256_HEX]; /* of its values */
    char hash[SHA256_HEX]; /* of its values and all that its roles start */
};

/* Resolves a point. find: what a running point knows (host, port, ROLE.url …), NULL while it is planned.
 * Texts in the arena. 0; -1 with ERR_INPUT. */
int recipe_point_init(struct recipe_point *ret, const struct recipe *r, size_t point, recipe_lookup *find, void *context, struct arena *a,
                      struct err *err);
/* The same for one role, one of whose processes is about to start. */
int recipe_part_init(struct recipe_part *ret, const struct recipe *r, const struct recipe_role *role, const struct recipe_values *values,
                     recipe_lookup *find, void *context, struct arena *a, struct err *err);
/* Sets part->hash from what the role starts (recipe_hash.c). */
void recipe_part_identify(struct recipe_part *part);
/* Sets the id of a point from its values, and its hash from these and its parts. */
void recipe_point_identify(struct recipe_point *p);
/* Sets ret to the hash of a point's values, the id of a struct recipe_point. 0; -1 with err. */
int recipe_point_hash(const struct recipe *r, size_t point, char ret[SHA256_HEX], struct arena *a, struct err *err);
/* The order in which points are measured: points whose services are equal are adjacent. An array of
 * r->sweep.points indexes in the arena. NULL with err. */
size_t *recipe_order(const struct recipe *r, const struct recipe_point *points, struct arena *a, struct err *err);
/* The names of a list such as "n[1-3],login", NULL at the end. In the arena; NULL: out of memory, or more than RECIPE_NODES_MAX. */
char **recipe_host_names(const char *list, struct arena *a);
/* Does a role of the point name this node? */
bool recipe_has_host(const struct recipe_point *p, const char *name);
/* Has the role nodes of the allocation for itself, which no role names? */
bool recipe_has_own_nodes(const struct recipe_part *part);
/* Nodes of the allocation: those that roles name, and the others' own. */
size_t recipe_nodes_of(const struct recipe_point *p);
/* The command inside the container, by its program: words. With pyxis they stay as they are. In the arena; NULL: out of memory. */
char **recipe_container_words(const struct recipe_container *c, char *const *env, char *const *secrets, char **command, struct arena *a);
/* The options of srun for a container of pyxis, with NULL at the end. In the arena; NULL: out of memory. */
char **recipe_pyxis_options(const struct recipe_container *c, char *const *env, char *const *secrets, struct arena *a);
#endif
