/* exporter_secret.c: secrets of exporters, from the environment, a file or a program's output. */
#include "base/clock.h"
#include "base/env.h"
#include "base/query.h"
#include "base/secret.h"
#include "exporters/exporter.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SECRET_MAX = 64 << 10, COMMAND_WORDS = 64, COMMAND_MS = 30000 };

static struct str secret_source(const struct opt_value *v, struct str *ret_value)
{
    struct str rest = str_of(v->text), source = str_cut(&rest, '=');
    *ret_value = rest.p ? rest : STR("");
    return source;
}

int exporter_secret_check(const struct exporter_config *c, const char *key, struct err *err)
{
    const struct opt_value *v = opt_find(&c->opts, key);
    struct str value, first;
    if (!v->text)
        return 0;
    first = secret_source(v, &value);
    bool known = str_is(first, "env") || str_is(first, "file") || str_is(first, "command"), command = str_is(first, "command");
    for (const struct opt_value *w = v; w && w->text; w = w->next)
        if (!known || !str_eq(secret_source(w, &value), first) || (w != v && !command) || !value.n)
            return err_set(err, ERR_INPUT, "%s: expected {env: NAME}, {file: PATH} or {command: [PROGRAM, ARGUMENT…]}", key);
    return 0;
}

/* The first line, without blanks at its ends; a header or an address may hold nothing else. */
static int secret_keep(struct str text, const char *from, struct arena *a, const char **ret, struct err *err)
{
    struct str line = str_trim(str_cut(&text, '\n'));
    for (size_t i = 0; i < line.n; i++)
        if ((unsigned char)line.p[i] < ' ' || line.p[i] == 0x7f)
            return err_set(err, ERR_INPUT, "%s: the secret has a control character", from);
    if (!line.n)
        return err_set(err, ERR_INPUT, "%s is empty", from);
    *ret = arena_dup(a, line.p, line.n);
    return *ret ? 0 : err_memory(err, "a secret");
}

/* Sets *ret to the first line that a command prints, in the arena. A single text is divided at
 * blanks into words. The command may run for COMMAND_MS and until until_ns. 0; -1 with err. The
 * output is erased. */
static int secret_of_command(const struct opt_value *v, char *const *env, int64_t until_ns, struct arena *a, const char **ret,
                             struct err *err)
{
    char *argv[COMMAND_WORDS + 1];
    size_t n = 0;
    struct str word = STR("");
    for (; v && v->text && n < COMMAND_WORDS; v = v->next) {
        secret_source(v, &word);
        argv[n++] = arena_dup(a, word.p, word.n);
    }
    bool one = n == 1; /* words with blanks between them */
    struct str rest = word;
    if (one) {
        for (n = 0; n < COMMAND_WORDS && (word = str_word(&rest)).n;)
            argv[n++] = arena_dup(a, word.p, word.n);
    }
    argv[n] = NULL;
    if (a->failed)
        return err_memory(err, "a secret");
    if (n == 0 || !argv[0][0])
        return err_set(err, ERR_INPUT, "expected a program, got nothing");
    if ((v && v->text) || (one && str_trim(rest).n))
        return err_set(err, ERR_INPUT, "%s: more than %d words", argv[0], COMMAND_WORDS);
    int64_t left = (until_ns - clock_mono_ns()) / 1000000, limit = left < COMMAND_MS ? left : COMMAND_MS;
    struct query q = QUERY_NONE;
    if (limit <= 0)
        return err_set(err, ERR_SYSTEM, "no time is left to run %s", argv[0]);
    if (query_start(&q, argv, env, SECRET_MAX, limit, 0, err))
        return err_wrap(err, "%s", argv[0]);
    enum query_end end = query_wait(&q, limit);
    int rc = end == QUERY_LATE || end == QUERY_RUNS ? err_set(err, ERR_SYSTEM, "%s did not end in time", argv[0])
             : end != QUERY_DONE                    ? err_set(err, ERR_SYSTEM, "cannot run %s", argv[0])
             : q.status                             ? err_set(err, ERR_SYSTEM, "%s failed", argv[0])
                                                    : secret_keep(buf_text(&q.text), argv[0], a, ret, err);
    if (q.text.p)
        explicit_bzero(q.text.p, q.text.n);
    query_close(&q);
    return rc;
}

int exporter_secret(const struct exporter_config *c, const char *key, char *const *env, int64_t until_ns, struct arena *a, const char **ret,
                    struct err *err)
{
    const struct opt_value *v = opt_find(&c->opts, key);
    struct str value, source;
    *ret = NULL;
    if (!v->text)
        return 1;
    source = secret_source(v, &value);
    const char *name = arena_dup(a, value.p, value.n);
    if (!name)
        return err_memory(err, "a secret");
    if (str_is(source, "command"))
        return secret_of_command(v, env, until_ns, a, ret, err) ? err_wrap(err, "%s", key) : 0;
    if (str_is(source, "env")) {
        const char *text = env_text(env, name);
        return text ? secret_keep(str_of(text), name, a, ret, err)
                    : err_set(err, ERR_INPUT, "%s: the environment has no variable %.100s", key, name);
    }
    struct buf text CLEANUP_BUF;
    buf_init(&text, SECRET_MAX);
    int rc = secret_read(name, true, SECRET_MAX, &text, err);
    if (rc == 0)
        rc = secret_keep(buf_text(&text), name, a, ret, err);
    if (text.p)
        explicit_bzero(text.p, text.n);
    return rc ? err_wrap(err, "%s", key) : 0;
}
