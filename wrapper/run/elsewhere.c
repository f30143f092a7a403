/* elsewhere.c: whether the program runs on this machine, so that facts about the machine are facts about the run. */
#include "run/elsewhere.h"

#include "base/address.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/hostlist.h"
#include "base/search_path.h"
#include "launch/peel.h"
#include "run/shell_line.h"
#include "run/shell_values.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, NAME_SIZE = 256 };

/* ---- is it this machine? ---- */

static bool is_own_address(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return address_is_own((const struct sockaddr *)&four);
    return inet_pton(AF_INET6, text, &six.sin6_addr) == 1 && address_is_own((const struct sockaddr *)&six);
}

/* Returns whether both names are of one host: "n1" is "n1.site.org", but two names with domains
 * must be equal. */
static bool is_same_host(const char *one, const char *other)
{
    size_t n = strcspn(one, "."), m = strcspn(other, ".");
    bool is_short = !one[n] || !other[m];
    return *one && (strcasecmp(one, other) == 0 || (is_short && n == m && strncasecmp(one, other, n) == 0));
}

/* Returns whether the first line of /etc/hosts with the name has an address of this machine. False
 * also where no line has it. */
static bool is_in_hosts(const char *name, struct str hosts)
{
    while (hosts.p) {
        struct str line = str_cut(&hosts, '\n'), rest = str_cut(&line, '#'), address = str_word(&rest);
        char text[NAME_SIZE];
        bool named = false;
        for (struct str word; (word = str_word(&rest)).n;)
            named |= word.n == strlen(name) && strncasecmp(word.p, name, word.n) == 0;
        snprintf(text, sizeof text, STR_FMT, STR_ARG(address));
        if (named)
            return is_own_address(text); /* the first line counts, as for the resolver */
    }
    return false;
}

/* Returns whether the entry, with or without ":slots" and "user@", is a name or an address of this
 * machine. hosts: the text of /etc/hosts. */
static bool elsewhere_is_own_name(struct str entry, struct str hosts, char *const *env)
{
    const char *node = env_text(env, "SLURM_JOB_ID") ? env_text(env, "SLURMD_NODENAME") : NULL;
    char name[NAME_SIZE], own[NAME_SIZE] = "";
    const char *at = memchr(entry.p, '@', entry.n);
    if (at)
        entry = str_sub(entry, (size_t)(at + 1 - entry.p), entry.n);
    const char *colon = memchr(entry.p, ':', entry.n);
    if (colon && !memchr(colon + 1, ':', (size_t)(entry.p + entry.n - colon - 1)))
        entry.n = (size_t)(colon - entry.p);
    if (entry.n == 0 || entry.n >= sizeof name)
        return false;
    memcpy(name, entry.p, entry.n);
    name[entry.n] = 0;
    gethostname(own, sizeof own - 1);
    return is_own_address(name) || is_same_host(name, own) || (node && is_same_host(name, node)) || strcasecmp(name, "localhost") == 0 ||
           is_in_hosts(name, hosts);
}

/* ---- the launchers ---- */

/* Refuses a pipe: reading would consume what the launcher is to read. */
static bool read_regular_file(const char *path, struct buf *to)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && fs_read(AT_FDCWD, path, FILE_MAX, 0, to, NULL) == 0;
}

static struct str first_of_file(struct str text)
{
    while (text.p) {
        struct str line = str_cut(&text, '\n'), rest = str_cut(&line, '#'), word = str_word(&rest);
        if (word.n)
            return word;
    }
    return STR("");
}

/* Returns whether the first host of the starter's list or host file is this machine. False also
 * where it is not known. */
static bool is_first_host_own(const struct peel_place *p, char *const *env, struct arena *a)
{
    CLEANUP_BUF struct buf hosts, file;
    buf_init(&hosts, FILE_MAX + 65536);
    buf_init(&file, FILE_MAX + 65536);
    struct str list = p->hosts, first = str_cut(&list, ',');
    read_regular_file("/etc/hosts", &hosts);
    if (p->where == PEEL_HOST_FILE) {
        const char *path = arena_dup(a, p->hosts.p, p->hosts.n);
        first = path && read_regular_file(path, &file) ? first_of_file(buf_text(&file)) : STR("");
    }
    return first.n && elsewhere_is_own_name(first, buf_text(&hosts), env);
}

/* Returns whether docker's configuration names another context than this machine's, as `docker
 * context use` writes it. */
