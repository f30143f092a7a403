/* peel.c: finds ior in `srun -n 64 numactl -N 0 ior …`. */
#include "launch/peel.h"

#include "base/env.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>

/* One starter. Options follow getopt's rules: a letter in `letters` and a name in `names`
 * (blank-separated, without dashes) consume the next word unless the value is attached; every other
 * option has no value. */
struct starter {
    const char *name;
    const char *letters;
    const char *names;
    const char *nouns; /* words that may come before the verb: docker's "container" */
    const char *verbs; /* a word that must follow first: "exec run"; NULL: none */
    const char *hides; /* options behind which the program cannot be found: env -S */
    int leading; /* words of its own before its options, if the first one is none: setarch's architecture */
    int operands; /* words of its own between options and program: timeout's duration */
    bool locations; /* any number of operands, known by their form: hwloc-bind's */
    bool single_dash; /* long options may have one dash (mpirun -np 4) */
    bool assignments; /* NAME=VALUE words may come before the program */
    bool parallel;
    /* Variables (blank-separated) of which one is set where it can start the program on this machine; "": it never does; NULL: always. */
    const char *here;
    const char *tasks, *nodes, *per_node, *cpus; /* its options for the shape of the launch, letters and names alike, */
    const char *per_round; /* those for tasks that it deals to one node after the other, again and again, */
    const char *maps; /* those that choose nodes of the job by a pattern, */
    const char *hosts, *host_files; /* those that list hosts or name a file of hosts, */
    const char *places; /* those that may choose hosts in another way, */
    const char *host_variables; /* and variables that name a file of hosts */
    bool nodes_of_job; /* without hosts of its own it starts ranks on the nodes of the job around it, */
    const char *listed; /* those that list nodes of the job, all of which get ranks, */
    const char *groups; /* and those that select components of a heterogeneous job, each of which gets the shape */
    bool host_operands; /* without such an option, as many hosts as tasks come before the program */
    bool remote; /* it starts the program through another machine, or a server that may be anywhere */
    const char *decides; /* of a remote one: what decides whether it does so, if not the connection */
    bool mixed; /* its options may follow its operands */
    bool shell; /* its operands are a line for a shell there */
    bool submits; /* where there is no job, it makes one for the program */
    const char *own_job; /* options with which the program runs in another job than the one around it; "": it always does */
    bool served; /* a service starts the program, which is then no descendant of it, */
    const char *joins; /* unless one of these options is given: then it joins control groups of its own; "": it always does */
    bool binds; /* it binds the program to processors of its choice */
    bool opaque; /* the line does not show what it starts */
    const char *global_letters, *global_names; /* its options before the verb that take a value */
    const char *away, *away_variables; /* with verbs: such options; else options, and variables, that send the program to another machine */
    const char *labels; /* its options without influence on what is measured: names, files of output, limits of time;
                         * "*": none of its words does */
};

static const struct starter starters[] = {
#include "launch/starters.def"
};

/* Returns the row of the starter that the word names, by its file name; NULL: it is none. */
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

struct peel_option {
    struct str name; /* a letter is one too; n 0: not one that takes a value */
    struct str value; /* attached, or the next word; p NULL: there is none */
    int words; /* that belong to it in the line */
};

/* Returns whether the option has a key and a value as two words: Open MPI's -mca KEY VALUE, Hydra's
 * -genv KEY VALUE; KEY=VALUE is one word. */
static bool takes_pair(const struct starter *s, struct str name)
{
    return s->single_dash && str_has_word("mca gmca omca prtemca pmixmca gpmixmca genv env", name);
}

/* Returns the option at argv[0], which begins with '-': name (none where it is not known), value,
 * and how many words it has. */
