/* catalogue.c: which rule file knows a program: a folder per benchmark, the user's before the shipped ones. */
#include "benchmarks/catalogue.h"
#include "base/array.h"
#include "base/fs.h"
#include "benchmarks/interpreter.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char shipped_prefix[] = "shipped:";

void catalogue_add(struct catalogue *c, const char *path)
{
    bool there = !path || !*path || c->folders == CATALOGUE_FOLDERS_MAX;
    for (size_t i = 0; i < c->folders && !there; i++)
        there = strcmp(c->folder[i], path) == 0;
    if (!there)
        c->folder[c->folders++] = path;
}

/* Returns whether the name can be a folder of a catalogue: not empty, not hidden, without '/' and
 * control characters. */
static bool plain_name(const char *name)
{
    if (!name || !*name || *name == '.')
        return false;
    for (const char *p = name; *p; p++)
        if (*p == '/' || (unsigned char)*p < ' ')
            return false;
    return true;
}

static const char *in_folder(const char *folder, const char *name, struct arena *a)
{
    const char *path = plain_name(name) ? arena_printf(a, "%s/%s/rules.yaml", folder, name) : NULL;
    return path && access(path, R_OK) == 0 ? path : NULL;
}

static const struct catalogue_shipped *find_shipped_entry(const char *name)
{
    const struct catalogue_shipped *s = catalogue_shipped;
    while (s->name && strcmp(s->name, name) != 0)
        s++;
    return s->name ? s : NULL;
}

static const char *shipped_path(const char *name, struct arena *a)
{
    return find_shipped_entry(name) ? arena_printf(a, "%s%s", shipped_prefix, name) : NULL;
}

const char *catalogue_by_name(const struct catalogue *c, const char *name, struct arena *a)
{
    if (str_starts(str_of(name), shipped_prefix))
        return shipped_path(name + strlen(shipped_prefix), a);
    for (size_t i = 0; i < c->folders; i++) {
        const char *path = in_folder(c->folder[i], name, a);
        if (path)
            return path;
    }
    return shipped_path(name, a);
}

/* The next word of a YAML list, in either style, over any number of lines; comments left out. n == 0: the list is over. */
static struct str list_word(struct str *rest, bool flow)
{
    bool dash = false;
    for (;;) {
        *rest = str_trim(*rest);
        if (str_starts(*rest, "#"))
            str_cut(rest, '\n');
        else if (flow && str_starts(*rest, ","))
            *rest = str_sub(*rest, 1, rest->n);
        else if (!flow && !dash && str_starts(*rest, "- ")) {
            *rest = str_sub(*rest, 2, rest->n);
            dash = true;
        } else
            break;
    }
    if (!flow && !dash)
        return (struct str){"", 0};
    char quote = rest->n && (rest->p[0] == '"' || rest->p[0] == '\'') ? rest->p[0] : 0;
    size_t from = quote != 0, to = from;
    while (to < rest->n && (quote ? rest->p[to] != quote : flow ? !strchr(",]#\r\n", rest->p[to]) : !strchr("#\r\n", rest->p[to])))
        to++;
    struct str word = str_sub(*rest, from, to - from);
    *rest = str_sub(*rest, to + (quote && to < rest->n), rest->n);
    return quote ? word : str_trim(word);
}

/* "osu_*" is a family: every program whose name begins so. */
static bool word_is(struct str word, const char *program)
{
    if (word.n > 1 && word.p[word.n - 1] == '*')
        return !strncmp(program, word.p, word.n - 1);
    return str_is(word, program);
}

/* Returns whether the rule file lists the program under `programs`. It only scans the text, since
 * every run starts with this. */
static bool text_knows(struct str text, const char *program)
{
    while (text.n && !str_starts(text, "programs:"))
        str_cut(&text, '\n');
    struct str rest = str_trim(str_sub(text, strlen("programs:"), text.n));
    bool flow = str_starts(rest, "["), list = flow || str_starts(rest, "- ") || str_starts(rest, "#");
    if (!list)
        return rest.n && word_is(str_trim(str_cut(&rest, '\n')), program);
    if (flow)
        rest = str_sub(rest, 1, rest.n);
    for (struct str word; (word = list_word(&rest, flow)).n;)
        if (word_is(word, program))
            return true;
    return false;
}

static bool file_knows(const char *path, const char *program)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, 64 << 10);
    fs_read(AT_FDCWD, path, 32 << 10, FS_CUT, &text, NULL);
    return text_knows(buf_text(&text), program);
}

/* Searches a folder for the rule file of the program: first in the subfolder of the program's name, then
 * for a rule file that lists the program. Returns its path, in the arena; NULL: there is none. */
static const char *in_any(const char *folder, const char *program, struct arena *a)
{
    const char *found = in_folder(folder, program, a);
    struct fs_names list;
    if (found || access(folder, R_OK) != 0 || fs_list(AT_FDCWD, folder, &list, NULL) < 0)
        return found;
    for (size_t i = 0; i < list.count && !found; i++) {
        const char *path = plain_name(list.names[i]) ? arena_printf(a, "%s/%s/rules.yaml", folder, list.names[i]) : NULL;
        if (path && file_knows(path, program))
            found = path;
    }
    fs_names_deinit(&list);
    return found;
}

