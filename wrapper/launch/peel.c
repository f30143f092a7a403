/* peel.c: sees through `srun -n 64 numactl -N 0 ior …` to ior. */
#include "launch/peel.h"

#include "base/env.h"
#include "base/str.h"

#include <ctype.h>

/* One starter. Options are told by getopt's rules: a letter in `letters` and a name in `names` (blank-separated, without dashes) take the next
 * word unless the value is attached; every other option takes none. */
struct starter {
    const char *name;
    const char *letters;
    const char *names;
    const char *verbs; /* a word that must follow first: "exec run"; NULL: none */
    const char *hides; /* options behind which the program cannot be seen: env -S */
    int leading; /* words of its own before its options, if the first one is none: setarch's architecture */
    int operands; /* words of its own between options and program: timeout's duration */
    bool locations; /* any number of operands, known by their form: hwloc-bind's */
    bool single_dash; /* long options may have one dash (mpirun -np 4) */
    bool assignments; /* NAME=VALUE words may come before the program */
    bool parallel;
    /* Variables (blank-separated) of which one is set where it can start the program on this machine; "": it never does; NULL: always. */
    const char *here;
    const char *tasks, *nodes, *per_node, *cpus; /* its options that tell the shape of the launch, letters and names alike, */
    const char *hosts; /* and those that choose hosts */
};

static const struct starter starters[] = {
#include "launch/starters.def"
};

static const struct starter *starter_of(const char *word)
{
    const char *name = str_base_name(word);
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++)
        if (strcmp(starters[i].name, name) == 0)
            return &starters[i];
    if (strncmp(name, "mpirun.", 7) == 0 || strncmp(name, "mpiexec.", 8) == 0) /* Debian's mpirun.openmpi, mpiexec.mpich */
        return starter_of("mpirun");
    return NULL;
}

static bool listed(const char *words, struct str name)
{
    struct str rest = str_of(words);
    for (struct str word; (word = str_word(&rest)).n;)
        if (str_eq(word, name))
            return true;
    return false;
}

struct option {
    struct str name; /* a letter is one too; n 0: not one that takes a value */
    struct str value; /* attached, or the next word; p NULL: there is none */
    int words; /* that it takes of the line */
};

/* Open MPI's and Hydra's pairs: -mca KEY VALUE, -genv KEY VALUE; KEY=VALUE is one word. */
static bool takes_pair(const struct starter *s, struct str name)
{
    return s->single_dash && listed("mca gmca omca prtemca pmixmca gpmixmca genv env", name);
}

/* The option at argv[0], which begins with '-'. */
static struct option option_at(const struct starter *s, char *const *argv)
{
    const char *word = argv[0];
    bool two = word[1] == '-';
    struct str rest = str_of(word + (two ? 2 : 1)), name = str_cut(&rest, '=');
    struct str next = argv[1] ? str_of(argv[1]) : (struct str){0};
    if ((two || s->single_dash) && rest.p)
        return (struct option){two || listed(s->names, name) ? name : (struct str){0}, rest, 1};
    if ((two || s->single_dash) && listed(s->names, name)) {
        bool pair = takes_pair(s, name) && argv[1] && argv[2] && !strchr(argv[1], '=');
        return (struct option){name, next, pair ? 3 : 2};
    }
    if (two)
        return (struct option){name, next, 1};
    if (s->single_dash && name.n > 2 && !isdigit((unsigned char)word[2])) /* a long one that is not known, not letters: -n16 */
        return (struct option){.words = 1};
    for (const char *p = word + 1; *p; p++)
        if (s->letters && strchr(s->letters, *p))
            return (struct option){{p, 1}, p[1] ? str_of(p + 1 + (p[1] == '=')) : next, p[1] ? 1 : 2};
    return (struct option){.words = 1};
}

