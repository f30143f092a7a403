/* environment.c: the environment as artifact environment.txt without secrets, and the variables that tune programs as env.* params.
 *
 * It is the environment of the job, with the changes that the command line makes. Where it is not known what the program gets, variables that tune it are missing.
 * In the public profile the artifact holds only variables whose names begin with an allowed prefix, with identities replaced. */
#include "base/fs.h"
#include "probes/environment.h"
#include "probes/look.h"
#include "probes/redact.h"
#include "probes/variables.h"

#include <stdio.h>

enum { VALUE_MAX = 32768, TEXT_MAX = 1 << 20, PARAMS_MAX = 80 };

enum use { PARAM_TOO, TEXT_ONLY, NEITHER };

/* Names by prefix: what to do with them; the longest matching row wins. Others: in the private text only. */
static const struct {
    const char *prefix;
    enum use use;
} prefixes[] = {
#define TUNES(prefix) {prefix, PARAM_TOO},
#define SHOWN(prefix) {prefix, TEXT_ONLY},
#define HIDDEN(prefix) {prefix, NEITHER},
#include "probes/environment.def"
#undef TUNES
#undef SHOWN
#undef HIDDEN
};

/* Returns the use of the longest prefix in the table that the variable's name begins with; NEITHER:
 * none fits. */
static enum use environment_use(struct str name)
{
    size_t longest = 0;
    enum use use = NEITHER;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i].prefix);
        if (n > longest && str_starts(name, prefixes[i].prefix)) {
            longest = n;
            use = prefixes[i].use;
        }
    }
    return use;
}

bool environment_is_shown(struct str name)
{
    return environment_use(name) != NEITHER;
}

static bool environment_is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return str_valid_utf8(s);
}

/* Replaces `to` by the value without secrets, and for a published run without identities. */
static void environment_redact_value(const struct host *h, struct identities *ids, struct str name, struct str value, struct buf *to)
{
    buf_clear(to);
    redact_variable(to, name, value);
    if (h->public_profile)
        identities_replace(ids, to->p ? to->p : (char[]){0}, to->n, NULL, NULL);
}

/* Writes the key of a variable: env.omp_num_threads of OMP_NUM_THREADS. False: the name is too long
 * for a key. */
static bool environment_key(struct str name, char ret[128])
{
    size_t n = strlen("env.");
    if (name.n + n >= 128)
        return false;
    memcpy(ret, "env.", n);
    for (size_t i = 0; i < name.n; i++) {
        char c = str_lower(name.p[i]);
        ret[n++] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
    }
    ret[n] = 0;
    return true;
}

struct environment_writing {
    struct host *h;
    struct record *r;
    struct identities *ids;
    const struct variables *variables; /* that the program gets */
    struct buf text, value;
    size_t params, left_out, unknown;
};

/* Records the variable as a param. Leaves out a value with a path, which is no tuning and would
 * differ at each site, a long one, and those above PARAMS_MAX. */
static void environment_emit_tuning(struct environment_writing *w, struct str name, struct str value)
{
    char key[128];
    if (value.n > 250 || memchr(value.p, '/', value.n) || w->params == PARAMS_MAX || !environment_key(name, key))
        return;
    w->params++;
    emit_param(w->h, w->r, key, value);
}

static void environment_add_line(struct buf *text, struct str name, struct str value)
{
    if (environment_is_plain(name))
        buf_str(text, name);
    else
        buf_json(text, name);
    buf_putc(text, '=');
    if (environment_is_plain(value))
        buf_str(text, value);
    else
        buf_json(text, value);
    buf_putc(text, '\n');
}

/* Appends a variable, redacted and cut after VALUE_MAX bytes, and records it as a param where `use`
 * requires it. Counts what it leaves out: in a public record, or in a text above TEXT_MAX. */
static void environment_add(struct environment_writing *w, struct str name, struct str value, enum use use)
{
    if ((w->h->public_profile && use == NEITHER) || w->text.n > TEXT_MAX) {
        w->left_out++;
        return;
    }
    environment_redact_value(w->h, w->ids, name, str_sub(value, 0, VALUE_MAX), &w->value);
    if (value.n > VALUE_MAX)
        buf_puts(&w->value, "...");
    if (use == PARAM_TOO && value.n > 0)
        environment_emit_tuning(w, name, buf_text(&w->value));
    environment_add_line(&w->text, name, buf_text(&w->value));
}

