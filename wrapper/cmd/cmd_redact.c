/* cmd_redact.c: `benchwrap redact`: a text without secrets and identities, or what is kept, replaced and dropped of it, and why. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/listing.h"
#include "cmd/cmd.h"
#include "probes/environment.h"
#include "probes/probe.h"
#include "run/redaction.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 256 << 10, TEXT_MAX = 256 << 20, SHOWN = 3 };

static const struct listing_column columns[] = {
    {"where", "WHERE", false, 0},
    {"decision", "DECISION", false, 0},
    {"becomes", "BECOMES", false, 60},
    {"why", "WHY", false, 0},
};

struct explaining {
    struct cmd_context *c;
    struct listing *l;
    const char *text;
    size_t line_from, line; /* offset of a line, and its number */
};

/* ---- a text ---- */

static const char *where_of(struct explaining *e, size_t at)
{
    if (at < e->line_from) { /* secrets come first, identities begin at the start again */
        e->line_from = 0;
        e->line = 1;
    }
    for (const char *lf; (lf = memchr(e->text + e->line_from, '\n', at - e->line_from)); e->line++)
        e->line_from = (size_t)(lf - e->text) + 1;
    return arena_printf(e->c->arena, "%zu:%zu", e->line, at - e->line_from + 1);
}

static void redact_add_row(struct explaining *e, const char *where, const char *decision, const char *becomes, const char *why)
{
    listing_text(e->l, where);
    listing_text(e->l, decision);
    listing_str(e->l, str_of(becomes));
    listing_text(e->l, why);
}

static void on_secret(void *context, const struct secret *s)
{
    struct explaining *e = context;
    redact_add_row(e, where_of(e, s->at), "replaced", arena_printf(e->c->arena, "%zu byte%s of stars", s->n, str_plural(s->n)),
                   secrets_reason(s->kind));
}

/* What it is replaced by is not known yet; the original is not shown completely, since users share
 * this listing. */
static void on_identity(void *context, const struct identity_found *f)
{
    struct explaining *e = context;
    redact_add_row(e, where_of(e, f->at), "replaced", arena_printf(e->c->arena, "a token of %zu byte%s", f->n, str_plural(f->n)), f->what);
}

/* Appends a file, or standard input for "-", to the text. 0; -1 with c->err: it cannot be read, it
 * is longer than TEXT_MAX, or out of memory. */
static int read_all(struct cmd_context *c, const char *path, struct buf *text)
{
    CLEANUP_FD int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(c->err, "cannot open %s", path);
    for (;;) {
        char *room = buf_room(text, BLOCK);
        ssize_t n = room ? read(fd, room, BLOCK) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(c->err, "cannot read %s", path);
        if (!room && text->n + BLOCK < TEXT_MAX)
            return err_memory(c->err, "the text of %s", path);
        if (!room)
            return err_set(c->err, ERR_INPUT, "%s is longer than %d MiB: without --explain it may be", path, TEXT_MAX >> 20);
        if (n == 0)
            return 0;
        text->n += (size_t)n;
    }
}

static int explain_text(struct cmd_context *c, const char *path, struct redaction *r, struct listing *l)
{
    CLEANUP_BUF struct buf text;
    struct secrets_state state = {0};
    buf_init(&text, TEXT_MAX);
    if (read_all(c, path, &text) < 0)
        return -1;
    if (text.n == 0)
        return 0;
    struct explaining e = {.c = c, .l = l, .text = text.p, .line = 1};
    redact_secrets(text.p, text.n, &state, on_secret, &e);
    if (r->redact.ids)
        identities_replace(r->redact.ids, text.p, text.n, on_identity, &e);
    return 0;
}

static void write_out(void *context, const void *p, size_t n)
{
    fwrite(p, 1, n, context);
}

