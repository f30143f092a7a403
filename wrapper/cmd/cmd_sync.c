/* cmd_sync.c: `benchwrap sync`: finishes what lies in the spool. */
#include "base/buf.h"
#include "cmd/cmd.h"
#include "wrapper/plan.h"
#include "wrapper/run_finish.h"

#include <inttypes.h>

static const struct opt_row rows[] = {
    {"local", 'l', OPT_FLAG, NULL, NULL, NULL, "Selection", "only what can be done on this machine: no server is asked", 0},
    CMD_ROW_TREE,
    CMD_ROW_JSON,
};

struct notes {
    struct buf *json; /* NULL: text */
    FILE *out;
    unsigned count;
};

static void note(void *context, const char *text)
{
    struct notes *n = context;
    if (n->json) {
        buf_puts(n->json, n->count++ ? "," : "");
        buf_json(n->json, str_of(text));
    } else
        fprintf(n->out, "%s\n", text);
}

static int run(struct cmd_context *c)
{
    struct plan plan;
    struct swept all = {0};
    struct buf json CLEANUP_BUF;
    bool as_json = opt_on(&c->opts, "json");
    const char *tree = opt_text(&c->opts, "tree");
    char *line[] = {arena_dup(c->arena, "sync", 4), tree ? arena_printf(c->arena, "--tree=%s", tree) : NULL, NULL};
    buf_init(&json, 16 << 20);
    struct notes notes = {as_json ? &json : NULL, c->out, 0};
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "sync takes no operand such as '%s'", c->argv[0]);
    if (plan_make(&plan, tree ? 2 : 1, line, c->env, c->err))
        return -1;
    const char *roots[] = {plan.spool, plan.spool_fallback};
    for (size_t i = 0; i < 2; i++) {
        struct swept s = {0};
        if (!roots[i] || (i && roots[0] && strcmp(roots[0], roots[1]) == 0))
            continue;
        finish_leftovers(roots[i], NULL, 0, note, &notes, &s);
        all.closed += s.closed;
        all.released += s.released;
        all.alive += s.alive;
        all.failed += s.failed;
    }
    plan_deinit(&plan);
    if (as_json)
        fprintf(c->out, "{\"closed\":%u,\"released\":%u,\"running\":%u,\"failed\":%u,\"notes\":[%s]}\n", all.closed, all.released,
                all.alive, all.failed, buf_text(&json).p);
    else
        fprintf(c->out, "%u closed, %u safe in the tree and released, %u still running, %u failed\n", all.closed, all.released, all.alive,
                all.failed);
    return all.failed ? 1 : 0;
}

const struct cmd cmd_sync = {
    .name = "sync",
    .summary = "finish the runs that lie in the spool",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "Looks through the spool of the tree, and through the user's own (used when the tree could not be written). A run whose "
        "recorder died is closed as KILLED at its last fact and published in the tree; a published one is synced to disk and released. "
        "Runs that are still being recorded, here or on another host that shares the file system, are left alone. Repeating it is harmless.\n"
        "\n"
        "Status 0: all done. 1: something could not be finished; it stays in the spool.",
    .examples = "$ benchwrap sync --local\n"
                "Close what a power cut or a kill left unfinished.\n",
    .run = run,
};
