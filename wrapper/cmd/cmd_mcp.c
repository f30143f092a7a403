/* cmd_mcp.c: `benchwrap mcp`: a server of the Model Context Protocol on standard input and output, for agents. */
#include "base/place.h"
#include "cmd/cmd.h"
#include "mcp/mcp_server.h"
#include "plan/plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_USUAL = 40000, ANSWER_LEAST = 2000, ANSWER_MOST = 16 << 20 };

static int find_programs(struct cmd_context *c, struct mcp_options *o)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return err_sys(c->err, "finding this program");
    path[n] = 0;
    o->self = arena_dup(c->arena, path, (size_t)n);
    for (int up = 0; up < 3; up++) { /* <prefix>/libexec/benchwrap/benchwrap-core */
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = 0;
    }
    o->launcher = arena_printf(c->arena, "%s/bin/benchwrap", path);
    return o->self && o->launcher ? 0 : err_memory(c->err, "the paths of the programs");
}

static int find_profile(struct cmd_context *c, struct mcp_options *o)
{
    struct plan plan;
    if (plan_make_for(&plan, &c->opts, c->env, c->arena, c->err, OPTION_TREE))
        return -1;
    o->is_public = strcmp(opt_text(&plan.opts, OPTION_PROFILE), "public") == 0;
    plan_deinit(&plan);
    return 0;
}

/* Serves an agent's client on standard input and output until the input ends. 0; -1 with c->err. */
static int mcp_command(struct cmd_context *c)
{
    uint64_t max = ANSWER_USUAL;
    struct mcp_options o = {.tree = opt_text(&c->opts, OPTION_TREE), .env = c->env, .allow_run = opt_on(&c->opts, OPTION_ALLOW_RUN)};
    const char *typed = opt_text(&c->opts, OPTION_ANSWER_MAX);
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected options only, got \"%.60s\"", c->argv[0]);
    if (typed && (!str_size(str_of(typed), &max) || max < ANSWER_LEAST || max > ANSWER_MOST))
        return err_set(c->err, ERR_USAGE, "--answer-max: expected a size from %d to %d bytes, got \"%.40s\"", ANSWER_LEAST, ANSWER_MOST,
                       typed);
    o.answer_max = (size_t)max;
    if (find_programs(c, &o) || find_profile(c, &o))
        return -1;
    if (isatty(STDIN_FILENO))
        fputs("benchwrap: mcp: reading messages from the terminal; an agent's client starts this program (docs/howto-agents.md)\n",
              c->notes);
    struct mcp_server *s = mcp_server_new(&o, STDIN_FILENO);
    int rc = s ? mcp_server_run(s, STDOUT_FILENO, c->err) : err_memory(c->err, "the server");
    mcp_server_free(s);
    return rc;
}

static const struct opt_row rows[] = {
    CMD_ROW_TREE,
    {.name = OPTION_ALLOW_RUN,
     .kind = OPT_FLAG,
     .group = "Tools",
     .help = "Also offer the tool run, which starts programs as this user and records them (default: read only)"},
    {.name = OPTION_ANSWER_MAX,
     .kind = OPT_SIZE,
     .arg = "SIZE",
     .group = "Tools",
     .help = "Limit the text of each answer (default: 40 kB)"},
};

const struct cmd cmd_mcp = {
    .name = "mcp",
    .summary = "Answer an agent's questions about runs and the cluster",
    .usage = "[OPTIONS]",
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .description =
        "A server of the Model Context Protocol on standard input and output. The client of an agent starts it. It speaks the versions 2024-11-05 to "
        "2026-07-28.\n\n"
        "Tools: list, active, query, show, compare, compare_history, history, explain, logs and plan read runs of the tree. cluster_queue, cluster_nodes, cluster_job and cluster_log "
        "read Slurm or Kubernetes. All tools only read, and none takes a path. --allow-run adds the tool run.\n\n"
        "compare refuses runs that measured different things, and names what differs; the call may name parameters that may differ. What was not measured is "
        "null. Each answer is limited, and names what it cuts. Recorded text is marked as data. Secrets are removed. "
        "Each call has a deadline (10 to 60 s), and calls are limited to 10 a second, those to the cluster to one in two seconds after the first six.",
    .examples = "$ benchwrap mcp --tree ~/results/mlruns\nServe one tree.\n"
                "$ benchwrap mcp --allow-run\nAlso run programs.\n",
    .run = mcp_command,
};
