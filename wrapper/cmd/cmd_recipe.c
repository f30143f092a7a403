/* cmd_recipe.c: `benchwrap recipe`: campaigns of services, clients and sweeps from one file. */
#include "base/fs.h"
#include "base/listing.h"
#include "base/place.h"
#include "base/shell_word.h"
#include "cmd/cmd.h"
#include "plan/paths.h"
#include "recipe/campaign_beats.h"
#include "recipe/campaign_cluster.h"
#include "recipe/campaign_laptop.h"
#include "recipe/campaign_network.h"
#include "recipe/campaign_report.h"
#include "recipe/campaign_stop.h"
#include "recipe/campaign_submit.h"
#include "recipe/recipe_batch.h"
#include "recipe/recipe_create.h"
#include "recipe/recipe_keys.h"
#include "recipe/recipe_logs.h"
#include "recipe/recipe_plan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { RECIPE_OUTPUT_MAX = 256 << 20 };

static const struct opt_row rows[] = {
    {.name = OPTION_ALL,
     .kind = OPT_FLAG,
     .group = "Prepare",
     .help = "With plan: print the commands of every point (default: of the first)"},
    {.name = OPTION_ANSWERS,
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Prepare",
     .help = "With create: read the answers from this YAML file instead of the terminal"},
    {.name = OPTION_OUTPUT,
     .letter = 'o',
     .kind = OPT_TEXT,
     .arg = "FILE",
     .group = "Prepare",
     .help = "With create and migrate: write the recipe to this new file (default: standard output)"},
    {.name = OPTION_SERVICES, .kind = OPT_FLAG, .group = "Prepare", .help = "With list and schema: service files instead of recipes"},
    {.name = OPTION_SCRIPT, .kind = OPT_FLAG, .group = "Prepare", .help = "With plan: print the batch script alone"},
    {.name = OPTION_SUBMIT, .kind = OPT_FLAG, .group = "Run", .help = "With run: write the batch script and submit it to the scheduler"},
    {.name = OPTION_WAIT, .kind = OPT_FLAG, .group = "Run", .help = "With run --submit: wait for the end of the job"},
    {.name = OPTION_POINTS,
     .kind = OPT_INT,
     .arg = "N",
     .group = "Run",
     .help = "With run: measure at most N points, and leave the campaign open for the others (default: all)"},
    {.name = OPTION_PREFLIGHT_ONLY,
     .kind = OPT_FLAG,
     .group = "Run",
     .help = "With run: check the nodes for every point, and start nothing"},
    {.name = OPTION_LOCAL, .kind = OPT_FLAG, .group = "Run", .help = "With run: start all roles on this machine"},
    {.name = OPTION_CLUSTER,
     .kind = OPT_TEXT,
     .arg = "NAME",
     .group = "Run",
     .help = "With run: submit the recipe on this cluster by ssh (of ~/.config/benchwrap/clusters.yaml), and fetch its results"},
    {.name = OPTION_EACH_NODE,
     .kind = OPT_FLAG,
     .group = "Run",
     .help = "With run: measure every point on each node of the allocation, and name the nodes that differ from the others"},
    {.name = OPTION_EACH_PAIR,
     .kind = OPT_FLAG,
     .group = "Run",
     .help = "With run: the same on pairs of nodes, each node with the next one of the allocation"},
    {.name = OPTION_SERVER_NODES,
     .kind = OPT_TEXT,
     .arg = "NAME,...",
     .group = "Run",
     .help = "With run: start services on these nodes of the allocation (default: by the recipe)"},
    {.name = OPTION_CLIENT_NODES, .kind = OPT_TEXT, .arg = "NAME,...", .group = "Run", .help = "With run: the same for clients"},
    {.name = OPTION_RESUME,
     .kind = OPT_FLAG,
     .group = "Run",
     .help = "With run: keep finished points, though the recipe or a program has changed since"},
    {.name = OPTION_NEW, .kind = OPT_FLAG, .group = "Run", .help = "With run: measure all points again"},
    {.name = OPTION_CSV, .kind = OPT_FLAG, .group = "Output", .help = "With report: print one line for each point, separated by commas"},
    {.name = OPTION_SCRAPE_CONFIG,
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "With status: print a Prometheus configuration for the services that are up"},
    {.name = OPTION_TUNNELS,
     .kind = OPT_FLAG,
     .group = "Output",
     .help = "With status: print ssh commands that make the services reachable from another machine"},
    {.name = OPTION_LAPTOP,
     .kind = OPT_TEXT,
     .arg = "DIR",
     .group = "Output",
     .help =
         "With status: write files for Prometheus and Grafana on another machine into this folder: tunnels, configurations, compose.yaml"},
    {.name = OPTION_FOLLOW,
     .letter = 'f',
     .kind = OPT_FLAG,
     .group = "Logs",
     .help = "With logs: print the last 10 lines, then new ones as they come"},
    {.name = OPTION_LAST, .kind = OPT_INT, .arg = "N", .group = "Logs", .help = "With logs: print only the last N lines"},
    {.name = OPTION_COMPONENT,
     .kind = OPT_LIST,
     .arg = "NAME",
     .group = "Logs",
     .help = "With logs: print lines of this component (server, or server.1 for one instance); may be repeated"},
    {.name = OPTION_NODE, .kind = OPT_LIST, .arg = "NAME", .group = "Logs", .help = "With logs: print lines of this node; may be repeated"},
    {.name = OPTION_SEVERITY,
     .kind = OPT_TEXT,
     .arg = "LEVEL",
     .group = "Logs",
     .help = "With logs: print lines of this level or a worse one: fatal, error, warning, info or debug"},
    {.name = OPTION_STREAM, .kind = OPT_TEXT, .arg = "NAME", .group = "Logs", .help = "With logs: print only stdout, or only stderr"},
    {.name = OPTION_REQUEST,
     .kind = OPT_TEXT,
     .arg = "N",
     .group = "Logs",
     .help = "With logs: print lines that have the id of this request of llmload (X-Request-Id)"},
    {.name = OPTION_SUMMARY,
     .kind = OPT_FLAG,
     .group = "Logs",
     .help = "With logs: print the number of lines of each component, node and stream"},
    CMD_ROW_JSON,
    CMD_ROW_TREE,
};

