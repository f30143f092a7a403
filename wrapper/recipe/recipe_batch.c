/* recipe_batch.c: print the batch script of a campaign. */
#include "recipe/recipe_batch.h"

#include "base/hostlist.h"
#include "base/shell_word.h"

#include <stdio.h>
#include <stdlib.h>

/* One component of a heterogeneous job: nodes with equal resources. */
struct recipe_group {
    size_t nodes;
    unsigned gpus, cpus;
    uint64_t memory_B;
    const char *roles; /* names, for a comment */
    const char *hosts; /* names of nodes that it must have, separated by commas; "" none */
};

enum { WORD_MAX = 64 << 10, END_S = 60 /* before the time limit, for tear-down and record */ };

enum recipe_scheduler recipe_scheduler_of(const struct recipe *r)
{
    struct str name = yaml_text(yaml_get(r->root, "batch"), "scheduler", "slurm");
    return str_is(name, "pbs") ? RECIPE_PBS : str_is(name, "lsf") ? RECIPE_LSF : RECIPE_SLURM;
}

/* ---- groups ---- */

static bool needs_equal(const struct recipe_group *g, const struct recipe_part *p)
{
    return g->gpus == p->gpus && g->cpus == p->cpus && g->memory_B == p->memory_B;
}

/* The part of the role that needs the most nodes, over all points. */
static const struct recipe_part *greatest_part(const struct recipe_planned *p, size_t role)
{
    const struct recipe_part *most = &p->points[0].parts[role];
    for (size_t i = 1; i < p->count; i++)
        if (p->points[i].parts[role].nodes > most->nodes)
            most = &p->points[i].parts[role];
    return most;
}

/* Adds the nodes that the role names at any point, and no group has. Returns how many. */
static size_t add_group_hosts(const struct recipe_planned *p, size_t role, struct recipe_group *list, size_t n, struct arena *a)
{
    size_t added = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct recipe_part *part = &p->points[i].parts[role];
        for (size_t k = 0; part->hosts && k < part->nodes && !a->failed; k++) {
            bool known = false;
            for (size_t g = 0; g < n; g++)
                known |= hostlist_has(str_of(list[g].hosts), str_of(part->hosts[k]));
            struct recipe_group *to = &list[n - 1];
            if (known)
                continue;
            to->hosts = arena_printf(a, "%s%s%s", to->hosts, to->hosts[0] ? "," : "", part->hosts[k]);
            added++;
        }
    }
    return added;
}

/* The components of the job, in the order of the roles: one where all roles need the same. */
static struct recipe_group *recipe_groups(const struct recipe_planned *p, struct arena *a, size_t *ret_n)
{
    struct recipe_group *list = arena_get(a, (p->recipe->role_count + 1) * sizeof *list);
    int64_t whole = 0;
    size_t n = 0, nodes = 0;
    for (size_t i = 0; list && i < p->recipe->role_count; i++) {
        const struct recipe_part *part = greatest_part(p, i);
        if (part->endpoint || (!part->hosts && part->role->nodes_of))
            continue;
        if (!n || !needs_equal(&list[n - 1], part))
            list[n++] = (struct recipe_group){.gpus = part->gpus, .cpus = part->cpus, .memory_B = part->memory_B, .roles = "", .hosts = ""};
        size_t more = part->hosts ? add_group_hosts(p, i, list, n, a) : part->nodes;
        if (!more && !list[n - 1].nodes) { /* all its nodes are those of other roles */
            n--;
            continue;
        }
        list[n - 1].nodes += more;
        list[n - 1].roles = arena_printf(a, "%s%s%s (%zu)", list[n - 1].roles, list[n - 1].roles[0] ? ", " : "", part->role->name, more);
        nodes += more;
    }
    if (list && !n)
        list[n++] = (struct recipe_group){.nodes = 1, .roles = "none", .hosts = ""};
    const char *asked = recipe_scalar(p->recipe, yaml_get(p->recipe->root, "batch"), "nodes", "");
    if (list && str_int(str_of(asked), &whole) && whole > (int64_t)nodes && whole <= RECIPE_NODES_MAX) {
        list[n - 1].roles = arena_printf(a, "%s, and %zu more of batch.nodes", list[n - 1].roles, (size_t)whole - nodes);
        list[n - 1].nodes += (size_t)whole - nodes; /* such as nodes of a monitor */
    }
    *ret_n = n;
    return a->failed ? NULL : list;
}

/* ---- text ---- */

/* A value in a directive: schedulers split these at blanks and know no common quoting. */
static void put_directive(struct buf *to, const char *before, const char *value)
{
    if (!value)
        return;
    buf_puts(to, before);
    for (; *value; value++)
        buf_putc(to, (unsigned char)*value <= ' ' || strchr("'\"\\`$;&|<>#", *value) ? '_' : *value);
    buf_putc(to, '\n');
}

static void put_comment(struct buf *to, const char *text)
{
    CLEANUP_BUF struct buf line;
    buf_init(&line, WORD_MAX);
    buf_plain(&line, str_of(text), 400); /* no line end */
    buf_printf(to, "%s\n", line.p ? line.p : "");
}

