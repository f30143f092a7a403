/* software.c: the program's files, read after it has ended: the executable's digest and build id, its compiler, the libraries the loader
 * would load, MPI among them; modules, Spack, Conda and container from the environment. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "probes/elf.h"
#include "probes/libraries.h"
#include "probes/look.h"
#include "probes/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_MS = 2000, PIECE = 1 << 20 };

static int software_open_program(const struct host *h, const char *path, struct stat *st)
{
    int fd = openat(h->root, path + 1, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, st) != 0)
        fs_close(&fd);
    return fd;
}

/* Records the SHA-256 of the file, or why it is missing. The time is bounded, and so the size by
 * the speed of the file system; a cut digest would be a wrong one. */
static void software_emit_digest(struct host *h, struct record *r, int fd, int64_t size, const char *key)
{
    int64_t end = clock_mono_ns() + HASH_MS * 1000000ll, done = 0;
    unsigned char *piece = malloc(PIECE);
    struct sha256 hash;
    char hex[SHA256_HEX];
    ssize_t got = -1;
    sha256_init(&hash);
    while (piece && clock_mono_ns() < end && (got = pread(fd, piece, PIECE, done)) > 0) {
        sha256_add(&hash, piece, (size_t)got);
        done += got;
    }
    if (got == 0 && done == size) {
        sha256_end(&hash, hex);
        emit_text(h, r, key, hex);
    } else if (got < 0)
        emit_missing(h, r, key, "not readable: %s", piece ? strerror(errno) : "out of memory");
    else
        emit_missing(h, r, key, "reading it needed more than %d s (%lld of %lld bytes)", HASH_MS / 1000, (long long)done, (long long)size);
    free(piece);
}

/* Records the distinct notes of compilers, joined: "GCC: (Debian 12.2.0-14) 12.2.0". Linked objects
 * of others (crt1.o) leave theirs, too. */
static void software_emit_compiler(struct host *h, struct record *r, struct str comment)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 2048);
    for (struct str rest = comment; rest.p;) {
        struct str note = str_trim(str_cut(&rest, '\0'));
        if (note.n == 0 || (text.p && str_find(buf_text(&text), note) >= 0))
            continue;
        if (text.n > 0)
            buf_puts(&text, "; ");
        buf_str(&text, note);
    }
    emit_buf(h, r, "program.compiler", &text);
}

/* "libmpi.so.40.30.4" -> "40.30.4"; else the complete name. */
static const char *software_file_version(const char *file)
{
    const char *so = strstr(file, ".so.");
    return so ? so + 4 : file;
}