static int recipe_places_init(struct cmd_context *c, struct recipe_places *ret)
{
    *ret = (struct recipe_places){.folders = {plan_xdg(c->env, "XDG_CONFIG_HOME", ".config", c->arena), "/etc/benchwrap"}};
    if (!ret->folders[0]) {
        ret->folders[0] = ret->folders[1];
        ret->folders[1] = NULL;
    }
    return c->arena->failed ? err_memory(c->err, "the recipes") : 0;
}

/* The names of an option's list; NULL: it was not given. */
static char **node_list(struct cmd_context *c, const char *option)
{
    const char *text = opt_text(&c->opts, option);
    char **list = text ? recipe_host_names(text, c->arena) : NULL;
    return list && *list ? list : NULL;
}

/* each: as in struct recipe_nodes; NULL: none. */
static int recipe_on_nodes(struct cmd_context *c, char **each, struct recipe *ret)
{
    struct recipe_places places;
    struct recipe_nodes nodes = {.servers = node_list(c, OPTION_SERVER_NODES), .clients = node_list(c, OPTION_CLIENT_NODES), .each = each};
    if (c->argc < 2)
        return err_set(c->err, ERR_USAGE, "expected a recipe: benchwrap recipe %s FILE|NAME", c->argv[0]);
    return recipe_places_init(c, &places) ? -1 : recipe_open(ret, c->argv[1], &places, &nodes, c->arena, c->err);
}

static int recipe_of_argument(struct cmd_context *c, struct recipe *ret)
{
    return recipe_on_nodes(c, NULL, ret);
}

static int recipe_write_text(struct cmd_context *c, struct buf *text)
{
    if (text->failed)
        return err_memory(c->err, "the answer");
    fwrite(text->p ? text->p : "", 1, text->n, c->out);
    return 0;
}

/* ---- list ---- */