static const char *batch_value(const struct recipe_planned *p, const char *key)
{
    return recipe_scalar(p->recipe, yaml_get(p->recipe->root, "batch"), key, NULL);
}

/* Appends the values of a key of `batch`, each behind `before`: as directives of the scheduler, or
 * as quoted words on lines of their own. */
static void put_list(const struct recipe_planned *p, const char *key, const char *before, struct buf *to, bool directive)
{
    const struct yaml *list = yaml_get(yaml_get(p->recipe->root, "batch"), key);
    for (const struct yaml *y = list && list->kind == YAML_LIST ? list->child : list; y && !yaml_is_null(y);
         y = list->kind == YAML_LIST ? y->next : NULL) {
        const char *text = arena_dup(p->recipe->arena, y->text.p, y->text.n);
        if (!text)
            continue;
        if (directive) {
            put_directive(to, before, text);
            continue;
        }
        buf_puts(to, before);
        shell_word_put(to, text);
        buf_putc(to, '\n');
    }
}

static bool is_exclusive(const struct recipe_planned *p)
{
    bool flag = false;
    yaml_bool(yaml_get(yaml_get(p->recipe->root, "batch"), "exclusive"), &flag);
    return flag;
}

static bool is_job_each(const struct recipe_planned *p)
{
    return str_is(yaml_text(yaml_get(p->recipe->root, "batch"), "jobs", "one"), "each");
}

/* With a job for each point. */
static size_t jobs_of_points(const struct recipe_planned *p, const struct recipe_batch *b)
{
    return b->points && b->points < p->count ? b->points : p->count;
}

static void put_slurm_group(const struct recipe_group *g, struct buf *to)
{
    buf_printf(to, "#SBATCH --nodes=%zu\n#SBATCH --ntasks-per-node=1\n", g->nodes);
    put_directive(to, "#SBATCH --nodelist=", g->hosts[0] ? g->hosts : NULL);
    if (g->cpus)
        buf_printf(to, "#SBATCH --cpus-per-task=%u\n", g->cpus);
    if (g->gpus)
        buf_printf(to, "#SBATCH --gpus-per-node=%u\n", g->gpus);
    if (g->memory_B)
        buf_printf(to, "#SBATCH --mem=%lluM\n", (unsigned long long)(g->memory_B >> 20));
}

/* Appends the directives of sbatch. */
static void put_slurm(const struct recipe_planned *p, const struct recipe_batch *b, const struct recipe_group *groups, size_t n,
                      struct buf *to)
{
    CLEANUP_BUF struct buf out;
    buf_init(&out, WORD_MAX);
    buf_printf(&out, "%s/job-%%j.log", b->folder);
    put_directive(to, "#SBATCH --job-name=", p->recipe->name);
    put_directive(to, "#SBATCH --output=", out.p);
    buf_printf(to, "#SBATCH --signal=B:TERM@%d\n", END_S);
    put_directive(to, "#SBATCH --time=", batch_value(p, "time"));
    if (is_job_each(p)) /* one after the other: all of them write the campaign's record */
        buf_printf(to, "#SBATCH --array=1-%zu%%1\n", jobs_of_points(p, b));
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_puts(to, "#SBATCH hetjob\n");
        buf_puts(to, "# nodes for: ");
        put_comment(to, groups[i].roles);
        put_slurm_group(&groups[i], to);
        put_directive(to, "#SBATCH --partition=", batch_value(p, "partition"));
        put_directive(to, "#SBATCH --account=", batch_value(p, "account"));
        put_directive(to, "#SBATCH --qos=", batch_value(p, "qos"));
        if (is_exclusive(p))
            buf_puts(to, "#SBATCH --exclusive\n");
        put_list(p, "options", "#SBATCH ", to, true);
    }
}

bool recipe_time_limit(struct str text, int64_t *ret_s)
{
    struct str rest = text, head = str_cut(&rest, '-');
    bool has_days = rest.p != NULL;
    int64_t days = 0, part[3] = {0};
    int n = 0;
    *ret_s = 0;
    if (str_is_anycase(text, "unlimited") || str_is_anycase(text, "infinite"))
        return true;
    if (!has_days)
        rest = text;
    else if (!str_int(head, &days) || days < 0 || days > 100000)
        return false;
    for (; rest.p; n++)
        if (n == 3 || !str_int(str_cut(&rest, ':'), &part[n]) || part[n] < 0 || part[n] > 10000000)
            return false;
    if (!has_days && n < 3) /* minutes come first */
        part[2] = part[1], part[1] = part[0], part[0] = 0;
    *ret_s = ((days * 24 + part[0]) * 60 + part[1]) * 60 + part[2];
    return *ret_s > 0;
}