static void shape_option(const struct starter *s, const struct option *o, struct peel_shape *shape)
{
    struct {
        const char *names;
        int *to;
    } rows[] = {
        {s->tasks, &shape->tasks}, {s->nodes, &shape->nodes}, {s->per_node, &shape->tasks_per_node}, {s->cpus, &shape->cpus_per_task}};
    int64_t n;
    shape->hosts |= o->name.n && s->hosts && listed(s->hosts, o->name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (o->name.n && rows[i].names && listed(rows[i].names, o->name))
            *rows[i].to = o->value.p && str_int(o->value, &n) && n > 0 && n < 100000000 ? (int)n : 0; /* the last one counts */
}

/* A number of tasks per node is the shape where it is all that is said, or fits what is: srun takes it for a maximum beside -n. */
static void settle_per_node(const struct starter *s, struct peel_shape *shape)
{
    int per = shape->tasks_per_node;
    bool fits = s->nodes ? shape->nodes * per == shape->tasks : per && shape->tasks % per == 0;
    if (shape->tasks && !fits)
        shape->tasks_per_node = 0;
}

static bool is_assignment(const char *word)
{
    const char *equals = strchr(word, '=');
    return equals && equals != word;
}

/* hwloc's places: "core:0-3", "0x3", "all", with ~, ^, + or x before them. */
static bool is_location(const char *word)
{
    word += strspn(word, "~^+x");
    return strchr(word, ':') || strncmp(word, "0x", 2) == 0 || strcmp(word, "all") == 0 || strcmp(word, "root") == 0;
}

static bool is_option(const struct starter *s, const char *word)
{
    return word[0] == '-' && (word[1] || s->assignments); /* env's "-" is one */
}

/* What stands between the starter's name and its options; NULL: it starts no program. */
static char *const *past_verb(const struct starter *s, char *const *at)
{
    at++;
    for (int i = 0; i < s->leading && *at && **at != '-'; i++)
        at++;
    if (!s->verbs)
        return at;
    while (*at && **at == '-') /* global options before the verb: apptainer -q exec */
        at++;
    return *at && listed(s->verbs, str_of(*at)) ? at + 1 : NULL;
}

/* What stands between the options and the program. */
static char *const *past_operands(const struct starter *s, char *const *at)
{
    for (int i = 0; i < s->operands && *at; i++)
        at++;
    if (s->operands && *at && strcmp(*at, "--") == 0) /* ch-run IMAGE -- PROGRAM */
        at++;
    while (s->assignments && *at && is_assignment(*at))
        at++;
    return at;
}

/* The word behind one starter's own words, or NULL when nothing is left. What its options say goes to shape, unless that is NULL. */
static char *const *peel_one(const struct starter *s, char *const *at, struct peel_shape *shape)
{
    for (at = past_verb(s, at); at && *at;) {
        if (strcmp(*at, "--") == 0) {
            at++;
            break;
        }
        if (!is_option(s, *at)) {
            if (!(s->assignments && is_assignment(*at)) && !(s->locations && is_location(*at)))
                break;
            at++;
            continue;
        }
        struct option o = option_at(s, at);
        if (s->hides && listed(s->hides, o.name))
            return NULL;
        if (shape)
            shape_option(s, &o, shape);
        while (o.words-- && *at)
            at++;
    }
    if (shape)
        settle_per_node(s, shape);
    if (at)
        at = past_operands(s, at);
    return at && *at && **at != '-' ? at : NULL;
}

/* ret_parallel: how many of the starters begin several ranks; shape is that of the last one. */
static char *const *walk(char *const *argv, int *ret_parallel, struct peel_shape *shape)
{
    char *const *at = argv;
    *ret_parallel = 0;
    for (int depth = 0; depth < 16 && *at; depth++) {
        const struct starter *s = starter_of(*at);
        char *const *next = s ? peel_one(s, at, s->parallel ? shape : NULL) : NULL;
        if (!next)
            break;
        *ret_parallel += s->parallel;
        at = next;
    }
    return at;
}

char *const *peel(char *const *argv)
{
    int parallel;
    return walk(argv, &parallel, NULL);
}

const char *peel_elsewhere(char *const *argv, char *const *env)
{
    for (char *const *at = argv, *const *program = peel(argv); at != program; at++) {
        const struct starter *s = starter_of(*at);
        char name[64];
        bool here = !s || !s->here;
        for (struct str rest = str_of(here ? "" : s->here), word; (word = str_word(&rest)).n && word.n < sizeof name;) {
            memcpy(name, word.p, word.n);
            name[word.n] = 0;
            here = here || env_text(env, name);
        }
        if (!here)
            return s->name;
    }
    return NULL;
}

bool peel_is_parallel(char *const *argv)
{
    int parallel;
    walk(argv, &parallel, NULL);
    return parallel > 0;
}

const char *peel_launcher(char *const *argv)
{
    for (char *const *at = argv, *const *program = peel(argv); at != program; at++) {
        const struct starter *s = starter_of(*at);
        if (s && s->parallel)
            return s->name;
    }
    return NULL;
}

bool peel_shape(char *const *argv, struct peel_shape *ret)
{
    int parallel;
    *ret = (struct peel_shape){0};
    char *const *program = walk(argv, &parallel, ret);
    bool several = false;
    for (char *const *a = program; *a; a++)
        several |= strcmp(*a, ":") == 0;
    if (parallel == 1 && !several)
        return true;
    *ret = (struct peel_shape){0};
    return false;
}
