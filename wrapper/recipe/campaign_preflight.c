/* campaign_preflight.c: what must be true before any load: programs, images, secrets, disk, memory, GPUs, files, models. */
#include "base/array.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/query.h"
#include "base/search_path.h"
#include "recipe/campaign.h"
#include "recipe/recipe_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { COMMAND_MS = 30000, ANSWER_BYTES = 1 << 20 };

struct preflight {
    struct campaign *c;
    size_t problems;
    const char *first;
};

static void add_problem(struct preflight *f, const char *hint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add_problem(struct preflight *f, const char *hint, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (!f->problems++)
        f->first = arena_printf(f->c->arena, "%s", text);
    campaign_say(f->c, "preflight: %s", text);
    if (hint)
        campaign_say(f->c, "hint: %s", hint);
}

bool campaign_has_program(const char *word)
{
    struct arena a;
    arena_init(&a, 1 << 20);
    bool has = search_path_find(getenv("PATH"), word, false, &a) != NULL;
    arena_deinit(&a);
    return has;
}

static void check_programs(struct preflight *f, const struct recipe_part *part)
{
    if (part->srun && !f->c->hosts.is_slurm)
        add_problem(f, "choose another container.runtime, or run the recipe in a job of Slurm", "%s: pyxis is a plugin of Slurm's srun",
                    part->role->name);
    for (size_t i = 0; !part->srun && i < part->process_count; i++) { /* a program of pyxis is in the image */
        const char *word = part->processes[i].words[0];
        if (!campaign_has_program(word))
            add_problem(f, "install it, load its module (batch.modules), or name its path", "%s: there is no program \"%.200s\"",
                        part->processes[i].component, word);
    }
    const char *image = part->container.runtime ? part->container.image : NULL;
    if (image && (image[0] == '/' || image[0] == '.') && access(image, R_OK))
        add_problem(f, "fetch it in a `prepare` step, for example: apptainer pull FILE docker://IMAGE",
                    "%s: the image %.300s cannot be read: %s", part->role->name, image, err_words(errno));
}

/* Checks the options of a service's programs against the output of --help. A part that passed is checked
 * again only where its hash is another one. */
static void check_options(struct preflight *f, const struct recipe_part *part)
{
    const char **known = &f->c->known_options[part->role - f->c->recipe->roles];
    bool on = true;
    yaml_bool(yaml_get(yaml_get(f->c->recipe->root, "preflight"), "options"), &on);
    if (!on || !part->role->service || part->endpoint || part->srun || f->problems || (*known && strcmp(*known, part->hash) == 0))
        return;
    for (size_t i = 0; i < part->process_count; i++) {
        const char *option = campaign_unknown_option(f->c, part, &part->processes[i]);
        if (option)
            add_problem(f, "correct it, or set preflight.options: false", "%s: the --help of %.200s does not name the option %.100s",
                        part->processes[i].component, part->processes[i].bare[0], option);
    }
    if (!f->problems)
        *known = arena_dup(f->c->arena, part->hash, strlen(part->hash));
}

static void check_role_secrets(struct preflight *f, const struct recipe_part *part)
{
    const struct yaml *list = yaml_get(part->role->at, "secrets"), *files = yaml_get(part->role->at, "secret_files");
    for (const struct yaml *y = list && list->kind == YAML_LIST ? list->child : list; y; y = list->kind == YAML_LIST ? y->next : NULL) {
        char name[200];
        snprintf(name, sizeof name, "%.*s", (int)(y->text.n > 150 ? 150 : y->text.n), y->text.p);
        if (!getenv(name) && !yaml_get(files, name))
            add_problem(f, "set it in the environment, or name a file in secret_files; its value is stored nowhere",
                        "%s needs the variable %s", part->role->name, name);
    }
    for (const struct yaml *y = files ? files->child : NULL; y; y = y->next) {
        const char *path = campaign_secret_path(y, f->c->arena);
        if (path && access(path, R_OK))
            add_problem(f, NULL, "%s: the file %.300s of secret_files cannot be read: %s", part->role->name, path, err_words(errno));
    }
}

/* The files that a model's index names must all be there. */
static void check_model_index(struct preflight *f, const char *folder, const char *index)
{
    CLEANUP_BUF struct buf text;
    struct json *j = NULL;
    char path[4096];
    const char *last = "";
    buf_init(&text, 64 << 20);
    if (snprintf(path, sizeof path, "%s/%s", folder, index) >= (int)sizeof path || access(path, R_OK))
        return;
    if (fs_read(AT_FDCWD, path, (64 << 20) - 1, FS_LINKS, &text, NULL) || json_parse(&j, buf_text(&text), NULL, NULL)) {
        add_problem(f, "fetch the model again", "the model's index %s cannot be read", path);
        return;
    }
    for (const struct json *w = json_first(json_get(j, "weight_map")); w; w = json_next(w)) {
        const char *file = json_string(w, "");
        if (strcmp(file, last) == 0)
            continue;
        last = file;
        if (snprintf(path, sizeof path, "%s/%s", folder, file) < (int)sizeof path && access(path, R_OK)) {
            add_problem(f, "fetch the model again", "the model is incomplete: %s is missing", path);
            break;
        }
    }
    json_free(j);
}

/* The path on the node of a path in the container, by its binds "host:inside:mode". In the arena; NULL: it is in the image. */
static const char *path_outside(const struct recipe_part *part, const char *path, struct arena *a)
{
    for (char **bind = part->container.binds; bind && *bind; bind++) {
        struct str rest = str_of(*bind), host = str_cut(&rest, ':'), inside = rest.p ? str_cut(&rest, ':') : host;
        if (inside.n && inside.p[inside.n - 1] == '/')
            inside.n--;
        if (strncmp(path, inside.p, inside.n) == 0 && (path[inside.n] == '/' || !path[inside.n]))
            return arena_printf(a, STR_FMT "%s", STR_ARG(host), path + inside.n);
    }
    return NULL;
}

static void check_model(struct preflight *f, const struct recipe_part *part, const struct recipe_values *values)
{
    const char *given = recipe_scalar(f->c->recipe, yaml_get(part->role->at, "with"), "model", NULL);
    const char *model = given && given[0] == '{' ? recipe_value_of(values, str_sub(str_of(given), 1, strlen(given) - 2)) : given;
    if (model && model[0] == '/' && part->container.runtime)
        model = path_outside(part, model, f->c->arena);
    if (!model || model[0] != '/')
        return;
    if (access(model, R_OK)) {
        add_problem(f, "fetch it in a `prepare` step", "%s: the model %.300s cannot be read: %s", part->role->name, model,
                    err_words(errno));
        return;
    }
    check_model_index(f, model, "model.safetensors.index.json");
    check_model_index(f, model, "pytorch_model.bin.index.json");
}

static bool must_be_idle(const struct preflight *f)
{
    bool idle = false;
    yaml_bool(yaml_get(yaml_get(f->c->recipe->root, "preflight"), "gpus_idle"), &idle);
    return idle;
}

#define IDLE_HINT "wait until it ends, or set preflight.gpus_idle: false"

static void check_gpus(struct preflight *f, const struct recipe_point *p)
{
    unsigned needed = 0, there = campaign_node_gpus();
    for (size_t i = 0; i < p->part_count; i++)
        if (!p->parts[i].endpoint)
            needed += p->parts[i].gpus * (unsigned)(p->parts[i].nodes * p->parts[i].instances);
    if (!needed || f->c->hosts.is_slurm)
        return;
    if (needed > there)
        add_problem(f, "lower resources.gpus, or choose another node", "the roles need %u GPU%s, and this node has %u", needed,
                    str_plural(needed), there);
    if (must_be_idle(f) && campaign_node_gpus_busy(f->c))
        add_problem(f, IDLE_HINT, "another process uses the GPUs");
}

/* Adds a problem where the campaign's folder has less free space than preflight.disk, or this node
 * less memory than the point requires. With Slurm the memory is not checked here. */
static void check_space(struct preflight *f, const struct recipe_point *p)
{
    const struct yaml *map = yaml_get(f->c->recipe->root, "preflight");
    struct statvfs st;
    uint64_t disk = 64 << 20, memory = 0, there;
    str_size(yaml_text(map, "disk", "64M"), &disk);
    str_size(yaml_text(map, "memory", "0"), &memory);
    for (size_t i = 0; i < p->part_count && !yaml_get(map, "memory") && !f->c->hosts.is_slurm; i++)
        memory += p->parts[i].memory_B * p->parts[i].nodes * p->parts[i].instances;
    if (fstatvfs(f->c->state.dir, &st) == 0 && (there = (uint64_t)st.f_bavail * st.f_frsize) < disk)
        add_problem(f, "remove files, or lower preflight.disk", "%s has %llu MiB free, %llu are needed", f->c->state.folder,
                    (unsigned long long)(there >> 20), (unsigned long long)(disk >> 20));
    if (memory && !f->c->hosts.is_slurm && (there = campaign_node_memory()) < memory)
        add_problem(f, "lower resources.memory or preflight.memory, or choose another node",
                    "%llu MiB of memory are available, %llu are needed", (unsigned long long)(there >> 20),
                    (unsigned long long)(memory >> 20));
}

static void check_needed_files(struct preflight *f)
{
    const struct yaml *list = yaml_get(yaml_get(f->c->recipe->root, "preflight"), "files");
    for (const struct yaml *y = list && list->kind == YAML_LIST ? list->child : list; y; y = list->kind == YAML_LIST ? y->next : NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%.*s", (int)(y->text.n > 4000 ? 4000 : y->text.n), y->text.p);
        if (access(path, R_OK))
            add_problem(f, NULL, "the file %.300s cannot be read: %s", path, err_words(errno));
    }
}

/* Runs each command of `preflight.commands`; one that fails is a problem. */
static void check_user_commands(struct preflight *f)
{
    const struct yaml *list = yaml_get(yaml_get(f->c->recipe->root, "preflight"), "commands");
    for (const struct yaml *y = list ? list->child : NULL; y; y = y->next) {
        struct query q = QUERY_NONE;
        struct err err = {0};
        char **words = recipe_words(y, f->c->recipe->file, f->c->arena, &err);
        bool good = words && query_start(&q, words, environ, ANSWER_BYTES, COMMAND_MS, 0, &err) == 0 &&
                    campaign_query_wait(f->c, &q, COMMAND_MS) == QUERY_DONE && q.status == 0;
        if (!good && !f->c->signal)
            add_problem(f, NULL, "the command of line %d, %.100s, failed%s%.200s", y->line, words ? words[0] : "",
                        err.text[0] || *query_reason(&q) ? ": " : "", err.text[0] ? err.text : query_reason(&q));
        query_close(&q);
    }
}

static bool is_word_among(char *const *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0)
            return true;
    return false;
}