static int clean_text(struct cmd_context *c, const char *path, struct redaction *r)
{
    CLEANUP_FD int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct redact_stream s;
    char *block = arena_get(c->arena, BLOCK);
    ssize_t n;
    if (fd < 0)
        return err_sys(c->err, "cannot open %s", path);
    if (!block)
        return err_memory(c->err, "a block of %s", path);
    redact_stream_init(&s, &r->streams, write_out, c->out);
    while ((n = read(fd, block, BLOCK)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            redact_stream_write(&s, block, (size_t)n);
    int failed = n < 0 ? err_sys(c->err, "cannot read %s", path) : 0;
    redact_stream_flush(&s, true);
    redact_stream_deinit(&s);
    return failed;
}

/* ---- this machine's facts ---- */

static void explain_fact(struct explaining *e, struct redaction *r, const struct fact *f, bool public)
{
    char *key = arena_dup(e->c->arena, f->key.p, f->key.n), *value = arena_dup(e->c->arena, f->text.p, f->text.n);
    if (!key || !value || (f->kind != FACT_PARAM && f->kind != FACT_TAG))
        return;
    const char *where = arena_printf(e->c->arena, "%s %s", f->kind == FACT_PARAM ? "param" : "tag", key);
    if (public && !probes_is_public(key))
        redact_add_row(e, where, "dropped", "", "not among the keys that public records hold");
    else if (redact_named(&r->redact, f->key, value, f->text.n) > 0)
        redact_add_row(e, where, "replaced", value, "its value contains a secret or an identity");
    else
        redact_add_row(e, where, "kept", value, public ? "on the list of public keys" : "the profile is private");
}

static void explain_variable(struct explaining *e, struct redaction *r, const char *variable, bool public)
{
    struct str value = str_of(variable), name = str_cut(&value, '=');
    CLEANUP_BUF struct buf clean;
    buf_init(&clean, 1 << 20);
    if (!value.p || name.n == 0)
        return;
    const char *where = arena_printf(e->c->arena, "variable " STR_FMT, STR_ARG(str_sub(name, 0, 200)));
    if (public && !environment_is_shown(name)) {
        redact_add_row(e, where, "dropped", "", "not among the variables that public records show");
        return;
    }
    size_t places = redact_variable(&clean, name, value);
    if (public && clean.n > 0)
        places += identities_replace(&r->ids, clean.p, clean.n, NULL, NULL);
    redact_add_row(e, where, places ? "replaced" : "kept", clean.p ? clean.p : "",
                   places   ? "its value contains a secret or an identity"
                   : public ? "on the list of shown variables"
                            : "the profile is private");
}

static void explain_machine(struct explaining *e, struct redaction *r, struct host *h, bool public)
{
    static const char id[33] = "00000000000000000000000000000000";
    struct record facts;
    record_init(&facts, id, clock_wall_ms());
    probes_run(PROBE_BEFORE, false, h, &facts);
    probes_run(PROBE_BESIDE, false, h, &facts);
    probes_run(PROBE_AFTER, false, h, &facts);
    for (const struct fact *f = facts.first; f; f = f->next)
        explain_fact(e, r, f, public);
    for (char *const *v = h->env; v && *v; v++)
        explain_variable(e, r, *v, public);
    record_deinit(&facts);
    probes_end(h);
}

static int redact_command(struct cmd_context *c)
{
    bool public = strcmp(opt_text(&c->opts, OPTION_PROFILE), "public") == 0,
         explain = opt_on(&c->opts, OPTION_EXPLAIN) || opt_on(&c->opts, OPTION_JSON);
    struct host h = {
        .root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), .root_path = "/", .real = true, .env = c->env, .cwd = "/", .spool = -1};
    struct redaction r;
    struct listing l;
    int done;
    if (c->argc > 1 || (c->argc == 0 && !explain))
        return fs_close(&h.root),
               err_set(c->err, ERR_USAGE,
                       c->argc > 1 ? "takes one file" : "expected a file, \"-\" for standard input, or --explain for this machine's facts");
    if (redaction_begin(&r, public, &h, c->err)) {
        redaction_end(&r);
        fs_close(&h.root);
        return -1;
    }
    listing_init(&l, columns, sizeof columns / sizeof *columns, c->arena);
    if (!explain)
        done = clean_text(c, c->argv[0], &r);
    else if (c->argc == 1)
        done = explain_text(c, c->argv[0], &r, &l);
    else {
        struct explaining e = {.c = c, .l = &l, .text = "", .line = 1};
        explain_machine(&e, &r, &h, public);
        done = 0;
    }
    if (done == 0 && explain) {
        bool json = opt_on(&c->opts, OPTION_JSON);
        if (!json && listing_rows(&l) == 0)
            fputs("Nothing would be replaced.\n", c->out);
        done = listing_write(&l, json ? LISTING_JSON : LISTING_TABLE, c->out) < 0 ? err_memory(c->err, "the explanation") : 0;
    }
    listing_deinit(&l);
    redaction_end(&r);
    fs_close(&h.root);
    return done;
}

static const struct opt_row rows[] = {
    {.name = OPTION_EXPLAIN,
     .letter = 'x',
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "Print each place, what replaces it and why, instead of the text"},
    CMD_ROW_JSON,
    {.name = OPTION_PROFILE,
     .kind = OPT_CHOICE,
     .arg = "private|public",
     .value = "public",
     .group = "Selection",
     .help = "Remove secrets only (private), or also hosts, people, addresses and serials (public)"},
};

const struct cmd cmd_redact = {
    .name = "redact",
    .summary = "Remove secrets and identities from a text",
    .usage = "[OPTIONS] [FILE|-]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description = "Writes a file (\"-\": standard input) as a record would hold it: secrets become \"[redacted]\" and stars, and in the "
                   "public profile names of hosts, people, accounts, homes, addresses and serial numbers become tokens; each as long as "
                   "what it replaces, so that columns stay.\n\n"
                   "--explain lists the places instead, with the reason for each. Without a file it lists the facts of this machine and "
                   "the variables of this environment: which a record would keep, replace or drop. What is replaced is not shown.\n\n"
                   "Known are the names in the environment (user, home, hosts of the job, account), those of this machine (host, domain, "
                   "addresses, serials) and the shapes of addresses. Other names cannot be known: read a text before you publish it.",
    .examples = "$ benchwrap redact --explain\nWhat a public record would contain about this machine.\n"
                "$ benchwrap redact output.log >clean.log\nA log that can be shown around.\n"
                "$ benchwrap redact --explain output.log\nLine and column of all that would be replaced.\n",
    .run = redact_command,
};