/* The release that belongs to the version of the file, where one does. */
static const char *software_open_mpi_release(const char *version)
{
    static const char *const rows[][2] = {{"40.40.", "Open MPI 5.0"}, {"40.30.", "Open MPI 4.1"}, {"40.20.", "Open MPI 4.0"},
                                          {"40.10.", "Open MPI 3.1"}, {"40.0.", "Open MPI 3.0"},  {"20.10.", "Open MPI 2.1"},
                                          {"20.0.", "Open MPI 2.0"},  {"12.", "Open MPI 1.10"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(version, rows[i][0], strlen(rows[i][0])) == 0)
            return rows[i][1];
    return "Open MPI";
}

/* Which MPI a libmpi is, by the words that its authors left in it. "" for none of the known. */
static const char *software_detect_mpi(const struct host *h, const struct library_file *f, const char *version)
{
    static const char *const rows[][2] = {{"Intel(R) MPI Library", "Intel MPI"},
                                          {"CRAY MPICH version", "Cray MPICH"},
                                          {"MVAPICH2 Version", "MVAPICH2"},
                                          {"MVAPICH Version", "MVAPICH"},
                                          {"ParaStation MPI", "ParaStation MPI"},
                                          {"MPICH Version", "MPICH"},
                                          {"Open MPI v", "Open MPI"}};
    enum { OVERLAP = 64, WHOLE = 64 << 20 };
    char *piece = malloc(PIECE + OVERLAP);
    int fd CLEANUP_FD = openat(h->root, f->path + 1, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t best = sizeof rows / sizeof *rows, held = 0;
    int64_t end = clock_mono_ns() + HASH_MS * 1000000ll;
    ssize_t got = -1;
    for (off_t at = 0; piece && fd >= 0 && at < WHOLE && clock_mono_ns() < end && (got = pread(fd, piece + held, PIECE, at)) > 0;
         at += got) {
        size_t n = held + (size_t)got;
        for (size_t i = 0; i < best; i++)
            if (memmem(piece, n, rows[i][0], strlen(rows[i][0])))
                best = i;
        held = n < OVERLAP ? n : OVERLAP;
        memmove(piece, piece + n - held, held);
    }
    free(piece);
    if (got != 0 || best == sizeof rows / sizeof *rows) /* not read to its end: words that decide may follow */
        return "";
    return strcmp(rows[best][1], "Open MPI") == 0 ? software_open_mpi_release(version) : rows[best][1];
}

static void software_emit_library(struct host *h, struct record *r, const struct library_file *f)
{
    if (!f->path || !f->file)
        return;
    const char *key = library_key(f->name);
    if (key && !record_find(r, FACT_PARAM, key))
        emit_text(h, r, key, f->file); /* the number in it is the interface's, seldom the release's */
    if (!library_is_mpi(f->name) || record_find(r, FACT_PARAM, "mpi.library"))
        return;
    emit_text(h, r, "mpi.library", f->file);
    emit_text(h, r, "mpi.build_id", f->build_id);
    emit_text(h, r, "mpi.implementation", software_detect_mpi(h, f, software_file_version(f->file)));
}

/* Writes libraries.txt, a line for each library, in public without folders, and records the
 * artifact. Returns 0, or -1 with err. */
static int software_store_list(struct host *h, struct record *r, const struct library_list *l, struct err *err)
{
    struct buf text CLEANUP_BUF;
    buf_init(&text, 1 << 20);
    if (h->spool < 0 || l->count == 0)
        return 0;
    for (size_t i = 0; i < l->count; i++) {
        const struct library_file *f = &l->files[i];
        buf_plain(&text, str_of(f->name), 256);
        if (f->path) {
            buf_puts(&text, " => ");
            buf_plain(&text, str_of(h->public_profile ? f->file : f->path), 4096);
            buf_printf(&text, " %s%s\n", *f->build_id ? f->build_id : "-", f->variant ? " (or a variant for this processor)" : "");
        } else
            buf_puts(&text, " not found\n");
    }
    if (fs_create(h->spool, "libraries.txt", buf_text(&text), 0600, err) != 0)
        return -1;
    record_artifact(r, "libraries.txt", "libraries.txt");
    return 0;
}

/* Records the program's libraries, and those that are not found as missing. Returns 0, or another
 * value with *err. */
static int software_emit_libraries(struct host *h, struct record *r, const char *path, const struct elf *e, struct err *err)
{
    struct arena arena;
    const char *why;
    look_variable(h, "LD_LIBRARY_PATH", &why);
    if (why) {
        emit_missing(h, r, "program.libraries", "LD_LIBRARY_PATH is not known: %s", why);
        return 0;
    }
    arena_init(&arena, 4 << 20);
    struct library_list *l = ARENA_NEW(&arena, struct library_list);
    int done = 0;
    if (l) {
        libraries_resolve(l, h, path, e, &arena);
        for (size_t i = 0; i < l->count; i++) {
            software_emit_library(h, r, &l->files[i]);
            if (!l->files[i].path)
                emit_missing(h, r, "program.libraries", "%s is needed and was not found", l->files[i].name);
        }
        done = software_store_list(h, r, l, err);
    }
    arena_deinit(&arena);
    return done;
}

/* Records what the program's file contains, and its libraries. fd stays open. Returns 0, or another
 * value with *err. */
static int software_emit_elf(struct host *h, struct record *r, const char *path, int fd, struct err *err)
{
    struct elf *e = malloc(sizeof *e);
    struct err why = {0};
    int kind = e ? elf_read_fd(e, fd, &why) : -1, done = 0;
    char head[2] = "";
    if (kind == 1)
        emit_text(h, r, "program.kind", pread(fd, head, 2, 0) == 2 && memcmp(head, "#!", 2) == 0 ? "script" : "other");
    else if (kind != 0)
        emit_missing(h, r, "program.build_id", "%s", e ? why.text : "out of memory");
    else {
        emit_text(h, r, "program.kind", "elf");
        emit_text(h, r, "program.linkage", e->dynamic && e->needed_count > 0 ? "dynamic" : "static");
        emit_text(h, r, "program.build_id", e->build_id);
        software_emit_compiler(h, r, e->comment);
        done = software_emit_libraries(h, r, path, e, err);
    }
    free(e);
    return done;
}

static int software_emit_program(struct host *h, struct record *r, struct err *err)
{
    char path[4096];
    struct stat st;
    const char *slash;
    if (!program_find_path(h, path, sizeof path)) {
        const char *why = program_is_hidden(h);
        emit_missing(h, r, "program.sha256", "%s", why ? why : "the program was not found after it had ended");
        return 0;
    }
    slash = strrchr(path, '/');
    emit_text(h, r, "program.name", slash + 1);
    emit_tag(h, r, "program.path", str_of(path));
    int fd CLEANUP_FD = software_open_program(h, path, &st);
    if (fd < 0) {
        emit_missing(h, r, "program.sha256", "the program's file may be run, not read: %s", strerror(errno));
        return 0;
    }
    emit_int(h, r, "program.size_B", st.st_size);
    software_emit_digest(h, r, fd, st.st_size, "program.sha256");
    return software_emit_elf(h, r, path, fd, err);
}

static void software_emit_script(struct host *h, struct record *r)
{
    char path[4096];
    struct stat st;
    if (!program_find_script(h, path, sizeof path))
        return;
    int fd CLEANUP_FD = software_open_program(h, path, &st);
    emit_tag(h, r, "program.script", str_of(path));
    if (fd >= 0)
        software_emit_digest(h, r, fd, st.st_size, "program.script_sha256");
}

static void software_emit_container(struct host *h, struct record *r)
{
    static const char *const images[] = {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"};
    const char *kind = look_env(h, "container");
    if (h->other_root) {
        emit_missing(h, r, "software.container", "%s", h->other_root);
        return;
    }
    for (size_t i = 0; i < 2; i++)
        if (look_env(h, images[i])) {
            emit_text(h, r, "software.container", i == 0 ? "apptainer" : "singularity");
            emit_tag(h, r, "software.container_image", str_of(look_env(h, images[i])));
            return;
        }
    if (look_exists(h, "run/.containerenv"))
        kind = "podman";
    else if (look_exists(h, ".dockerenv"))
        kind = "docker";
    else if (look_env(h, "KUBERNETES_SERVICE_HOST") && (!kind || !*kind))
        kind = "kubernetes";
    emit_text(h, r, "software.container", kind && *kind ? kind : "none");
}

/* What the program gets. Not known: recorded as missing where the job has it. */
static const char *software_variable(struct host *h, struct record *r, const char *variable, const char *key)
{
    const char *why, *value = look_variable(h, variable, &why);
    if (why && look_env(h, variable))
        emit_missing(h, r, key, "%s", why);
    return value;
}

/* Records the name of an environment without its folder: paths differ between sites, and name
 * people. */
static void software_emit_base_name(struct host *h, struct record *r, const char *variable, const char *key)
{
    const char *value = software_variable(h, r, variable, key), *slash = value ? strrchr(value, '/') : NULL;
    emit_text(h, r, key, slash && slash[1] ? slash + 1 : value);
}

static void software_emit_environment(struct host *h, struct record *r)
{
    struct buf text CLEANUP_BUF;
    const char *modules = software_variable(h, r, "LOADEDMODULES", "software.modules");
    buf_init(&text, 6000); /* what a param holds */
    for (struct str rest = str_of(modules); modules && rest.p;) {
        struct str one = str_cut(&rest, ':');
        if (one.n > 0 && one.p[0] != '/') /* a module by its complete path names a home */
            buf_printf(&text, "%s" STR_FMT, text.n > 0 ? " " : "", STR_ARG(one));
    }
    emit_buf(h, r, "software.modules", &text);
    software_emit_base_name(h, r, "SPACK_ENV", "software.spack_environment");
    software_emit_base_name(h, r, "CONDA_DEFAULT_ENV", "software.conda_environment");
    software_emit_base_name(h, r, "VIRTUAL_ENV", "software.virtual_environment");
    software_emit_container(h, r);
}

static int software_after(struct host *h, struct record *r, struct err *err)
{
    software_emit_environment(h, r);
    if (!h->argv || !h->argv[0])
        return 0;
    software_emit_script(h, r);
    return software_emit_program(h, r, err);
}

const struct probe probe_software = {
    .name = "software",
    .summary = "executable, libraries, MPI, modules, container (after it has ended)",
    .after = software_after,
    .aside = true,
    .nested = true,
};