/* Returns the programs of a point that were not checked yet, each once, NULL-terminated, in the
 * campaign's arena. NULL: out of memory. */
static char **new_programs_of_point(struct preflight *f, const struct recipe_point *p)
{
    size_t n = 0, most = p->part_count * RECIPE_PROCESSES_MAX;
    char **list = arena_get(f->c->arena, (most + 1) * sizeof *list);
    for (size_t i = 0; list && i < p->part_count; i++)
        for (size_t k = 0; !p->parts[i].srun && k < p->parts[i].process_count; k++) {
            char *word = p->parts[i].processes[k].words[0];
            if (!is_word_among(list, n, word) && !is_word_among(f->c->checked, f->c->checked_count, word))
                list[n++] = word;
        }
    if (list)
        list[n] = NULL;
    return list;
}

static void note_checked_programs(struct campaign *c, char *const *programs)
{
    for (; *programs && ARRAY_FITS_IN(c->arena, c->checked, c->checked_room, c->checked_count + 1); programs++)
        c->checked[c->checked_count++] = *programs;
}

/* One node's line: programs, clock, fabric, memory, GPUs. */
static void check_node_line(struct preflight *f, struct str line, int64_t from_ms, int64_t to_ms, double clock_s)
{
    struct str word = str_word(&line), node = str_word(&line);
    int64_t time_ms, up, down, memory_MiB, busy;
    uint64_t memory;
    if (!str_is(word, "node") || !str_int(str_word(&line), &time_ms) || !str_int(str_word(&line), &up) ||
        !str_int(str_word(&line), &down) || !str_int(str_word(&line), &memory_MiB) || !str_int(str_word(&line), &busy))
        return;
    if (str_size(yaml_text(yaml_get(f->c->recipe->root, "preflight"), "memory", ""), &memory) && (uint64_t)memory_MiB < memory >> 20)
        add_problem(f, "lower preflight.memory, or leave the node out: sbatch --exclude",
                    STR_FMT ": %lld MiB of memory are available, %llu are needed", STR_ARG(str_sub(node, 0, 100)), (long long)memory_MiB,
                    (unsigned long long)(memory >> 20));
    if (busy && must_be_idle(f))
        add_problem(f, IDLE_HINT, STR_FMT ": another process uses the GPUs", STR_ARG(str_sub(node, 0, 100)));
    if ((double)time_ms < (double)from_ms - clock_s * 1e3 || (double)time_ms > (double)to_ms + clock_s * 1e3)
        add_problem(f, "have it synchronised, or raise preflight.clock", "the clock of " STR_FMT " differs by %.1f s",
                    STR_ARG(str_sub(node, 0, 100)), (double)(time_ms - (from_ms + to_ms) / 2) / 1e3);
    if (down && !up)
        add_problem(f, "leave the node out: sbatch --exclude", STR_FMT ": no port of its fabric is active", STR_ARG(str_sub(node, 0, 100)));
    else if (down)
        campaign_say(f->c, "preflight: " STR_FMT ": %lld of %lld ports of its fabric are not active", STR_ARG(str_sub(node, 0, 100)),
                     (long long)down, (long long)(up + down));
    while ((word = str_word(&line)).n)
        add_problem(f, "install it there, load its module (batch.modules), or name its path",
                    STR_FMT ": there is no program \"" STR_FMT "\"", STR_ARG(str_sub(node, 0, 100)), STR_ARG(str_sub(word, 0, 200)));
}

