/* catalogue.c: which rule file knows a program: a folder per benchmark, the user's before the shipped ones. */
#include "benchmarks/rules.h"
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

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
    const char *path = folder && plain_name(name) ? arena_printf(a, "%s/%s/rules.yaml", folder, name) : NULL;
    return path && access(path, R_OK) == 0 ? path : NULL;
}

const char *catalogue_by_name(const char *catalogue, const char *user_dir, const char *name, struct arena *a)
{
    const char *path = in_folder(user_dir, name, a);
    return path ? path : in_folder(catalogue, name, a);
}

/* Is program among the words of the file's line "programs: [a, b]"? The rule file itself is not parsed: every run starts with this. */
static bool file_knows(const char *path, const char *program)
{
    struct buf text;
    bool found = false;
    buf_init(&text, 64 << 10);
    fs_read(AT_FDCWD, path, 32 << 10, FS_CUT, &text, NULL);
    struct str rest = buf_text(&text);
    while (rest.p && !found) {
        struct str line = str_cut(&rest, '\n');
        if (!str_starts(line, "programs:"))
            continue;
        line = str_trim(str_sub(line, strlen("programs:"), line.n));
        if (str_starts(line, "["))
            line = str_sub(line, 1, line.n);
        const char *close = memchr(line.p, ']', line.n);
        if (close)
            line.n = (size_t)(close - line.p);
        while (line.p && !found) {
            struct str word = str_trim(str_cut(&line, ','));
            if (word.n > 1 && (word.p[0] == '"' || word.p[0] == '\''))
                word = str_sub(word, 1, word.n - 2);
            found = str_is(word, program);
        }
        break;
    }
    buf_deinit(&text);
    return found;
}

static const char *in_any(const char *folder, const char *program, struct arena *a)
{
    const char *direct = in_folder(folder, program, a);
    if (direct)
        return direct;
    DIR *dir = folder ? opendir(folder) : NULL;
    const char *found = NULL;
    for (struct dirent *d = dir ? readdir(dir) : NULL; d && !found; d = readdir(dir)) {
        const char *path = plain_name(d->d_name) ? arena_printf(a, "%s/%s/rules.yaml", folder, d->d_name) : NULL;
        if (path && file_knows(path, program))
            found = path;
    }
    if (dir)
        closedir(dir);
    return found;
}

const char *catalogue_for_program(const char *catalogue, const char *user_dir, const char *program, struct arena *a)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *name = slash ? slash + 1 : program;
    if (!plain_name(name))
        return NULL;
    const char *path = in_any(user_dir, name, a);
    return path ? path : in_any(catalogue, name, a);
}