/* The time limit for schedulers that know one form each: HH:MM:SS, or HH:MM of LSF, which is rounded up. */
static void put_time_limit(const struct recipe_planned *p, const char *before, bool seconds, struct buf *to)
{
    const char *text = batch_value(p, "time");
    int64_t s;
    if (!text || !recipe_time_limit(str_of(text), &s) || !s)
        return;
    if (!seconds)
        s += 59;
    buf_printf(to, "%s%02lld:%02lld", before, (long long)(s / 3600), (long long)(s / 60 % 60));
    if (seconds)
        buf_printf(to, ":%02lld", (long long)(s % 60));
    buf_putc(to, '\n');
}

/* Appends the directives of qsub. */
static void put_pbs(const struct recipe_planned *p, const struct recipe_batch *b, const struct recipe_group *groups, size_t n,
                    struct buf *to)
{
    put_directive(to, "#PBS -N ", p->recipe->name);
    put_directive(to, "#PBS -q ", batch_value(p, "partition"));
    put_directive(to, "#PBS -A ", batch_value(p, "account"));
    put_time_limit(p, "#PBS -l walltime=", true, to);
    buf_puts(to, "#PBS -l select=");
    for (size_t i = 0; i < n; i++) {
        buf_printf(to, "%s%zu:ncpus=%u", i ? "+" : "", groups[i].nodes, groups[i].cpus ? groups[i].cpus : 1);
        if (groups[i].gpus)
            buf_printf(to, ":ngpus=%u", groups[i].gpus);
        if (groups[i].memory_B)
            buf_printf(to, ":mem=%lluMB", (unsigned long long)(groups[i].memory_B >> 20));
    }
    buf_printf(to, "\n#PBS -l place=scatter%s\n#PBS -j oe\n", is_exclusive(p) ? ":excl" : "");
    put_directive(to, "#PBS -o ", b->folder);
    if (is_job_each(p))
        buf_printf(to, "#PBS -J 1-%zu%%1\n", jobs_of_points(p, b));
    put_list(p, "options", "#PBS ", to, true);
}

/* Appends the directives of bsub. */
static void put_lsf(const struct recipe_planned *p, const struct recipe_batch *b, const struct recipe_group *groups, size_t n,
                    struct buf *to)
{
    size_t nodes = 0;
    unsigned gpus = 0;
    for (size_t i = 0; i < n; i++) {
        nodes += groups[i].nodes;
        gpus = groups[i].gpus > gpus ? groups[i].gpus : gpus;
    }
    if (is_job_each(p))
        buf_printf(to, "#BSUB -J %s[1-%zu]%%1\n", p->recipe->name, jobs_of_points(p, b));
    else
        put_directive(to, "#BSUB -J ", p->recipe->name);
    put_directive(to, "#BSUB -q ", batch_value(p, "partition"));
    put_directive(to, "#BSUB -P ", batch_value(p, "account"));
    put_time_limit(p, "#BSUB -W ", false, to);
    buf_printf(to, "#BSUB -n %zu\n#BSUB -R span[ptile=1]\n#BSUB -wt %d\n#BSUB -wa TERM\n", nodes, END_S / 60);
    if (gpus)
        buf_printf(to, "#BSUB -gpu num=%u/host\n", gpus);
    if (is_exclusive(p))
        buf_puts(to, "#BSUB -x\n");
    CLEANUP_BUF struct buf out;
    buf_init(&out, WORD_MAX);
    buf_printf(&out, "%s/job-%%J.log", b->folder);
    put_directive(to, "#BSUB -o ", out.p);
    put_list(p, "options", "#BSUB ", to, true);
}

void recipe_batch_print(const struct recipe_planned *p, const struct recipe_batch *b, struct arena *a, struct buf *to)
{
    static const char *const submit[] = {"sbatch", "qsub", "bsub <"};
    size_t n;
    const struct recipe_group *groups = recipe_groups(p, a, &n);
    if (!groups) {
        to->failed = true;
        return;
    }
    buf_puts(to, "#!/bin/bash\n");
    (b->scheduler == RECIPE_PBS ? put_pbs : b->scheduler == RECIPE_LSF ? put_lsf : put_slurm)(p, b, groups, n, to);
    buf_printf(to, "\n# Campaign %s, %zu point%s. `benchwrap recipe plan` prints what each point starts.\n", p->recipe->name, p->count,
               str_plural(p->count));
    buf_printf(to, "# Submit this script again to continue an interrupted campaign: %s THIS_FILE\n", submit[b->scheduler]);
    buf_puts(to, "set -eu\n");
    put_list(p, "modules", "module load ", to, false);
    buf_puts(to, "cd ");
    shell_word_put(to, b->cwd);
    buf_puts(to, "\n# SIGTERM, from scancel or before the time limit, ends the services and leaves a record that can be continued.\nexec ");
    shell_word_put(to, b->benchwrap);
    buf_puts(to, " recipe run ");
    shell_word_put(to, b->recipe);
    if (b->tree) {
        buf_puts(to, " --tree ");
        shell_word_put(to, b->tree);
    }
    buf_puts(to, b->options);
    if (is_job_each(p) || b->points)
        buf_printf(to, " --points %zu", is_job_each(p) ? 1 : b->points);
    buf_putc(to, '\n');
}