/* Records the value of a variable that tunes programs, as the program gets it; a missing value with
 * the reason where that is not known. */
static void environment_add_tuning(struct environment_writing *w, struct str name)
{
    char key[128];
    struct str value;
    const char *why;
    enum variable_state state = variables_find(w->variables, name, &value, &why);
    if (state == VARIABLE_SET)
        environment_add(w, name, value, PARAM_TOO);
    if (state != VARIABLE_UNKNOWN || !environment_key(name, key) || record_find(w->r, FACT_MISSING, key))
        return;
    w->unknown++;
    emit_missing(w->h, w->r, key, "%s", why);
}

/* Adds a variable of the job's environment, with the change that the command line makes. */
static void environment_add_of_job(struct environment_writing *w, struct str name, struct str value)
{
    enum use use = environment_use(name);
    const struct variable_change *change = variables_change_of(w->variables, name);
    if (use == PARAM_TOO)
        environment_add_tuning(w, name);
    else if (!change || change->why)
        environment_add(w, name, value, use);
    else if (change->value.p)
        environment_add(w, name, change->value, use);
}

/* Adds the variables that the command line sets and the environment has not. */
static void environment_add_of_line(struct environment_writing *w)
{
    const struct variables *v = w->variables;
    size_t word = 0, at = 0;
    for (size_t i = 0; i < v->count; i++) {
        const struct variable_change *c = &v->changes[i];
        if (variables_change_of(v, c->name) != c || variables_is_of_job(v, c->name) || str_ends(c->name, "*"))
            continue;
        if (environment_use(c->name) == PARAM_TOO)
            environment_add_tuning(w, c->name);
        else if (c->value.p)
            environment_add(w, c->name, c->value, environment_use(c->name));
    }
    for (struct str name; (name = variables_next_assigned(v, &word, &at)).p;)
        if (environment_use(name) == PARAM_TOO && !variables_is_of_job(v, name) && !variables_change_of(v, name))
            environment_add_tuning(w, name);
}

/* Writes environment.txt into the spool, and records the artifact. Without a spool it writes
 * nothing. Returns 0, or another value with *err. */
static int environment_store(struct environment_writing *w, struct err *err)
{
    const struct host *h = w->h;
    if (w->unknown > 0)
        buf_printf(&w->text, "# not known: %zu variable%s that tune%s programs, which the command line may change\n", w->unknown,
                   str_plural(w->unknown), w->unknown == 1 ? "s" : "");
    if (w->left_out > 0)
        buf_printf(&w->text, "# not shown: %zu more variable%s%s\n", w->left_out, str_plural(w->left_out),
                   h->public_profile ? " in a public record" : ": the text would be longer than 1 MiB");
    if (h->spool < 0)
        return 0;
    if (w->text.failed || w->value.failed)
        return err_memory(err, "the environment");
    if (fs_create(h->spool, "environment.txt", buf_text(&w->text), 0600, err) != 0)
        return -1;
    record_artifact(w->r, "environment.txt", "environment.txt");
    return 0;
}

/* Stores the variables of the environment as artifact, with secrets and, in a public record,
 * identities replaced. -1 with err: it cannot be stored. */
static int environment_before(struct host *h, struct record *r, struct err *err)
{
    struct identities own;
    const struct variables plain = {.env = h->env};
    struct environment_writing w = {
        .h = h, .r = r, .ids = h->redact && h->redact->ids ? h->redact->ids : &own, .variables = h->variables ? h->variables : &plain};
    buf_init(&w.text, TEXT_MAX + VALUE_MAX * 8);
    buf_init(&w.value, VALUE_MAX * 2);
    identities_init(&own);
    if (h->public_profile && w.ids == &own) {
        identities_add_env(&own, h->env);
        identities_add_host_names(&own, h);
    }
    for (char *const *e = h->env; e && *e; e++) {
        struct str value = str_of(*e), name = str_cut(&value, '=');
        if (value.p && name.n > 0)
            environment_add_of_job(&w, name, value);
    }
    environment_add_of_line(&w);
    int stored = environment_store(&w, err);
    identities_deinit(&own);
    buf_deinit(&w.text);
    buf_deinit(&w.value);
    return stored;
}

const struct probe probe_environment = {
    .name = "environment",
    .summary = "environment without secrets; variables that tune programs",
    .before = environment_before,
    .nested = true,
    .anywhere = true,
};