/* Prints the recipes, or with --services the service files. -1 with c->err. */
static int recipe_list(struct cmd_context *c)
{
    static const struct listing_column columns[] = {{.key = "name", .heading = "name", .whole = true},
                                                    {.key = "from", .heading = "from", .drop = 1},
                                                    {.key = "description", .heading = "description", .wrap = true}};
    struct recipe_places places;
    struct listing l;
    size_t n;
    const char *kind = opt_on(&c->opts, OPTION_SERVICES) ? "services" : "recipes";
    if (recipe_places_init(c, &places))
        return -1;
    struct recipe_file *files = recipe_file_list(kind, &places, c->arena, &n);
    if (!files)
        return err_memory(c->err, "the list");
    listing_init(&l, columns, 3, c->arena);
    for (size_t i = 0; i < n; i++) {
        struct yaml *root;
        struct str description = {"cannot be read", 14};
        if (yaml_parse(&root, files[i].name, (struct str){files[i].text, files[i].n}, c->arena, NULL) == 0)
            description = yaml_text(root, "description", recipe_is_toolkit(root) ? "a recipe of the HPC Benchmark Toolkit" : "");
        listing_text(&l, files[i].name);
        listing_text(&l, files[i].from ? files[i].from : "shipped");
        listing_str(&l, description);
    }
    int rc = listing_write(&l, opt_on(&c->opts, OPTION_JSON) ? LISTING_JSON : LISTING_TABLE, c->out);
    listing_deinit(&l);
    return rc < 0 ? err_memory(c->err, "the list") : 0;
}

/* ---- check, plan ---- */

static const char *recipe_tree(struct cmd_context *c)
{
    const char *tree;
    return plan_tree(opt_text(&c->opts, OPTION_TREE), c->env, c->arena, &tree, c->err) ? NULL : tree;
}

/* The options of `run` that a job's own `recipe run` gets, each with a blank before it, quoted for a shell. */
static void put_job_options(struct cmd_context *c, struct buf *to)
{
    static const char *const flags[] = {OPTION_NEW, OPTION_RESUME, OPTION_PREFLIGHT_ONLY};
    static const char *const texts[] = {OPTION_SERVER_NODES, OPTION_CLIENT_NODES};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (opt_on(&c->opts, flags[i]))
            buf_printf(to, " --%s", flags[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (opt_text(&c->opts, texts[i])) {
            buf_printf(to, " --%s ", texts[i]);
            shell_word_put(to, opt_text(&c->opts, texts[i]));
        }
}

/* The number of --points; 0: it was not given. */
static int points_option(struct cmd_context *c, size_t *ret)
{
    int64_t n = opt_text(&c->opts, OPTION_POINTS) ? opt_integer(&c->opts, OPTION_POINTS) : 0;
    if (opt_text(&c->opts, OPTION_POINTS) && n < 1)
        return err_set(c->err, ERR_USAGE, "--points: expected an integer >= 1, got \"%.40s\"", opt_text(&c->opts, OPTION_POINTS));
    *ret = (size_t)n;
    return 0;
}

/* The batch script of the recipe that the operand names. */
static int recipe_script(struct cmd_context *c, const struct recipe_planned *p, const char *folder, struct buf *to)
{
    char *cwd, *file;
    size_t points;
    CLEANUP_BUF struct buf options;
    buf_init(&options, RECIPE_OUTPUT_MAX);
    if (points_option(c, &points))
        return -1;
    put_job_options(c, &options);
    cwd = realpath(".", NULL);
    file = realpath(c->argv[1], NULL);
    struct recipe_batch b = {.scheduler = recipe_scheduler_of(p->recipe),
                             .benchwrap = campaign_own_program(c->arena),
                             .recipe = file ? file : c->argv[1],
                             .folder = folder,
                             .tree = opt_text(&c->opts, OPTION_TREE),
                             .cwd = cwd ? cwd : ".",
                             .options = options.p ? options.p : "",
                             .points = points};
    if (b.benchwrap && !options.failed)
        recipe_batch_print(p, &b, c->arena, to);
    free(cwd);
    free(file);
    return to->failed || options.failed || !b.benchwrap ? err_memory(c->err, "the batch script") : 0;
}

static const char *campaign_place(struct cmd_context *c, const char *tree, const char *name)
{
    const char *slash = strrchr(tree, '/');
    return arena_printf(c->arena, "%.*s/.benchwrap/campaigns/%s", (int)(slash ? slash - tree : 0), tree, name);
}

static int recipe_check(struct cmd_context *c)
{
    struct recipe r;
    struct recipe_planned p;
    if (recipe_of_argument(c, &r) || recipe_planned_init(&p, &r, c->arena, c->err))
        return -1;
    fprintf(c->out, "%s: good, %zu role%s, %zu point%s\n", r.name, r.role_count, str_plural(r.role_count), p.count, str_plural(p.count));
    for (size_t i = 0; r.remarks[i]; i++)
        fprintf(c->out, "  %s\n", r.remarks[i]);
    return 0;
}

static int recipe_plan(struct cmd_context *c)
{
    struct recipe r;
    struct recipe_planned p;
    CLEANUP_BUF struct buf text;
    buf_init(&text, RECIPE_OUTPUT_MAX);
    if (recipe_of_argument(c, &r) || recipe_planned_init(&p, &r, c->arena, c->err))
        return -1;
    bool json = opt_on(&c->opts, OPTION_JSON), script_only = opt_on(&c->opts, OPTION_SCRIPT);
    if (json || script_only) {
        CLEANUP_BUF struct buf script;
        const char *tree = recipe_tree(c), *folder = tree ? campaign_place(c, tree, r.name) : NULL;
        buf_init(&script, RECIPE_OUTPUT_MAX);
        if (!folder || recipe_script(c, &p, folder, &script))
            return -1;
        if (script_only)
            return recipe_write_text(c, &script);
        recipe_plan_json(&p, script.p, &text);
        return recipe_write_text(c, &text);
    }
    return recipe_plan_print(&p, opt_on(&c->opts, OPTION_ALL), c->arena, c->out) ? err_memory(c->err, "the plan") : 0;
}

/* ---- schema, migrate, create ---- */

static int recipe_schema(struct cmd_context *c)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, RECIPE_OUTPUT_MAX);
    recipe_keys_schema(opt_on(&c->opts, OPTION_SERVICES) ? "service" : "recipe", &text);
    return recipe_write_text(c, &text);
}

