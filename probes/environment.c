/* environment.c: the program's environment as artifact environment.txt without secrets, and the variables that tune it as env.* params.
 *
 * In the public profile the artifact holds only variables whose names begin with an allowed prefix, with identities replaced. */
#include "base/fs.h"
#include "probes/environment.h"
#include "probes/look.h"
#include "probes/redact.h"

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

/* The value as it may be written: secrets out, in public identities too. */
static void environment_redact_value(const struct host *h, struct identities *ids, struct str name, struct str value, struct buf *to)
{
    buf_clear(to);
    redact_variable(to, name, value);
    if (h->public_profile)
        identities_replace(ids, to->p ? to->p : (char[]){0}, to->n, NULL, NULL);
}

/* env.omp_num_threads of OMP_NUM_THREADS; a value with a path is no tuning and would differ at each site. */
static void environment_emit_tuning(struct host *h, struct record *r, struct str name, struct str value)
{
    char key[128] = "env.";
    size_t n = strlen(key);
    if (name.n + n >= sizeof key || value.n > 250 || memchr(value.p, '/', value.n))
        return;
    for (size_t i = 0; i < name.n; i++) {
        char c = str_lower(name.p[i]);
        key[n++] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
    }
    key[n] = 0;
    emit_param(h, r, key, value);
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

static int environment_before(struct host *h, struct record *r, struct err *err)
{
    struct buf text CLEANUP_BUF, value CLEANUP_BUF;
    struct identities own, *ids = h->redact && h->redact->ids ? h->redact->ids : &own;
    size_t params = 0, left_out = 0;
    buf_init(&text, TEXT_MAX + VALUE_MAX * 8);
    buf_init(&value, VALUE_MAX * 2);
    identities_init(&own);
    if (h->public_profile && ids == &own) {
        identities_add_env(&own, h->env);
        identities_add_host_names(&own, h);
    }
    for (char *const *e = h->env; e && *e; e++) {
        struct str raw = str_of(*e), name = str_cut(&raw, '=');
        if (!raw.p || name.n == 0)
            continue;
        enum use use = environment_use(name);
        if ((h->public_profile && use == NEITHER) || text.n > TEXT_MAX) {
            left_out++;
            continue;
        }
        environment_redact_value(h, ids, name, str_sub(raw, 0, VALUE_MAX), &value);
        if (raw.n > VALUE_MAX)
            buf_puts(&value, "...");
        if (use == PARAM_TOO && raw.n > 0 && params < PARAMS_MAX) {
            params++;
            environment_emit_tuning(h, r, name, buf_text(&value));
        }
        environment_add_line(&text, name, buf_text(&value));
    }
    identities_deinit(&own);
    if (left_out > 0)
        buf_printf(&text, "# not shown: %zu more variable%s%s\n", left_out, str_plural(left_out),
                   h->public_profile ? " in a public record" : ": the text would be longer than 1 MiB");
    if (h->spool < 0)
        return 0;
    if (text.failed || value.failed)
        return err_memory(err, "the environment");
    if (fs_create(h->spool, "environment.txt", buf_text(&text), 0600, err) != 0)
        return -1;
    record_artifact(r, "environment.txt", "environment.txt");
    return 0;
}

const struct probe probe_environment = {
    .name = "environment",
    .summary = "environment without secrets; variables that tune programs",
    .before = environment_before,
    .nested = true,
    .anywhere = true,
};
