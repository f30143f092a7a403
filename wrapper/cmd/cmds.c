/* cmds.c: the list of commands, and what all of them share: parsing, help on request, errors, the check of the output. */
#include "cmd/cmd.h"

#include "cmd/help.h"
#include "launch/words.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* The list is read twice: once to declare the structs, once to collect their addresses. */
#define CMD(x, group, first) extern const struct cmd cmd_##x;
#include "cmd/cmds.def"
#undef CMD

const struct cmd *const cmds[] = {
#define CMD(x, group, first) &cmd_##x,
#include "cmd/cmds.def"
#undef CMD
};
const struct cmd_place cmd_places[] = {
#define CMD(x, group, first) {group, first},
#include "cmd/cmds.def"
#undef CMD
};
const size_t cmds_count = sizeof cmds / sizeof cmds[0];

const struct cmd *cmd_find(const char *name)
{
    for (size_t i = 0; i < cmds_count; i++)
        if (strcmp(cmds[i]->name, name) == 0)
            return cmds[i];
    return NULL;
}

const struct cmd *cmd_near(const char *word)
{
    struct str typed = str_of(word);
    const struct cmd *best = NULL;
    unsigned least = typed.n > 3 ? 3 : 2; /* short names are near to many programs */
    for (size_t i = 0; i < cmds_count; i++) {
        unsigned d = str_distance(typed, str_of(cmds[i]->name));
        if (!cmds[i]->hidden && d < least)
            least = d, best = cmds[i];
    }
    return best;
}

int cmd_complain(FILE *notes, const char *verb, const struct err *err)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 8192);
    buf_plain(&b, str_of(err->text), sizeof err->text);
    fprintf(notes, "benchwrap: %s%s%s\n", verb ? verb : "", verb ? ": " : "", b.p ? b.p : "");
    for (struct str rest = str_of(err->excerpt); rest.p && err->excerpt[0];) {
        buf_clear(&b);
        buf_plain(&b, str_cut(&rest, '\n'), sizeof err->excerpt);
        fprintf(notes, "%s\n", b.p ? b.p : "");
    }
    if (err->hint[0]) {
        buf_clear(&b);
        buf_plain(&b, str_of(err->hint), sizeof err->hint);
        fprintf(notes, "hint: %s\n", b.p ? b.p : "");
    }
    if (err->kind == ERR_USAGE && verb && strcmp(verb, "help") != 0)
        fprintf(notes, "benchwrap: see \"benchwrap help %s\"\n", verb);
    return err->kind == ERR_USAGE ? 125 : 1;
}

/* Flushes out. 0; 1 with a message when what was written did not arrive (a closed pipe is no error: the reader had enough). */
static int cmd_check_out(FILE *out, FILE *notes)
{
    errno = 0;
    bool bad = fflush(out) != 0;
    if (!bad && !ferror(out))
        return 0;
    struct pollfd reader = {.fd = fileno(out)}; /* an earlier write may have met it, and its errno is gone */
    if (errno == EPIPE || (poll(&reader, 1, 0) == 1 && reader.revents & POLLERR))
        return 0;
    fprintf(notes, "benchwrap: writing to standard output: %s\n", errno ? strerror(errno) : "not all of it could be written");
    return 1;
}

/* `--help` or `-h` before `--` requests help, unless a row of the command has the letter for
 * itself. */
static bool help_asked(const struct cmd *cmd, int argc, char **argv)
{
    bool letter_taken = false;
    for (size_t i = 0; i < cmd->count; i++)
        letter_taken |= cmd->rows[i].letter == 'h' && strcmp(cmd->rows[i].name, "help") != 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || (!letter_taken && strcmp(argv[i], "-h") == 0))
            return true;
    return false;
}

/* Options anywhere before `--`; what is left are the operands. */
static int parse_options(struct cmd_context *c, int argc, char **argv)
{
    int next = 0;
    c->opts.permute = true;
    if (opt_parse(&c->opts, argc, argv, &next, c->err) < 0)
        return -1;
    for (size_t i = 0; i < c->opts.count; i++) /* what came from the environment is unchecked as yet */
        if (opt_check(&c->opts.rows[i], &c->opts.values[i], c->err) < 0)
            return -1;
    c->argc = argc - next;
    memcpy(c->argv, argv + next, ((size_t)c->argc + 1) * sizeof *argv);
    return 0;
}

int cmd_main(const struct cmd *cmd, int argc, char **argv, char **env, FILE *out, FILE *notes)
{
    struct err err = {0};
    struct arena arena;
    arena_init(&arena, 0);
    struct cmd_context c = {.cmd = cmd, .env = env, .out = out, .notes = notes, .arena = &arena, .err = &err};
    int status = 0;
    if (help_asked(cmd, argc, argv)) {
        CLEANUP_BUF struct buf text;
        buf_init(&text, 1 << 20);
        help_command(cmd, &text);
        fwrite(text.p ? text.p : "", 1, text.n, out);
        goto done;
    }
    c.opts = (struct opt_set){.rows = cmd->rows, .count = cmd->count, .words = words_typed, .place = cmd->name};
    c.opts.values = arena_get(&arena, (cmd->count + 1) * sizeof *c.opts.values);
    c.argv = arena_get(&arena, ((size_t)argc + 1) * sizeof *c.argv);
    if (!c.opts.values || !c.argv) {
        errno = ENOMEM;
        status = err_memory(&err, "the command line");
    } else if (cmd->raw) {
        opt_defaults(&c.opts, getenv);
        c.argc = argc - 1;
        memcpy(c.argv, argv + 1, (size_t)argc * sizeof *argv);
    } else {
        opt_defaults(&c.opts, getenv);
        status = parse_options(&c, argc, argv);
    }
    if (status == 0)
        status = cmd->run(&c);
done:
    if (status < 0) {
        fflush(out);
        status = cmd_complain(notes, cmd->name, &err);
    }
    int late = cmd_check_out(out, notes);
    opt_deinit(&c.opts);
    arena_deinit(&arena);
    return status ? status : late;
}
