/* recipe_plan.c: print what a recipe would do. */
#include "recipe/recipe_plan.h"

#include "base/listing.h"
#include "base/shell_word.h"

#include <stdio.h>

enum { PLAN_BYTES = 256 << 20, LABEL_MAX = 200 };

/* A search for a value that nothing uses would measure one point again and again. The first two points
 * are candidates of one search, so they differ in this value alone. */
static int check_search(const struct recipe_planned *p, struct err *err)
{
    const struct recipe *r = p->recipe;
    if (!r->search.axis || r->search.count < 2)
        return 0;
    for (size_t k = 0; k < r->role_count; k++)
        if (strcmp(p->points[0].parts[k].hash, p->points[1].parts[k].hash) != 0)
            return 0;
    return yaml_complain(yaml_get(r->root, "objective"), r->file, err, "no role uses the value {%.60s}, which the objective raises",
                         r->search.axis);
}

int recipe_planned_init(struct recipe_planned *ret, const struct recipe *r, struct arena *a, struct err *err)
{
    *ret = (struct recipe_planned){.recipe = r, .count = r->sweep.points};
    ret->points = arena_get(a, ret->count * sizeof *ret->points);
    if (!ret->points)
        return err_memory(err, "the points");
    for (size_t i = 0; i < ret->count; i++) {
        if (recipe_point_init(&ret->points[i], r, i, NULL, NULL, a, err))
            return -1;
        size_t nodes = recipe_nodes_of(&ret->points[i]);
        if (nodes > ret->nodes)
            ret->nodes = nodes;
    }
    if (check_search(ret, err) || !(ret->order = recipe_order(r, ret->points, a, err)))
        return -1;
    for (size_t i = 0; i < ret->count; i++)
        for (size_t k = 0; k < r->role_count; k++) {
            const struct recipe_part *now = &ret->points[ret->order[i]].parts[k];
            bool again = i && !now->restart && strcmp(ret->points[ret->order[i - 1]].parts[k].hash, now->hash) == 0;
            ret->starts += now->role->is_service && !now->endpoint && !again;
        }
    return 0;
}

/* Words as a shell would read them, quoted where needed, harmless for a terminal. */
static void recipe_print_words(char *const *words, struct buf *to)
{
    for (size_t i = 0; words && words[i]; i++) {
        if (i)
            buf_putc(to, ' ');
        CLEANUP_BUF struct buf quoted;
        buf_init(&quoted, 4 << 20);
        shell_word_put(&quoted, words[i]);
        buf_plain(to, buf_text(&quoted), 4 << 20);
    }
}

/* Prints the command of a process, the srun command that starts it, and a line with nodes,
 * instances, tasks, GPUs, ports and how it becomes ready. */
static void print_process(const struct recipe_part *part, const struct recipe_process *p, FILE *out)
{
    CLEANUP_BUF struct buf line;
    buf_init(&line, 8 << 20);
    recipe_print_words(p->words, &line);
    fprintf(out, "  %-12s %s\n", p->component, line.p ? line.p : "");
    buf_clear(&line);
    recipe_print_words(part->srun, &line);
    if (line.n)
        fprintf(out, "  %-12s   by srun %s\n", "", line.p);
    buf_clear(&line);
    if (part->nodes > 1 || part->instances > 1 || part->tasks)
        buf_printf(&line, ", %zu node%s", part->nodes, str_plural(part->nodes));
    if (part->instances > 1)
        buf_printf(&line, ", %zu processes on each", part->instances);
    if (part->tasks)
        buf_printf(&line, ", %zu tasks", part->tasks);
    if (part->gpus)
        buf_printf(&line, ", %u GPU%s each", part->gpus, str_plural(part->gpus));
    for (size_t i = 0; i < part->port_count; i++)
        buf_printf(&line, ", port %s %u", part->ports[i].name, part->ports[i].number);
    if (p->ready.http)
        buf_printf(&line, ", ready when %s answers", p->ready.http);
    else if (p->ready.tcp)
        buf_printf(&line, ", ready when port %s accepts", p->ready.tcp);
    else if (p->ready.command)
        buf_puts(&line, ", ready by a command");
    if (line.n > 2) {
        CLEANUP_BUF struct buf shown;
        buf_init(&shown, 8 << 20);
        buf_plain(&shown, (struct str){line.p + 2, line.n - 2}, 400);
        fprintf(out, "  %-12s   %s\n", "", shown.p ? shown.p : "");
    }
}

static void print_point(const struct recipe_point *p, FILE *out)
{
    for (size_t i = 0; i < p->part_count; i++) {
        const struct recipe_part *part = &p->parts[i];
        if (part->endpoint) {
            CLEANUP_BUF struct buf shown;
            buf_init(&shown, 8 << 20);
            buf_plain(&shown, str_of(part->endpoint), 400);
            fprintf(out, "  %-12s runs already at %s\n", part->role->name, shown.p ? shown.p : "");
        }
        for (size_t k = 0; k < part->process_count; k++)
            print_process(part, &part->processes[k], out);
    }
}