static struct peel_option option_at(const struct starter *s, char *const *argv)
{
    const char *word = argv[0];
    bool two = word[1] == '-';
    struct str rest = str_of(word + (two ? 2 : 1)), name = str_cut(&rest, '=');
    struct str next = argv[1] ? str_of(argv[1]) : (struct str){0};
    if ((two || s->single_dash) && rest.p)
        return (struct peel_option){two || str_has_word(s->names, name) ? name : (struct str){0}, rest, 1};
    if ((two || s->single_dash) && str_has_word(s->names, name)) {
        bool pair = takes_pair(s, name) && argv[1] && argv[2] && !strchr(argv[1], '=');
        return (struct peel_option){name, next, pair ? 3 : 2};
    }
    if (two)
        return (struct peel_option){name, {NULL, 0}, 1};
    if (s->single_dash && name.n > 2 && !isdigit((unsigned char)word[2])) /* a long one that is not known, not letters: -n16 */
        return (struct peel_option){.words = 1};
    if (!two && word[1] && word[2] && s->away && str_has_word(s->away, str_of(word + 1))) /* bsub -Is, not -I and -s */
        return (struct peel_option){.words = 1};
    for (const char *p = word + 1; *p; p++)
        if (s->letters && strchr(s->letters, *p))
            return (struct peel_option){{p, 1}, p[1] ? str_of(p + 1 + (p[1] == '=')) : next, p[1] ? 1 : 2};
    return (struct peel_option){.words = 1};
}

/* What the options of one starter mean. */
struct peel_options {
    struct peel_shape shape;
    struct peel_place place;
    bool joins, own_job;
};

static bool is_one_of_words(const char *words, struct str name)
{
    return words && name.n && str_has_word(words, name);
}