static int recipe_write_file(struct cmd_context *c, struct buf *text)
{
    const char *to = opt_text(&c->opts, OPTION_OUTPUT);
    if (!to)
        return recipe_write_text(c, text);
    if (access(to, F_OK) == 0)
        return err_set(c->err, ERR_USAGE, "--output %s: there is such a file already; it is left as it is", to);
    if (text->failed || fs_write(AT_FDCWD, to, buf_text(text), 0644, false, c->err))
        return text->failed ? err_memory(c->err, "the recipe") : -1;
    const char *word = shell_word_text(to, c->arena);
    fprintf(c->notes, "benchwrap: recipe: wrote %s\nhint: benchwrap recipe plan %s\n", to, word ? word : to);
    return 0;
}

static int recipe_migrate(struct cmd_context *c)
{
    struct recipe r;
    CLEANUP_BUF struct buf text;
    buf_init(&text, RECIPE_FILE_MAX);
    if (recipe_of_argument(c, &r))
        return -1;
    for (size_t i = 0; r.remarks[i]; i++)
        buf_printf(&text, "# %s\n", r.remarks[i]);
    buf_puts(&text, r.text);
    return recipe_write_file(c, &text);
}

static int recipe_create_file(struct cmd_context *c)
{
    const char *answers = opt_text(&c->opts, OPTION_ANSWERS);
    struct recipe_places places;
    struct yaml *root = NULL;
    CLEANUP_BUF struct buf text, given;
    buf_init(&text, RECIPE_FILE_MAX);
    buf_init(&given, RECIPE_FILE_MAX);
    if (recipe_places_init(c, &places))
        return -1;
    if (answers && (fs_read(AT_FDCWD, answers, RECIPE_FILE_MAX - 1, 0, &given, c->err) ||
                    yaml_parse(&root, answers, buf_text(&given), c->arena, c->err)))
        return -1;
    if (recipe_create(root, answers, stdin, c->notes, &places, c->arena, &text, c->err))
        return -1;
    return recipe_write_file(c, &text);
}

/* ---- run and after ---- */

static struct campaign_hosts this_host(void)
{
    static struct campaign_node local;
    static char host[256] = "localhost";
    gethostname(host, sizeof host - 1);
    local = (struct campaign_node){.name = host, .address = "127.0.0.1"};
    return (struct campaign_hosts){.nodes = &local, .count = 1};
}

/* The nodes: this machine, or those of the allocation. */
static int recipe_hosts(struct cmd_context *c, struct campaign_hosts *ret)
{
    if (!opt_on(&c->opts, OPTION_LOCAL) && getenv("SLURM_JOB_ID"))
        return campaign_slurm_hosts(ret, c->arena, c->err);
    if (!opt_on(&c->opts, OPTION_LOCAL) && !getenv("PBS_JOBID") && !getenv("LSB_JOBID")) {
        err_set(c->err, ERR_USAGE, "this is no allocation of a scheduler");
        return err_hint(c->err, "--local runs all roles on this machine, --submit submits a job");
    }
    *ret = this_host();
    return 0;
}

