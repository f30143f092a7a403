/* job_script.c: the script of the batch job that this run belongs to, as artifact job/script.sh without secrets.
 *
 * No request to Slurm (one call per job is enough): slurmd keeps a copy on the batch host that its
 * owner may read, <SlurmdSpoolDir>/job<id>/slurm_script.
 * It is an argument of the shell above benchwrap, or, where that shell became benchwrap (`exec
 * benchwrap archive -- …`), found by slurm.conf. */
#include "base/env.h"
#include "base/fs.h"
#include "probes/look.h"
#include "probes/parse.h"
#include "probes/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRIPT_HALF = 512 << 10, CONF_MAX = 1 << 20, CMDLINE_MAX = 8192, ANCESTORS_MAX = 64, WORDS_MAX = 8, PATH_BYTES = 4096 };
static const char KEY[] = "job/script.sh", DEFAULT_SPOOL[] = "/var/spool/slurmd";

static uint64_t job_script_job_id(const struct host *h)
{
    const char *text = look_env(h, "SLURM_JOB_ID");
    uint64_t id = 0;
    return text && strlen(text) < 20 && str_uint(str_of(text), &id) ? id : 0;
}

static bool job_script_can_run(enum probe_phase phase, const struct host *h, const struct record *r)
{
    (void)phase;
    (void)r;
    return h->real && job_script_job_id(h) && !h->public_profile;
}

static pid_t job_script_read_parent(const struct host *h, pid_t pid)
{
    struct look_text l;
    int64_t parent = 0;
    if (!look_read(h, &l, "proc/%ld/stat", (long)pid))
        return 0;
    const char *end = strrchr(l.p, ')'); /* the name before it may hold anything; then state, parent */
    struct str rest = str_of(end ? end + 1 : "");
    str_word(&rest);
    return str_int(str_word(&rest), &parent) ? (pid_t)parent : 0;
}

/* Finds the script among the first words of that process's command line. tail: how its path
 * ends. */
static bool job_script_in_command(const struct host *h, pid_t pid, const char *tail, char ret[PATH_BYTES])
{
    char path[48];
    struct buf line CLEANUP_BUF;
    buf_init(&line, CMDLINE_MAX + 1);
    snprintf(path, sizeof path, "proc/%ld/cmdline", (long)pid);
    if (look_read_file(h, path, CMDLINE_MAX, &line))
        return false;
    struct str rest = buf_text(&line);
    for (int i = 0; i < WORDS_MAX && rest.p; i++) {
        struct str word = str_cut(&rest, 0);
        if (word.n && word.n < PATH_BYTES && word.p[0] == '/' && str_ends(word, tail)) {
            snprintf(ret, PATH_BYTES, STR_FMT, STR_ARG(word));
            return true;
        }
    }
    return false;
}

static bool job_script_of_ancestor(const struct host *h, const char *tail, char ret[PATH_BYTES])
{
    pid_t pid = look_has_own_proc(h) ? getppid() : 0;
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = job_script_read_parent(h, pid))
        if (job_script_in_command(h, pid, tail, ret))
            return true;
    return false;
}

/* Expands %n and %h of a node's spool folder (slurm.conf(5)), and appends tail. False: it does not
 * fit, or a name is no name. */
static bool job_script_expand(const struct host *h, struct str pattern, const char *tail, char ret[PATH_BYTES])
{
    char host[256] = "";
    struct buf text CLEANUP_BUF;
    const char *node = look_env(h, "SLURMD_NODENAME");
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = 0;
    buf_init(&text, PATH_BYTES);
    for (size_t i = 0; i < pattern.n; i++) {
        bool name = pattern.p[i] == '%' && i + 1 < pattern.n && (pattern.p[i + 1] == 'n' || pattern.p[i + 1] == 'h');
        const char *value = name && pattern.p[i + 1] == 'n' && node ? node : host;
        if (name && (!*value || strchr(value, '/')))
            return false;
        if (name)
            buf_puts(&text, value);
        else
            buf_putc(&text, pattern.p[i]);
        i += name;
    }
    buf_puts(&text, tail);
    if (text.failed || !text.p || text.p[0] != '/')
        return false;
    snprintf(ret, PATH_BYTES, "%s", text.p);
    return true;
}