/* Prints the points in the order of their execution. -1: out of memory. */
static int print_points_table(const struct recipe_planned *p, struct arena *a, FILE *out)
{
    const struct recipe *r = p->recipe;
    struct listing l;
    size_t columns = 3 + r->sweep.count + r->vars.count;
    struct listing_column *c = arena_get(a, columns * sizeof *c);
    if (!c)
        return -1;
    c[0] = (struct listing_column){.key = "point", .heading = "point", .right = true};
    for (size_t i = 0; i < p->points[0].values.count; i++)
        c[1 + i] = (struct listing_column){.key = p->points[0].values.list[i].name, .heading = p->points[0].values.list[i].name, .max = 30};
    c[columns - 2] = (struct listing_column){.key = "nodes", .heading = "nodes", .right = true};
    c[columns - 1] = (struct listing_column){.key = "hash", .heading = "hash"};
    listing_init(&l, c, columns, a);
    for (size_t i = 0; i < p->count; i++) {
        const struct recipe_point *point = &p->points[p->order[i]];
        char hash[9];
        listing_number(&l, (double)(point->index + 1), NULL);
        for (size_t k = 0; k < point->values.count; k++)
            listing_text(&l, point->values.list[k].text);
        listing_number(&l, (double)recipe_nodes_of(point), NULL);
        snprintf(hash, sizeof hash, "%.8s", point->hash);
        listing_text(&l, hash);
    }
    int rc = listing_print(&l, out);
    listing_deinit(&l);
    return rc;
}

int recipe_plan_print(const struct recipe_planned *p, bool all, struct arena *a, FILE *out)
{
    const struct recipe *r = p->recipe;
    fprintf(out, "%s: %zu point%s, %zu node%s, services start %zu time%s, %s is measured\n", r->name, p->count, str_plural(p->count),
            p->nodes, str_plural(p->nodes), p->starts, str_plural(p->starts), r->measured->name);
    for (size_t i = 0; r->remarks[i]; i++)
        fprintf(out, "  %s\n", r->remarks[i]);
    for (size_t i = 0; i < (all ? p->count : 1); i++) {
        const struct recipe_point *point = &p->points[p->order[i]];
        CLEANUP_BUF struct buf label;
        buf_init(&label, 4096);
        buf_plain(&label, str_of(point->label), LABEL_MAX);
        fprintf(out, "\npoint %zu%s%s\n", point->index + 1, label.n ? ": " : "", label.n ? label.p : "");
        print_point(point, out);
    }
    fputc('\n', out);
    return p->count > 1 || r->vars.count ? print_points_table(p, a, out) : 0;
}

/* ---- JSON ---- */

static void json_command_words(struct json_out *j, const char *key, char *const *words)
{
    json_open(j, key, '[');
    for (; words && *words; words++)
        json_str(j, NULL, str_of(*words));
    json_close(j, ']');
}

static void json_part(struct json_out *j, const struct recipe_part *part)
{
    json_open(j, NULL, '{');
    json_text(j, "role", part->role->name);
    json_text(j, "kind", part->role->is_service ? "service" : "client");
    json_str(j, "service", str_of(part->role->service ? part->role->service->name : ""));
    json_uint(j, "nodes", part->nodes);
    json_uint(j, "instances", part->instances);
    json_uint(j, "tasks", part->tasks);
    json_uint(j, "gpus", part->gpus);
    if (part->endpoint)
        json_str(j, "endpoint", str_of(part->endpoint));
    json_open(j, "ports", '{');
    for (size_t i = 0; i < part->port_count; i++)
        json_uint(j, part->ports[i].name, part->ports[i].number);
    json_close(j, '}');
    json_command_words(j, "env", part->env);
    if (part->srun)
        json_command_words(j, "srun", part->srun);
    json_open(j, "processes", '[');
    for (size_t i = 0; i < part->process_count; i++) {
        json_open(j, NULL, '{');
        json_str(j, "component", str_of(part->processes[i].component));
        json_command_words(j, "command", part->processes[i].words);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_text(j, "hash", part->hash);
    json_close(j, '}');
}

void recipe_plan_json(const struct recipe_planned *p, const char *script, struct buf *to)
{
    const struct recipe *r = p->recipe;
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_str(&j, "name", str_of(r->name));
    json_str(&j, "description", str_of(r->description));
    json_uint(&j, "nodes", p->nodes);
    json_uint(&j, "service_starts", p->starts);
    json_text(&j, "measured", r->measured->name);
    json_open(&j, "remarks", '[');
    for (size_t i = 0; r->remarks[i]; i++)
        json_text(&j, NULL, r->remarks[i]);
    json_close(&j, ']');
    if (script)
        json_str(&j, "script", str_of(script));
    json_open(&j, "points", '[');
    for (size_t i = 0; i < p->count; i++) {
        const struct recipe_point *point = &p->points[p->order[i]];
        json_open(&j, NULL, '{');
        json_uint(&j, "point", point->index + 1);
        json_str(&j, "label", str_of(point->label));
        json_uint(&j, "nodes", recipe_nodes_of(point));
        json_text(&j, "hash", point->hash);
        json_open(&j, "values", '{');
        for (size_t k = 0; k < point->values.count; k++)
            json_str(&j, point->values.list[k].name, str_of(point->values.list[k].text));
        json_close(&j, '}');
        json_open(&j, "roles", '[');
        for (size_t k = 0; k < point->part_count; k++)
            json_part(&j, &point->parts[k]);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    buf_putc(to, '\n');
}