/* Returns whether the address is of this machine: a socket's path, or the engine's own context. */
static bool is_local(struct str value)
{
    static const char *const begins[] = {"unix:", "fd:", "/"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (str_starts(value, begins[i]))
            return !str_has(value, "desktop"); /* Docker Desktop's virtual machine */
    return str_is(value, "default") || str_is(value, "rootless");
}

static void place_at(struct peel_place *p, enum peel_where where, const char *by, struct str value)
{
    if (p->where == PEEL_AWAY || (p->where != PEEL_HERE && where != PEEL_AWAY && p->where <= where))
        return; /* a list of hosts selects from a file's */
    p->where = where;
    snprintf(p->by, sizeof p->by, "%s", by);
    p->hosts = value;
}

/* Notes in p where the option starts the program: on hosts, by a host file, or away. word: the
 * option in the command line; global: it precedes the verb. */
static void place_option(const struct starter *s, const char *word, const struct peel_option *o, bool global, struct peel_place *p)
{
    struct str name = o->name.n ? o->name : str_of(word + strspn(word, "-")), value = o->name.n && o->value.p ? o->value : STR("");
    bool mca = is_one_of_words("mca gmca omca prtemca", name) && str_has(value, "hostfile");
    char by[PEEL_BY_SIZE];
    if (o->name.n)
        snprintf(by, sizeof by, "its option %s" STR_FMT, name.n > 1 ? "--" : "-", STR_ARG(name));
    else
        snprintf(by, sizeof by, "its option %.*s", (int)strcspn(word, "="), word);
    if (is_one_of_words(s->listed, name) && !strchr("/", value.n ? *value.p : 0))
        place_at(p, PEEL_LISTED, by, value);
    else if (is_one_of_words(s->listed, name))
        place_at(p, PEEL_AWAY, by, value); /* a file */
    else if (is_one_of_words(s->hosts, name))
        place_at(p, PEEL_HOSTS, by, value);
    else if (is_one_of_words(s->host_files, name))
        place_at(p, PEEL_HOST_FILE, by, value);
    else if (is_one_of_words(s->places, name) || mca ||
             (is_one_of_words(s->away, name) && global == (s->verbs != NULL) && !is_local(value)))
        place_at(p, PEEL_AWAY, by, value);
}

/* Notes that apply with any options. */
static void place_starter(const struct starter *s, char *const *env, struct peel_place *p)
{
    const char *const lists[] = {s->away_variables, s->host_variables};
    char name[64];
    if (s->remote)
        place_at(p, PEEL_AWAY, s->decides ? s->decides : "it connects to a server", STR(""));
    for (size_t i = 0; i < 2; i++)
        for (struct str rest = str_of(lists[i]), word; (word = str_word(&rest)).n && word.n < sizeof name;) {
            memcpy(name, word.p, word.n);
            name[word.n] = 0;
            const char *value = env_text(env, name);
            if (value && (i || !is_local(str_of(value))) && p->where == PEEL_HERE)
                place_at(p, i ? PEEL_HOST_FILE : PEEL_AWAY, name, str_of(value));
        }
}

/* Returns whether Open MPI's pattern may leave nodes of a job without ranks; by core, node … all
 * slots are filled. */
static bool leaves_nodes(struct str pattern)
{
    return str_starts(pattern, "ppr") || str_starts(pattern, "seq") || str_starts(pattern, "rankfile") || str_starts(pattern, "pe-list") ||
           (pattern.n && str_is_digit(*pattern.p));
}

/* Notes in *shape what the option states about tasks, nodes and hosts; of options that repeat the
 * last one counts. */
static void shape_option(const struct starter *s, const struct peel_option *o, struct peel_shape *shape)
{
    struct {
        const char *names;
        int *to;
    } rows[] = {{s->tasks, &shape->tasks},
                {s->nodes, &shape->nodes},
                {s->per_node, &shape->tasks_per_node},
                {s->cpus, &shape->cpus_per_task},
                {s->per_round, &shape->per_round}};
    int64_t n;
    shape->several |= is_one_of_words(s->groups, o->name) && !str_int(o->value, &n);
    shape->hosts |= is_one_of_words(s->maps, o->name) && leaves_nodes(o->value.p ? o->value : STR(""));
    shape->hosts |= is_one_of_words(s->hosts, o->name) || is_one_of_words(s->host_files, o->name) || is_one_of_words(s->places, o->name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (o->name.n && rows[i].names && str_has_word(rows[i].names, o->name))
            *rows[i].to = o->value.p && str_int(o->value, &n) && n > 0 && n < 100000000 ? (int)n : 0; /* the last one counts */
}

/* Removes the tasks per node from the shape where another number contradicts them: with -n, srun
 * uses that option as a maximum. */
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

/* Returns whether the word is one of hwloc's places: "core:0-3", "0x3", "all", with ~, ^, + or x
 * before them. */
static bool is_location(const char *word)
{
    word += strspn(word, "~^+x");
    return strchr(word, ':') || strncmp(word, "0x", 2) == 0 || strcmp(word, "all") == 0 || strcmp(word, "root") == 0;
}

static bool is_option(const struct starter *s, const char *word)
{
    return word[0] == '-' && (word[1] || s->assignments); /* env's "-" is one */
}

/* ---- settings ---- */

struct setting_list {
    char *const *argv;
    struct peel_setting *list;
    size_t count;
};

static void add_setting(struct setting_list *to, const struct starter *s, char *const *at, int words, struct str name, struct str value)
{
    if (to && !(s->labels && s->labels[0] == '*'))
        to->list[to->count++] = (struct peel_setting){s->name, name, value, (size_t)(at - to->argv), (size_t)words};
}

/* Returns whether all letters of the word are labels of the starter: "-it" is -i and -t. */
static bool are_labels(const struct starter *s, const char *word)
{
    size_t n = 0;
    for (word += *word == '-'; word[n]; n++)
        if (!is_one_of_words(s->labels, (struct str){word + n, 1}))
            return false;
    return n > 0;
}

/* Adds the option of a starter to the settings (`to` NULL: none are requested), but not those that
 * the shape or labels have. */
static void add_option(struct setting_list *to, const struct starter *s, char *const *at, const struct peel_option *o)
{
    const char *const recorded[] = {s->tasks, s->nodes, s->per_node, s->cpus, s->groups, s->labels};
    struct str name = o->name.n ? o->name : str_of(*at + strspn(*at, "-")), rest = name;
    int words = 0;
    if (!to)
        return;
    if (!o->name.n) {
        name = str_cut(&rest, '=');
        if (!s->single_dash && (*at)[1] != '-' && are_labels(s, *at))
            return;
    }
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (is_one_of_words(recorded[i], name))
            return;
    while (words < o->words && at[words])
        words++;
    if (words == 3) /* a pair: -mca KEY VALUE */
        add_setting(to, s, at, words, o->value, str_of(at[2]));
    else
        add_setting(to, s, at, words, name, o->name.n ? o->value : rest);
}

static void add_operand(struct setting_list *to, const struct starter *s, char *const *at)
{
    struct str value = str_of(*at), name = {NULL, 0};
    if (s->assignments && is_assignment(*at))
        name = str_cut(&value, '=');
    add_setting(to, s, at, 1, name, value);
}

/* Skips the words between the starter's name and its options. NULL: it starts no program. */
static char *const *past_verb(const struct starter *s, char *const *at, struct peel_options *told, struct setting_list *to)
{
    const struct starter global = {.letters = s->global_letters ? s->global_letters : "", .names = s->global_names ? s->global_names : ""};
    add_setting(to, s, at, 1, (struct str){NULL, 0}, (struct str){NULL, 0});
    at++;
    for (int i = 0; i < s->leading && *at && **at != '-'; i++)
        add_operand(to, s, at++);
    if (!s->verbs)
        return at;
    while (*at && (**at == '-' || is_one_of_words(s->nouns, str_of(*at)))) { /* apptainer -q exec, docker -H tcp://host container run */
        if (**at != '-') {
            at++;
            continue;
        }
        struct peel_option o = option_at(&global, at);
        place_option(s, *at, &o, true, &told->place);
        add_option(to, s, at, &o);
        while (o.words-- && *at)
            at++;
    }
    if (!*at || !str_has_word(s->verbs, str_of(*at)))
        return NULL;
    add_operand(to, s, at);
    return at + 1;
}

/* Skips the words between the options and the program. */
static char *const *past_operands(const struct starter *s, char *const *at, struct setting_list *to)
{
    for (int i = 0; i < s->operands && *at; i++)
        add_operand(to, s, at++);
    if (s->operands && *at && strcmp(*at, "--") == 0) /* ch-run IMAGE -- PROGRAM */
        at++;
    while (s->assignments && *at && is_assignment(*at))
        add_operand(to, s, at++);
    return at;
}

/* Returns whether a remote shell leaves the words as they are: only then is the program in its line
 * known. */
static bool are_plain_words(char *const *words)
{
    for (; *words; words++)
        if (strpbrk(*words, " \t\n;|&<>()$`\\\"'*?[#~"))
            return false;
    return true;
}

/* Returns the word after one starter's own words, or NULL when none is left, or the line does not
 * name the program. `*told`: the values of its options. to: NULL, or where its settings are added. */
static char *const *peel_one(const struct starter *s, char *const *at, struct peel_options *told, struct setting_list *to)
{
    *told = (struct peel_options){0};
    for (at = past_verb(s, at, told, to); at && *at;) {
        if (strcmp(*at, "--") == 0) {
            at++;
            break;
        }
        if (!is_option(s, *at)) {
            if (!(s->assignments && is_assignment(*at)) && !(s->locations && is_location(*at)) && !s->mixed)
                break;
            add_operand(to, s, at++);
            continue;
        }
        struct peel_option o = option_at(s, at);
        if (s->hides && str_has_word(s->hides, o.name))
            return NULL;
        told->joins |= is_one_of_words(s->joins, o.name);
        told->own_job |= is_one_of_words(s->own_job, o.name.n ? o.name : str_of(*at + strspn(*at, "-")));
        shape_option(s, &o, &told->shape);
        place_option(s, *at, &o, false, &told->place);
        add_option(to, s, at, &o);
        while (o.words-- && *at)
            at++;
    }
    settle_per_node(s, &told->shape);
    if (at && *at && s->host_operands && !told->shape.hosts) {
        place_at(&told->place, PEEL_HOSTS, "its operands", str_of(*at));
        told->shape.hosts = true;
        for (int i = 0; i < told->shape.tasks && *at; i++)
            add_operand(to, s, at++);
    }
    if (at)
        at = past_operands(s, at, to);
    return at && *at && **at != '-' && !s->opaque && (!s->shell || are_plain_words(at)) ? at : NULL;
}

/* Returns the program after all starters of the line. ret_parallel: how many of the starters begin
 * several ranks; shape (NULL: not requested) is that of the last one; to (NULL: not requested): the
 * settings of all. */
static char *const *peel_starters(char *const *argv, int *ret_parallel, struct peel_shape *shape, struct setting_list *to)
{
    char *const *at = argv;
    struct peel_options told;
    *ret_parallel = 0;
    for (int depth = 0; depth < 16 && *at; depth++) {
        const struct starter *s = starter_of(*at);
        size_t before = to ? to->count : 0;
        char *const *next = s ? peel_one(s, at, &told, to) : NULL;
        if (s && s->parallel && shape)
            *shape = told.shape;
        if (!next) { /* then it is the program */
            if (to)
                to->count = before;
            break;
        }
        *ret_parallel += s->parallel;
        at = next;
    }
    return at;
}

char *const *peel_program(char *const *argv)
{
    int parallel;
    return peel_starters(argv, &parallel, NULL, NULL);
}

size_t peel_settings(char *const *argv, struct peel_setting *ret)
{
    int parallel;
    struct setting_list to = {.argv = argv, .list = ret};
    peel_starters(argv, &parallel, NULL, &to);
    return to.count;
}

/* Returns whether one of the starter's variables is set, where it needs one to start the program on
 * this machine. */
static bool can_start_here(const struct starter *s, char *const *env)
{
    char name[64];
    for (struct str rest = str_of(s->here), word; (word = str_word(&rest)).n && word.n < sizeof name;) {
        memcpy(name, word.p, word.n);
        name[word.n] = 0;
        if (env_text(env, name))
            return true;
    }
    return !s->here;
}

/* Returns whether this process is in a job but not on a node of it: salloc's shell is on the
 * machine where it was called, and slurmd sets its node's name on the nodes of a job alone. */
static bool is_outside_job_nodes(char *const *env)
{
    return env_text(env, "SLURM_JOB_ID") && !env_text(env, "SLURMD_NODENAME");
}

bool peel_next(char *const **at, char *const *env, struct peel_place *ret)
{
    const struct starter *s = *at && **at ? starter_of(**at) : NULL;
    struct peel_options told;
    if (!s)
        return false;
    char *const *verb = past_verb(s, *at, &(struct peel_options){0}, NULL);
    *at = peel_one(s, *at, &told, NULL);
    *ret = told.place;
    ret->starter = s->name;
    if (!verb)
        return false; /* `docker ps` starts nothing */
    place_starter(s, env, ret);
    if (!can_start_here(s, env) || (s->nodes_of_job && ret->where == PEEL_HERE && is_outside_job_nodes(env)))
        *ret = (struct peel_place){.starter = s->name, .where = PEEL_OTHER_NODES};
    ret->binds = s->binds;
    ret->regrouped = told.joins || (s->joins && !*s->joins);
    ret->submits = s->submits;
    ret->queues = s->submits && s->opaque;
    ret->own_job = told.own_job || (s->own_job && !*s->own_job);
    ret->served = (s->served || s->remote) && !ret->regrouped;
    return true;
}

const char *peel_starts_outside(const char *name, char *const *env, bool *ret_away)
{
    const struct starter *s = starter_of(name);
    bool known = s && !s->verbs && !s->opaque && !s->joins;
    *ret_away = known && (s->remote || !can_start_here(s, env));
    return *ret_away || (known && s->served) ? s->name : NULL;
}

const char *peel_outside_name(size_t *at)
{
    while (*at < sizeof starters / sizeof *starters) {
        const struct starter *s = &starters[(*at)++];
        if (s->remote || s->served || s->here || s->away || s->away_variables || s->hosts || s->submits)
            return s->name;
    }
    return NULL;
}

bool peel_is_parallel(char *const *argv)
{
    int parallel;
    peel_starters(argv, &parallel, NULL, NULL);
    return parallel > 0;
}

bool peel_connects(const char *starter)
{
    const struct starter *s = starter_of(starter);
    return s && s->remote && !s->decides;
}

const char *peel_launcher(char *const *argv)
{
    struct peel_options told;
    const struct starter *s;
    for (char *const *at = argv; at && *at && (s = starter_of(*at)); at = peel_one(s, at, &told, NULL))
        if (s->parallel)
            return s->name;
    return NULL;
}

bool peel_read_shape(char *const *argv, struct peel_shape *ret)
{
    int parallel;
    *ret = (struct peel_shape){0};
    char *const *program = peel_starters(argv, &parallel, ret, NULL);
    bool several = ret->several;
    for (char *const *a = program; *a; a++)
        several |= strcmp(*a, ":") == 0;
    if (parallel == 1 && !several)
        return true;
    *ret = (struct peel_shape){0};
    return false;
}