/* Writes the batch script into the campaign's folder and submits it. 0, also where all points are
 * finished, and nothing is written or submitted; 1: with --wait, the job ended with another status
 * than 0; -1 with c->err. */
static int recipe_submit(struct cmd_context *c, struct campaign *campaign, const char *tree)
{
    const struct recipe_planned *p = &campaign->planned;
    CLEANUP_BUF struct buf script;
    const char *folder = campaign_place(c, tree, p->recipe->name), *path = folder ? arena_printf(c->arena, "%s/batch.sh", folder) : NULL;
    buf_init(&script, RECIPE_OUTPUT_MAX);
    if (!path)
        return err_memory(c->err, "the batch script");
    int rc = recipe_script(c, p, folder, &script) ? -1 : campaign_before_submit(campaign, tree, c->err);
    if (rc)
        return rc < 0 ? -1 : 0;
    if (fs_mkdirs(AT_FDCWD, folder, 0700, c->err) || fs_write(AT_FDCWD, path, buf_text(&script), 0700, false, c->err))
        return -1;
    fprintf(c->notes, "benchwrap: recipe: the batch script is %s\n", path);
    return campaign_submit(recipe_scheduler_of(p->recipe), path, folder, opt_on(&c->opts, OPTION_WAIT), c->arena, c->out, c->err);
}

/* The names of nodes, or pairs of them: each node with the next one, the last with the first. */
static char **each_node_list(struct cmd_context *c, const struct campaign_hosts *hosts, bool pairs)
{
    char **list = arena_get(c->arena, (hosts->count + 1) * sizeof *list);
    size_t n = pairs && hosts->count == 2 ? 1 : hosts->count;
    for (size_t i = 0; list && i < n; i++)
        list[i] = pairs ? arena_printf(c->arena, "%s%c%s", hosts->nodes[i].name, RECIPE_PAIR, hosts->nodes[(i + 1) % hosts->count].name)
                        : (char *)hosts->nodes[i].name;
    return c->arena->failed ? NULL : list;
}

/* Runs the recipe on another cluster. */
static int recipe_run_there(struct cmd_context *c, const struct recipe *r, const char *tree)
{
    const char *config = plan_xdg(c->env, "XDG_CONFIG_HOME", ".config", c->arena);
    CLEANUP_BUF struct buf options;
    struct campaign_cluster cluster;
    size_t points;
    buf_init(&options, RECIPE_OUTPUT_MAX);
    if (points_option(c, &points))
        return -1;
    put_job_options(c, &options);
    if (points)
        buf_printf(&options, " --points %zu", points);
    if (options.failed)
        return err_memory(c->err, "the recipe");
    return campaign_cluster_read(&cluster, config ? arena_printf(c->arena, "%s/clusters.yaml", config) : NULL,
                                 opt_text(&c->opts, OPTION_CLUSTER), c->arena, c->err)
               ? -1
               : campaign_cluster_run(&cluster, r, options.p ? options.p : "", tree, c->arena, c->out, c->err);
}

/* Executes a recipe here, submits it as a job, or runs it on another cluster. Returns the status of
 * the campaign; -1 with c->err. */