const char *catalogue_for_program(const struct catalogue *c, const char *program, struct arena *a)
{
    const char *name = str_base_name(program);
    if (!plain_name(name))
        return NULL;
    for (size_t i = 0; i < c->folders; i++) {
        const char *path = in_any(c->folder[i], name, a);
        if (path)
            return path;
    }
    const struct catalogue_shipped *s = find_shipped_entry(name);
    for (s = s ? s : catalogue_shipped; s->name; s++)
        if (strcmp(s->name, name) == 0 || text_knows((struct str){s->text, s->n}, name))
            return shipped_path(s->name, a);
    return NULL;
}

const char *catalogue_for_command(const struct catalogue *c, char *const *argv, struct arena *a)
{
    const char *path = catalogue_for_program(c, interpreter_name(argv), a);
    return path || interpreter_script(argv) == argv ? path : catalogue_for_program(c, argv[0], a);
}

const char *catalogue_find(const struct catalogue *c, const char *text, struct arena *a)
{
    const char *path = strchr(text, '/') ? NULL : catalogue_by_name(c, text, a);
    return path ? path : access(text, F_OK) == 0 ? arena_dup(a, text, strlen(text)) : NULL;
}

const char *catalogue_name(const char *path, struct arena *a)
{
    if (str_starts(str_of(path), shipped_prefix))
        return arena_printf(a, "%s", path + strlen(shipped_prefix));
    const char *end = strrchr(path, '/'), *from = end;
    while (from && from > path && from[-1] != '/')
        from--;
    return end && end > from ? arena_dup(a, from, (size_t)(end - from)) : NULL;
}

int catalogue_read(const char *path, struct buf *ret, struct err *err)
{
    if (!str_starts(str_of(path), shipped_prefix))
        return fs_read(AT_FDCWD, path, CATALOGUE_FILE_MAX, 0, ret, err);
    const struct catalogue_shipped *s = find_shipped_entry(path + strlen(shipped_prefix));
    if (!s)
        return err_set(err, ERR_INPUT, "%s: this benchwrap has no such rules", path);
    buf_add(ret, s->text, s->n);
    return ret->failed ? err_memory(err, "the rules of %s", path) : 0;
}

struct entries {
    struct catalogue_entry *entry;
    size_t n, room;
    struct arena *arena;
};

/* Adds an entry with a copy of the name; `path` and `from` must outlive the list. It is hidden
 * where an entry before it has the name. Adds nothing for a path of NULL, or when out of memory. */
static void entry_add(struct entries *e, const char *name, const char *path, const char *from)
{
    if (!ARRAY_FITS_IN(e->arena, e->entry, e->room, e->n + 1))
        return;
    name = arena_printf(e->arena, "%s", name);
    bool hidden = false;
    for (size_t i = 0; i < e->n && name; i++)
        hidden = hidden || strcmp(e->entry[i].name, name) == 0;
    if (name && path)
        e->entry[e->n++] = (struct catalogue_entry){name, path, from, hidden};
}

static int by_name(const void *x, const void *y)
{
    const struct catalogue_entry *a = x, *b = y;
    int order = strcmp(a->name, b->name);
    return order ? order : a->hidden - b->hidden;
}

struct catalogue_entry *catalogue_list(const struct catalogue *c, struct arena *a, size_t *ret_n)
{
    struct entries e = {.arena = a};
    for (size_t f = 0; f < c->folders; f++) {
        struct fs_names list;
        if (access(c->folder[f], R_OK) != 0 || fs_list(AT_FDCWD, c->folder[f], &list, NULL) < 0)
            continue;
        for (size_t i = 0; i < list.count; i++) {
            const char *path = in_folder(c->folder[f], list.names[i], a);
            if (path)
                entry_add(&e, list.names[i], path, c->folder[f]);
        }
        fs_names_deinit(&list);
    }
    for (const struct catalogue_shipped *s = catalogue_shipped; s->name; s++)
        entry_add(&e, s->name, shipped_path(s->name, a), NULL);
    if (e.n)
        qsort(e.entry, e.n, sizeof(*e.entry), by_name);
    *ret_n = e.n;
    return a->failed ? NULL : e.entry;
}

/* One file of a sample, at most 1 MiB of it; empty if it is not there. */
static struct str sample_file(const char *folder, const char *name, struct arena *a)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, 2 << 20);
    const char *path = arena_printf(a, "%s/%s", folder, name);
    if (!path || fs_read(AT_FDCWD, path, 1 << 20, FS_CUT, &b, NULL) < 0)
        return STR("");
    return arena_str(a, buf_text(&b));
}

void catalogue_read_samples(const char *path, struct arena *a, struct catalogue_samples *ret)
{
    const char *slash = strrchr(path, '/');
    const struct catalogue_shipped *s = str_starts(str_of(path), shipped_prefix) ? find_shipped_entry(path + strlen(shipped_prefix)) : NULL;
    struct fs_names list;
    *ret = (struct catalogue_samples){s ? s->samples : 0, s ? s->example : ""};
    const char *folder = s ? NULL : slash ? arena_printf(a, "%.*s/samples", (int)(slash - path), path) : "samples";
    if (!folder || access(folder, R_OK) != 0 || fs_list(AT_FDCWD, folder, &list, NULL) < 0)
        return;
    for (size_t i = 0; i < list.count; i++) {
        const char *one = arena_printf(a, "%s/%s", folder, list.names[i]);
        struct str expect = one ? sample_file(one, "expect", a) : STR(""), argv = one ? sample_file(one, "argv", a) : STR("");
        ret->count += expect.n > 0;
        if (!*ret->example && argv.n && str_starts(expect, "verdict pass"))
            ret->example = argv.p;
    }
    fs_names_deinit(&list);
}