/* Checks clocks, ports, memory, GPUs and the point's new programs on each node of the allocation by
 * one step. Does nothing where all of that was checked before. Programs count as checked only where
 * no problem was found. */
static void check_nodes(struct preflight *f, const struct recipe_point *p)
{
    CLEANUP_BUF struct buf text;
    struct err err = {0};
    int64_t from_ms, to_ms;
    double clock_s = 1;
    char **programs = new_programs_of_point(f, p);
    size_t before = f->problems;
    buf_init(&text, ANSWER_BYTES);
    str_duration(yaml_text(yaml_get(f->c->recipe->root, "preflight"), "clock", "1s"), &clock_s);
    if (!programs || (f->c->preflight_done && !programs[0]))
        return;
    if (campaign_slurm_facts(f->c, programs, &text, &from_ms, &to_ms, &err)) {
        if (!f->c->signal)
            add_problem(f, NULL, "the nodes cannot be checked: %s", err.text);
        return;
    }
    for (struct str rest = buf_text(&text); rest.p && rest.n;)
        check_node_line(f, str_cut(&rest, '\n'), from_ms, to_ms, clock_s);
    if (f->problems == before)
        note_checked_programs(f->c, programs);
}

/* Nodes that a role names must belong to the campaign. */
static void check_hosts(struct preflight *f, const struct recipe_part *part)
{
    const struct campaign_hosts *h = &f->c->hosts;
    for (char **name = part->hosts; name && *name; name++) {
        size_t i = 0;
        while (i < h->count && strcmp(h->nodes[i].name, *name) != 0)
            i++;
        if (i == h->count)
            add_problem(f,
                        h->is_slurm ? "request it with sbatch --nodelist"
                                    : "run the recipe inside an allocation, or use `endpoint` for a service there",
                        "%s: the node %.100s is not %s", part->role->name, *name, h->is_slurm ? "in the allocation" : "this machine");
    }
}

size_t campaign_preflight(struct campaign *c, const struct recipe_point *p, const char **ret_first)
{
    struct preflight f = {.c = c};
    for (size_t i = 0; i < p->part_count; i++) {
        check_programs(&f, &p->parts[i]);
        check_options(&f, &p->parts[i]);
        check_role_secrets(&f, &p->parts[i]);
        check_hosts(&f, &p->parts[i]);
        check_model(&f, &p->parts[i], &p->values);
    }
    if (c->hosts.is_slurm && recipe_nodes_of(p) > c->hosts.count)
        add_problem(&f, "request more nodes (sbatch --nodes), or lower the roles' nodes",
                    "the point needs %zu nodes, and the allocation has %zu", recipe_nodes_of(p), c->hosts.count);
    check_gpus(&f, p);
    check_space(&f, p);
    if (c->hosts.is_slurm)
        check_nodes(&f, p);
    if (!c->preflight_done) { /* once for the campaign */
        check_needed_files(&f);
        check_user_commands(&f);
        c->preflight_done = !f.problems && !c->signal;
    }
    *ret_first = f.first;
    return f.problems;
}