static bool has_other_context(char *const *env, struct arena *a)
{
    const char *folder = env_text(env, "DOCKER_CONFIG"), *home = env_text(env, "HOME");
    const char *path = folder ? arena_printf(a, "%s/config.json", folder) : arena_printf(a, "%s/.docker/config.json", home ? home : "");
    CLEANUP_BUF struct buf text;
    struct json *doc = NULL;
    struct err err = {0};
    buf_init(&text, FILE_MAX + 65536);
    if (!path || !read_regular_file(path, &text) || json_parse(&doc, buf_text(&text), NULL, &err))
        return false;
    const char *context = json_string(json_get(doc, "currentContext"), "");
    bool other = *context && strcmp(context, "default") != 0 && strcmp(context, "rootless") != 0;
    json_free(doc);
    return other;
}

/* Returns whether this node is in srun's list, whose nodes all belong to its step. */
static bool is_listed_node(struct str list, char *const *env)
{
    const char *node = env_text(env, "SLURMD_NODENAME");
    char own[NAME_SIZE] = "";
    gethostname(own, sizeof own - 1);
    return hostlist_has(list, str_of(node ? node : own));
}

static bool is_own_job(const struct peel_place *p, char *const *env)
{
    const char *id = env_text(env, "SLURM_JOB_ID");
    return strcmp(p->by, "its option --jobid") == 0 && id && str_is(p->hosts, id);
}

/* Returns why this starter may run the program on another machine, as a sentence in the arena.
 * NULL: it does not, or out of memory. */
static const char *elsewhere_reason_of(const struct peel_place *p, char *const *env, struct arena *a)
{
    if (p->where == PEEL_OTHER_NODES)
        return arena_printf(a, "%s runs the program on other machines: this one is no node of its job, and nothing of it is recorded",
                            p->starter);
    if (p->where == PEEL_AWAY && is_own_job(p, env))
        return NULL;
    if (p->where == PEEL_LISTED)
        return is_listed_node(p->hosts, env)
                   ? NULL
                   : arena_printf(a,
                                  "%s runs the program on other machines: this one is not in the list of %s, and nothing of it is recorded",
                                  p->starter, p->by);
    if (p->where == PEEL_AWAY)
        return arena_printf(a, "%s may run the program on another machine (%s): nothing of this one is recorded", p->starter, p->by);
    if (p->where != PEEL_HERE && !is_first_host_own(p, env, a))
        return arena_printf(
            a, "%s may run the program on another machine (%s): its first host is not known as this one, of which nothing is recorded",
            p->starter, p->by);
    if (p->where == PEEL_HERE && strcmp(p->starter, "docker") == 0 && !env_text(env, "DOCKER_HOST") && !env_text(env, "DOCKER_CONTEXT") &&
        has_other_context(env, a))
        return arena_printf(a, "docker may run the program on another machine (its current context): nothing of this one is recorded");
    return NULL;
}

char *const *elsewhere_variables(char *const *argv, char *const *env, struct arena *a)
{
    size_t n = 0, words = 0;
    while (env && env[n])
        n++;
    while (argv && argv[words])
        words++;
    char **both = arena_get(a, (n + words + 1) * sizeof *both);
    size_t count = 0;
    if (!both)
        return env;
    for (size_t i = 0; i < words; i++)
        if (argv[i][0] != '-' && strchr(argv[i], '='))
            both[count++] = argv[i];
    for (size_t i = 0; i < n; i++)
        both[count++] = env[i];
    both[count] = NULL;
    return both;
}

enum { SHELLS_MAX = 4 }; /* sh -c "sh -c …" */

/* Returns the program behind the starters of a line. *ret_why: the reason of the first one that leads elsewhere, or NULL; *ret_place: of the last one read. */
static char *const *pass_starters(char *const *argv, char *const *env, struct arena *a, const char **ret_why, struct peel_place *ret_place)
{
    char *const *at = argv, *const *program = argv;
    *ret_why = NULL;
    while (!*ret_why && at && *at && peel_next(&at, env, ret_place)) {
        *ret_why = elsewhere_reason_of(ret_place, env, a);
        program = at && *at ? at : program;
    }
    return program;
}

const char *elsewhere_starter(char *const *argv, char *const *env, struct arena *a, char *const **ret_program)
{
    const char *why;
    struct peel_place place;
    *ret_program = pass_starters(argv, env, a, &why, &place);
    return why ? place.starter : NULL;
}