static int recipe_run(struct cmd_context *c)
{
    static struct campaign campaign; /* its arenas live as long as the process */
    struct recipe r;
    struct campaign_hosts hosts = {0};
    char **names = NULL;
    const char *tree = recipe_tree(c);
    bool there = opt_text(&c->opts, OPTION_CLUSTER) != NULL, submit = there || opt_on(&c->opts, OPTION_SUBMIT),
         pairs = opt_on(&c->opts, OPTION_EACH_PAIR), each = pairs || opt_on(&c->opts, OPTION_EACH_NODE);
    const char *each_option = pairs ? OPTION_EACH_PAIR : OPTION_EACH_NODE;
    if (submit && each)
        return err_set(c->err, ERR_USAGE, "--%s: run it inside an allocation: salloc -N NODES benchwrap recipe run --%s", each_option,
                       each_option);
    if (!tree || (!submit && recipe_hosts(c, &hosts)))
        return -1;
    if (pairs && hosts.count < 2)
        return err_set(c->err, ERR_USAGE, "--each-pair needs an allocation of two nodes or more");
    if (each && !(names = each_node_list(c, &hosts, pairs)))
        return err_memory(c->err, "the nodes");
    if (recipe_on_nodes(c, names, &r))
        return -1;
    campaign = (struct campaign){.recipe = &r, .env = c->env, .notes = c->notes, .arena = c->arena};
    campaign.options = (struct campaign_options){.resume = opt_on(&c->opts, OPTION_RESUME),
                                                 .new_one = opt_on(&c->opts, OPTION_NEW),
                                                 .preflight_only = opt_on(&c->opts, OPTION_PREFLIGHT_ONLY),
                                                 .tree_option = opt_text(&c->opts, OPTION_TREE)};
    if (points_option(c, &campaign.options.points) || recipe_planned_init(&campaign.planned, &r, c->arena, c->err))
        return -1;
    if (there)
        return recipe_run_there(c, &r, tree);
    campaign.hosts = submit ? this_host() : hosts;
    if (submit)
        return recipe_submit(c, &campaign, tree);
    int status = campaign_execute(&campaign, tree, c->err);
    if (status > 1)
        exit(status);
    return status;
}

/* For the preflight, on each node of an allocation: the operands are programs. */
static int recipe_node(struct cmd_context *c)
{
    campaign_node_print(c->argv + 1, c->out);
    return 0;
}

/* On each node of an allocation: the operand is the network of a recipe. */
static int recipe_address(struct cmd_context *c)
{
    if (c->argc != 2 || !campaign_network_is_legal(c->argv[1]))
        return err_set(c->err, ERR_USAGE, "expected a network: benchwrap recipe address NAME|NETWORK/BITS");
    campaign_network_print(c->argv[1], c->out);
    return 0;
}

/* On each node of an allocation while a campaign runs: the operand is an interval in seconds. */
static int recipe_beats(struct cmd_context *c)
{
    double interval_s;
    if (c->argc != 2 || !str_double(str_of(c->argv[1]), &interval_s) || !(interval_s > 0 && interval_s <= 3600))
        return err_set(c->err, ERR_USAGE, "expected an interval in seconds: benchwrap recipe beats SECONDS");
    campaign_beats_print(interval_s, c->out);
    return 0;
}

static enum campaign_format format_of(struct cmd_context *c)
{
    return opt_on(&c->opts, OPTION_JSON) ? CAMPAIGN_JSON : opt_on(&c->opts, OPTION_CSV) ? CAMPAIGN_CSV : CAMPAIGN_TEXT;
}

/* The folder of the campaign that the operand names: by its name, or by its recipe. */
static const char *recipe_folder(struct cmd_context *c, const char **ret_tree)
{
    const char *name = c->argc > 1 ? c->argv[1] : NULL;
    struct recipe r;
    *ret_tree = recipe_tree(c);
    if (!*ret_tree)
        return NULL;
    if (name && (strchr(name, '/') || str_ends(str_of(name), ".yaml"))) {
        if (recipe_of_argument(c, &r))
            return NULL;
        name = r.name;
    }
    return campaign_folder(*ret_tree, name, c->arena, c->err);
}

static int recipe_status(struct cmd_context *c)
{
    const char *tree, *folder = recipe_folder(c, &tree);
    bool tunnels = opt_on(&c->opts, OPTION_TUNNELS);
    if (folder && opt_text(&c->opts, OPTION_LAPTOP))
        return campaign_laptop_write(folder, opt_text(&c->opts, OPTION_LAPTOP), c->out, c->err);
    if (folder && (tunnels || opt_on(&c->opts, OPTION_SCRAPE_CONFIG))) {
        CLEANUP_BUF struct buf text;
        buf_init(&text, RECIPE_OUTPUT_MAX);
        return campaign_targets_print(folder, tunnels, &text, c->err) ? -1 : recipe_write_text(c, &text);
    }
    return folder ? campaign_status(folder, format_of(c), c->arena, c->out, c->err) : -1;
}

static int recipe_report(struct cmd_context *c)
{
    const char *tree, *folder = recipe_folder(c, &tree);
    return folder ? campaign_report(folder, tree, format_of(c), c->arena, c->out, c->err) : -1;
}

