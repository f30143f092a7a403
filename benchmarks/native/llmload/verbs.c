/* verbs.c: the line of a verb: its options, its --help, its operands, the same for each; and the verb that is benchwrap's. */
#include "benchmarks/native/llmload/verbs.h"
#include "base/buf.h"
#include "base/installed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 32, HELP_MAX = 1 << 16 };

static int print_verb_help(const struct verb *v, const struct opt_set *set, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, HELP_MAX);
    buf_printf(&text, "usage: llmload %s\n\n%s\n\n", v->usage, v->about);
    opt_help(set, &text);
    if (text.failed || fwrite(text.p, 1, text.n, stdout) != text.n || fflush(stdout) != 0)
        return err_sys(err, "writing the help");
    return 0;
}

int verb_run(const struct verb *v, int argc, char **argv, struct err *err)
{
    struct opt_value values[ROWS_MAX];
    struct opt_set set = {.rows = v->rows, .count = v->count, .values = values, .permute = v->operands > 0};
    int next, rc;
    if (v->count > ROWS_MAX)
        return err_set(err, ERR_SYSTEM, "%s: too many options", argv[0]);
    opt_defaults(&set, getenv);
    if (opt_parse(&set, argc, argv, &next, err) < 0)
        return -1;
    if (opt_on(&set, OPTION_HELP))
        rc = print_verb_help(v, &set, err);
    else if (v->operands >= 0 && argc - next != v->operands)
        rc = next < argc ? err_set(err, ERR_USAGE, "%s: expected %s, got \"%.60s\"", argv[0], v->expected, argv[next])
                         : err_set(err, ERR_USAGE, "%s: expected %s", argv[0], v->expected);
    else
        rc = v->run(&set, argv + next, err);
    opt_deinit(&set);
    return rc;
}

/* benchwrap's command of that name. */
int verb_compare(int argc, char **argv, struct err *err)
{
    char **line = calloc((size_t)argc + 2, sizeof *line);
    if (!line)
        return err_memory(err, "the command line");
    line[0] = (char *)"benchwrap";
    memcpy(line + 1, argv, (size_t)argc * sizeof *line);
    installed_exec("benchwrap", line, err);
    free(line);
    return -1;
}