/* Returns the line with the name of the file behind the program, where that is a link with another
 * name (`ln -s /usr/bin/srun go`), in the arena. NULL: it is none, or out of memory. */
static char *const *follow_starter_link(char *const *argv, char *const *env, struct arena *a)
{
    char real[PATH_MAX];
    const char *file = argv[0] && argv[0][0] ? search_path_find(env_text(env, "PATH"), argv[0], false, a) : NULL;
    size_t n = 0;
    if (!file || !realpath(file, real) || strcmp(str_base_name(real), str_base_name(argv[0])) == 0)
        return NULL;
    while (argv[n])
        n++;
    char **line = arena_get(a, (n + 1) * sizeof *line);
    if (!line)
        return NULL;
    memcpy(line, argv, (n + 1) * sizeof *line);
    line[0] = arena_dup(a, real, strlen(real));
    return line[0] ? line : NULL;
}

/* Returns whether the program only reads or prints its words, and starts none of them: `grep srun
 * job.sh`. */
static bool starts_nothing(const char *program)
{
    return str_has_word(
        "echo printf cat head tail grep egrep fgrep rg sed sort uniq wc cut tr test [ true false ls stat file which whereis type man "
        "cp mv ln rm mkdir touch chmod diff cmp sha256sum md5sum tee sleep export cd pwd",
        str_of(str_base_name(program)));
}

static const char *elsewhere_find_reason(char *const *argv, char *const *env, int depth, struct arena *a);

/* Returns why a program that is no starter may start what its words name on another machine: `flock
 * lock ssh n1 prog`, `tini sh -c LINE`. Words count where they are a complete line, with a program.
 * NULL: they do not. */
static const char *find_reason_in_words(char *const *program, char *const *env, int depth, struct arena *a)
{
    const char *why = NULL;
    if (starts_nothing(*program))
        return NULL;
    for (char *const *word = program + 1; *word && !why; word++) {
        char *const *at = word, *const *line = word + 1;
        struct peel_place place;
        if (peel_next(&at, env, &place) && at && *at)
            pass_starters(word, env, a, &why, &place);
        else if (shell_line_of(word, &line).p)
            return elsewhere_find_reason(word, env, depth + 1, a);
    }
    return why;
}

/* Returns why the program runs on another machine, also inside lines for a shell, in the arena.
 * NULL: it runs here, as far as it is known. */
static const char *elsewhere_find_reason(char *const *argv, char *const *env, int depth, struct arena *a)
{
    const char *why = NULL;
    struct peel_place place;
    char *const *program = pass_starters(argv, env, a, &why, &place);
    char *const *line = why || !program ? NULL : follow_starter_link(program, env, a);
    if (line)
        pass_starters(line, env, a, &why, &place);
    if (why || !program || !*program || depth == SHELLS_MAX)
        return why;
    char *const *word = program + 1;
    for (struct str text; !why && (text = shell_values_replace(shell_line_of(program, &word), env, a)).p;)
        for (char **command; !why && (command = shell_line_next(&text, a));)
            why = elsewhere_find_reason(command, env, depth + 1, a);
    return why ? why : find_reason_in_words(program, env, depth, a);
}

const char *elsewhere_reason(char *const *argv, char *const *env, struct arena *a)
{
    return elsewhere_find_reason(argv, elsewhere_variables(argv, env, a), 0, a);
}

struct elsewhere_ways elsewhere_find_ways(char *const *argv, char *const *env, struct arena *a)
{
    struct elsewhere_ways ways = {.served = NULL};
    struct peel_place place;
    for (char *const *at = argv; at && *at && peel_next(&at, env, &place);) {
        if (place.served && !ways.server)
            ways.server = place.starter;
        if (place.served && !ways.served)
            ways.served = arena_printf(a, "%s has a service start the program, which is no process of this run", place.starter);
        if (place.submits && !ways.submits)
            ways.submits = place.starter;
        if (place.own_job && !ways.own_job && !is_own_job(&place, env))
            ways.own_job = place.starter;
        if (place.binds)
            ways.binder = place.starter;
        if (place.regrouped && !ways.regrouped)
            ways.regrouped = arena_printf(a, "%s starts the program in a control group of its own", place.starter);
    }
    if (ways.served)
        ways.regrouped = ways.served;
    return ways;
}