static int recipe_stop(struct cmd_context *c)
{
    const char *tree, *folder = recipe_folder(c, &tree), *state = plan_xdg(c->env, "XDG_STATE_HOME", ".local/state", c->arena);
    const char *spools[3] = {NULL};
    if (!folder)
        return -1;
    spools[0] = plan_spool_of(tree, c->arena);
    spools[1] = state ? arena_printf(c->arena, "%s/spool", state) : NULL;
    return spools[0] ? campaign_stop(folder, spools, c->out, c->err) : err_memory(c->err, "the campaign");
}

/* ---- logs ---- */

static int recipe_logs(struct cmd_context *c)
{
    const char *tree, *folder = recipe_folder(c, &tree);
    return folder ? campaign_logs_print(folder, &c->opts, c->arena, c->out, c->err) : -1;
}

static int recipe_check_logs(struct cmd_context *c)
{
    const char *tree, *folder = recipe_folder(c, &tree);
    return folder ? campaign_logs_check(folder, opt_on(&c->opts, OPTION_JSON), c->arena, c->out, c->err) : -1;
}

/* ---- the command ---- */

/* Executes the verb of `benchwrap recipe`. Returns its status; -1 with c->err, which suggests the
 * nearest verb. */
static int recipe_command(struct cmd_context *c)
{
    static const struct {
        const char *name;
        int (*run)(struct cmd_context *c);
    } verbs[] = {
        {"list", recipe_list},       {"check", recipe_check},     {"plan", recipe_plan},
        {"schema", recipe_schema},   {"migrate", recipe_migrate}, {"create", recipe_create_file},
        {"run", recipe_run},         {"status", recipe_status},   {"report", recipe_report},
        {"stop", recipe_stop},       {"node", recipe_node},       {"beats", recipe_beats},
        {"address", recipe_address}, {"logs", recipe_logs},       {"check-logs", recipe_check_logs},
    };
    const char *verb = c->argc ? c->argv[0] : "", *nearest = NULL;
    unsigned least = 4;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verb, verbs[i].name) == 0)
            return verbs[i].run(c);
        if (str_distance(str_of(verb), str_of(verbs[i].name)) < least)
            least = str_distance(str_of(verb), str_of(verbs[i].name)), nearest = verbs[i].name;
    }
    if (*verb && nearest)
        return err_set(c->err, ERR_USAGE, "expected a verb, got \"%.40s\"; did you mean \"%s\"?", verb, nearest);
    return err_set(c->err, ERR_USAGE,
                   "expected list, create, check, plan, run, status, report, stop, logs, check-logs, schema or migrate%s%.40s%s",
                   *verb ? ", got \"" : "", verb, *verb ? "\"" : "");
}

const struct cmd cmd_recipe = {
    .name = "recipe",
    .summary = "Run campaigns of services and sweeps from one file",
    .usage = "VERB [OPTIONS] [FILE|NAME]",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .description = "A recipe describes a campaign: services to start, clients to measure, and the values that change from point to point. "
                   "See docs/howto-recipe.md.\n\n"
                   "list prints the recipes that are shipped, the site's (/etc/benchwrap/recipes) and the user's "
                   "(~/.config/benchwrap/recipes). create asks questions and writes a first recipe. check reads a recipe and reports its "
                   "first mistake with line and column. plan prints points, nodes and commands; it starts nothing. schema prints the JSON "
                   "schema. migrate prints a recipe of the HPC Benchmark Toolkit in benchwrap's own form.\n\n"
                   "run executes the campaign: it starts the services, waits until they are ready, measures each point, and ends "
                   "everything that it has started. Each point becomes a child run of the campaign's run. A finished point never runs "
                   "twice: after an interruption the same command continues with the others. If the recipe or a program has changed since "
                   "then, run names the change and needs --resume or --new. The exit status is 0 if every point is valid.\n\n"
                   "status, report and stop take the name of a campaign or its recipe (default: the one that was executed last). report "
                   "prints a row for each point: outcome, results, phases. stop ends the process that executes the campaign, here or in a "
                   "submitted job, and cancels a job that has not begun; without one it closes the record of an interrupted campaign.\n\n"
                   "logs prints what the processes of a campaign print, in the order of time. The folder logs of the campaign holds it as "
                   "stdout.log, stderr.log and aggregated.jsonl; check-logs compares these files with what each process wrote. Status 1: a"
                   " check failed.",
    .examples = "$ benchwrap recipe list\nThe recipes with a line about each.\n"
                "$ benchwrap recipe list --services\nThe services that a role may name.\n",
    .run = recipe_command,
};