/* Writes the script's path below slurmd's spool directory, from the first slurm.conf that can be
 * read, or below the default. Returns false where it does not fit or is not absolute. */
static bool job_script_by_configuration(const struct host *h, const char *tail, char ret[PATH_BYTES])
{
    static const char *const places[] = {"etc/slurm/slurm.conf", "run/slurm/conf/slurm.conf", "etc/slurm-llnl/slurm.conf"};
    const char *named = env_text(h->env, "SLURM_CONF");
    struct buf conf CLEANUP_BUF;
    buf_init(&conf, CONF_MAX + 1);
    bool known = named && look_read_file(h, named + strspn(named, "/"), CONF_MAX, &conf) == 0;
    for (size_t i = 0; !known && i < sizeof places / sizeof *places; i++)
        known = look_read_file(h, places[i], CONF_MAX, &conf) == 0;
    struct str dir = known ? parse_slurm_spool(buf_text(&conf)) : (struct str){0};
    return job_script_expand(h, dir.n ? dir : str_of(DEFAULT_SPOOL), tail, ret);
}

/* Appends the script; of a longer one head and tail, with *ret_cut bytes left out between. 0; -1
 * with errno. */
static int job_script_read(int fd, uint64_t size, struct buf *ret, uint64_t *ret_cut)
{
    uint64_t head = size > 2 * SCRIPT_HALF ? SCRIPT_HALF : size, at = 0;
    *ret_cut = size - (head < size ? 2 * head : head);
    while (at < size) {
        if (at == head) {
            buf_printf(ret, "\n# benchwrap: %" PRIu64 " bytes are not kept here\n", *ret_cut);
            at = size - SCRIPT_HALF;
        }
        size_t most = at < head ? head - at : size - at;
        char *room = buf_room(ret, most);
        ssize_t n = room ? pread(fd, room, most, (off_t)at) : -1;
        if (n < 0 && room && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        ret->n += (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

/* Stores the script, redacted, as an artifact, and warns where its middle is left out. Returns 0,
 * or another value with *err. */
static int job_script_store(struct host *h, struct record *r, int fd, uint64_t size, struct err *err)
{
    struct buf text CLEANUP_BUF;
    uint64_t cut;
    buf_init(&text, 2 * SCRIPT_HALF + 4096);
    if (job_script_read(fd, size, &text, &cut))
        return err_sys(err, "the job's script cannot be read");
    if (h->redact && text.n)
        redact_text(h->redact, text.p, text.n);
    if (mkdirat(h->spool, "job", 0700) != 0 && errno != EEXIST)
        return err_sys(err, "cannot make job/ in the spool");
    if (fs_create(h->spool, KEY, buf_text(&text), 0600, err))
        return -1;
    record_artifact(r, KEY, KEY);
    if (cut)
        record_warning(r, "%s: %" PRIu64 " of %" PRIu64 " bytes are not kept", KEY, cut, size);
    return 0;
}

/* Finds the script and stores it, or records why it is missing. Returns 0, or another value with
 * err. */
static int job_script_beside(struct host *h, struct record *r, struct err *err)
{
    char tail[64], path[PATH_BYTES];
    struct stat st;
    if (h->spool < 0)
        return 0;
    snprintf(tail, sizeof tail, "/job%05" PRIu64 "/slurm_script", job_script_job_id(h));
    if (!job_script_of_ancestor(h, tail, path) && !job_script_by_configuration(h, tail, path)) {
        emit_missing(h, r, KEY, "it is not known where slurmd keeps it on this node");
        return 0;
    }
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st))
        emit_missing(h, r, KEY, errno == ENOENT ? "this is not the batch host, or the job has no script (salloc, srun): no %s%s" : "%s: %s",
                     path, errno == ENOENT ? "" : strerror(errno));
    else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        emit_missing(h, r, KEY, "%s is not a regular file of yours", path);
    else
        return job_script_store(h, r, fd, (uint64_t)st.st_size, err);
    return 0;
}

const struct probe probe_job_script = {
    .name = "job_script",
    .summary = "the batch script of the job, from slurmd's copy on this node",
    .beside = job_script_beside,
    .wanted = job_script_can_run,
    .anywhere = true,
};
