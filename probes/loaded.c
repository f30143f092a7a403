/* loaded.c: which libraries the program's processes really have in memory, also those loaded by name while they run (plugins, Python's modules).
 *
 * The probe reads the maps with the first samples and then ever less often, since the kernel locks a
 * process's map to show it. Of short runs only what the loader would load is known (software.c). */
#include "probes/libraries.h"
#include "probes/processes.h"
#include "probes/sample.h"

#include <stdio.h>

extern const struct probe probe_loaded;

enum { LIBRARIES_MAX = 48, MAP_MAX = 4 << 20, LOOKED_AT = 8 /* processes at a time */ };

struct loaded_libraries {
    struct {
        const char *key;
        char file[96];
    } at[LIBRARIES_MAX];
    size_t count;
    unsigned looks;
    int64_t next;
};

static void loaded_add_library(struct loaded_libraries *l, const char *key, struct str file)
{
    if (l->count == LIBRARIES_MAX || file.n >= sizeof l->at->file)
        return;
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->at[i].key, key) == 0 && str_is(file, l->at[i].file))
            return;
    l->at[l->count].key = key;
    memcpy(l->at[l->count].file, file.p, file.n);
    l->at[l->count++].file[file.n] = 0;
}

/* Adds the library of a line of maps that can be executed: "7f12… r-xp 00028000 fe:01 1234
 * /usr/lib/libmpi.so.12.2.2". The name of a file that was replaced after loading ends in "
 * (deleted)". */
static void loaded_read_line(struct loaded_libraries *l, struct str line)
{
    char name[96];
    str_word(&line);
    struct str rights = str_word(&line);
    if (rights.n < 3 || rights.p[2] != 'x')
        return;
    for (size_t i = line.n; i-- > 0;)
        if (line.p[i] == '/') {
            line = str_sub(line, i + 1, line.n);
            break;
        }
    if (str_ends(line, " (deleted)"))
        line.n -= 10;
    if (line.n >= sizeof name || !str_has(line, ".so") || memchr(line.p, ' ', line.n) || memchr(line.p, 0, line.n))
        return;
    memcpy(name, line.p, line.n);
    name[line.n] = 0;
    const char *key = library_key(name);
    if (key)
        loaded_add_library(l, key, line);
    if (library_is_mpi(name))
        loaded_add_library(l, "mpi.library", line);
}

/* Notes the libraries that the program's processes have loaded, at growing intervals. Records
 * nothing itself. */
static int loaded_sample(struct host *h, struct record *r, struct err *err)
{
    struct loaded_libraries *l = probe_data(h, &probe_loaded);
    pid_t pids[PROCESSES_SEEN];
    (void)r;
    (void)err;
    if (!l || h->state->round < l->next)
        return 0;
    l->next = h->state->round + (1 << (l->looks < 10 ? l->looks : 10));
    l->looks++;
    size_t n = processes_list(h, pids);
    for (size_t i = 0; i < n && i < LOOKED_AT; i++) {
        struct buf text CLEANUP_BUF;
        char path[40];
        buf_init(&text, MAP_MAX + 65537);
        snprintf(path, sizeof path, "proc/%d/maps", pids[i]);
        if (look_read_file(h, path, MAP_MAX, &text) != 0)
            continue; /* gone, or another user's */
        for (struct str rest = buf_text(&text); rest.p;)
            loaded_read_line(l, str_cut(&rest, '\n'));
    }
    return 0;
}

/* Records all files of a key. These params come before those of the executable, which count only
 * where there is none of these. */
static int loaded_after(struct host *h, struct record *r, struct err *err)
{
    const struct loaded_libraries *l = probe_data(h, &probe_loaded);
    (void)err;
    for (size_t i = 0; l && i < l->count; i++) {
        struct buf text CLEANUP_BUF;
        bool told = false;
        buf_init(&text, 1024);
        for (size_t k = 0; k < l->count; k++) {
            if (strcmp(l->at[k].key, l->at[i].key) != 0)
                continue;
            told |= k < i;
            buf_printf(&text, "%s%s", text.n ? ", " : "", l->at[k].file);
        }
        if (!told)
            emit_buf(h, r, l->at[i].key, &text);
    }
    return 0;
}

const struct probe probe_loaded = {
    .name = "loaded",
    .summary = "libraries that the program's processes have in memory",
    .sample = loaded_sample,
    .after = loaded_after,
    .nested = true,
    .keeps = sizeof(struct loaded_libraries),
};
