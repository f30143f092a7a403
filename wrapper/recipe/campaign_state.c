/* campaign_state.c: the files of a campaign's folder: campaign.json, and points.jsonl with an event on each line. */
#include "recipe/campaign_state.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "mlruns-format/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATE_FORMAT = 1, STATE_MAX = 16 << 20, EVENT_MAX = 64 << 10 };
static const char lock_file[] = "lock";

const char *campaign_outcome_word(enum campaign_outcome outcome)
{
    static const char *const words[] = {"never ran", "valid", "invalid", "failed", "cancelled", "refused"};
    return words[outcome];
}

const char *campaign_phase_word(enum campaign_phase phase)
{
    static const char *const words[] = {"preflight", "deploy", "ready", "warmup", "measure", "teardown"};
    return words[phase];
}

static enum campaign_outcome outcome_of_word(const char *word)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (strcmp(word, campaign_outcome_word((enum campaign_outcome)i)) == 0)
            return (enum campaign_outcome)i;
    return OUTCOME_NEVER_RAN;
}

static const char *state_text(struct campaign_state *s, const struct json *j, const char *key)
{
    const char *text = json_string(json_get(j, key), ""), *copy = arena_dup(&s->arena, text, strlen(text));
    return copy ? copy : "";
}

static void copy_id(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", strlen(from) < size ? from : "");
}

/* ---- points and their events ---- */

struct campaign_point *campaign_point_find(const struct campaign_state *s, const char *id)
{
    struct campaign_point *p = s->points;
    while (p && strcmp(p->id, id) != 0)
        p = p->next;
    return p;
}

/* Appends a point without an outcome, in the state's arena. NULL: out of memory. */
static struct campaign_point *new_point(struct campaign_state *s, const char *id)
{
    struct campaign_point *p = ARENA_NEW(&s->arena, struct campaign_point);
    if (!p)
        return NULL;
    *p = (struct campaign_point){.label = "", .reason = "", .parent = "", .objective = ""};
    copy_id(p->id, sizeof p->id, id);
    for (int i = 0; i < PHASE_COUNT; i++)
        p->phase_s[i] = -1;
    *s->points_end = p;
    s->points_end = &p->next;
    return p;
}

struct campaign_point *campaign_point_add(struct campaign_state *s, const struct recipe_point *point)
{
    struct campaign_point *p = campaign_point_find(s, point->id);
    if (!p && !(p = new_point(s, point->id)))
        return NULL;
    const char *label = arena_dup(&s->arena, point->label, strlen(point->label));
    p->label = label ? label : "";
    copy_id(p->hash, sizeof p->hash, point->hash);
    return p;
}

/* Returns the run of this id, appended to the point where it lacks it, in the state's arena. NULL:
 * out of memory. */
static struct campaign_run *run_of_point(struct campaign_state *s, struct campaign_point *p, const char *id)
{
    struct campaign_run **at = &p->runs;
    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    if (!*at && (*at = ARENA_NEW(&s->arena, struct campaign_run))) {
        **at = (struct campaign_run){.invalid = ""};
        copy_id((*at)->id, sizeof(*at)->id, id);
    }
    return *at;
}

/* Reads an event "begin" or "end" of a run into the point. An event without a valid run id is
 * ignored. */
static void apply_run_event(struct campaign_state *s, struct campaign_point *p, const struct json *j, bool ended)
{
    const char *id = json_string(json_get(j, "run"), "");
    struct campaign_run *run = record_is_id(str_of(id)) ? run_of_point(s, p, id) : NULL;
    if (!run)
        return;
    run->repetition = (size_t)json_integer(json_get(j, "repetition"), 0);
    run->order = (size_t)json_integer(json_get(j, "order"), 0);
    run->warmup = json_bool(json_get(j, "warmup"), false);
    run->start_ms = json_integer(json_get(j, "start_ms"), 0);
    p->parent = state_text(s, j, "parent");
    if (!ended)
        return;
    run->ended = true;
    run->exit = (int)json_integer(json_get(j, "exit"), -1);
    run->end_ms = json_integer(json_get(j, "end_ms"), 0);
    run->invalid = state_text(s, j, "invalid");
}

static void apply_point_event(struct campaign_state *s, struct campaign_point *p, const struct json *j)
{
    const struct json *phases = json_get(j, "phases");
    p->outcome = outcome_of_word(json_string(json_get(j, "outcome"), ""));
    p->reason = state_text(s, j, "reason");
    p->objective = state_text(s, j, "objective");
    p->met = json_bool(json_get(j, "met"), false);
    p->start_ms = json_integer(json_get(j, "start_ms"), 0);
    p->end_ms = json_integer(json_get(j, "end_ms"), 0);
    for (int i = 0; i < PHASE_COUNT; i++)
        p->phase_s[i] = json_number(json_get(phases, campaign_phase_word((enum campaign_phase)i)), -1);
}

/* One line; a damaged one (cut off while it was written) is ignored. */
static void apply_event(struct campaign_state *s, struct str line)
{
    struct json *j = NULL;
    if (!line.n || json_parse(&j, line, NULL, NULL))
        return;
    const char *id = json_string(json_get(j, "point"), ""), *event = json_string(json_get(j, "event"), "");
    struct campaign_point *p = strlen(id) == SHA256_HEX - 1 ? campaign_point_find(s, id) : NULL;
    if (!p && strlen(id) == SHA256_HEX - 1)
        p = new_point(s, id);
    if (p) {
        copy_id(p->hash, sizeof p->hash, json_string(json_get(j, "hash"), ""));
        p->label = state_text(s, j, "label");
        if (strcmp(event, "point") == 0)
            apply_point_event(s, p, j);
        else
            apply_run_event(s, p, j, strcmp(event, "end") == 0);
    }
    json_free(j);
}

static struct json_out begin_event(struct buf *to, const char *event, const struct campaign_point *p)
{
    struct json_out j = json_begin(to, JSON_TIGHT, '{');
    json_text(&j, "event", event);
    json_text(&j, "point", p->id);
    json_text(&j, "hash", p->hash);
    json_str(&j, "label", str_of(p->label));
    return j;
}

static int append_event(struct campaign_state *s, struct json_out *j, struct err *err)
{
    json_close(j, '}');
    buf_putc(j->to, '\n');
    if (j->to->failed)
        return err_memory(err, "an event of the campaign");
    if (fs_write_all(s->events, j->to->p, j->to->n) || fdatasync(s->events))
        return err_sys(err, "cannot write %s/%s", s->folder, CAMPAIGN_EVENTS);
    return 0;
}

static void print_run_event(struct json_out *j, const struct campaign_state *s, const struct campaign_run *run)
{
    json_text(j, "run", run->id);
    json_text(j, "parent", s->parent);
    json_uint(j, "repetition", run->repetition);
    json_uint(j, "order", run->order);
    json_flag(j, "warmup", run->warmup);
    json_int(j, "start_ms", run->start_ms);
}

int campaign_note_begin(struct campaign_state *s, struct campaign_point *p, const struct campaign_run *run, struct err *err)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, EVENT_MAX);
    struct json_out j = begin_event(&b, "begin", p);
    print_run_event(&j, s, run);
    struct campaign_run *mine = run_of_point(s, p, run->id);
    if (mine) {
        struct campaign_run *next = mine->next;
        *mine = *run;
        mine->next = next;
    }
    p->parent = s->parent;
    return append_event(s, &j, err);
}

int campaign_note_end(struct campaign_state *s, struct campaign_point *p, const struct campaign_run *run, struct err *err)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, EVENT_MAX);
    struct json_out j = begin_event(&b, "end", p);
    print_run_event(&j, s, run);
    json_int(&j, "exit", run->exit);
    json_int(&j, "end_ms", run->end_ms);
    json_str(&j, "invalid", str_of(run->invalid));
    struct campaign_run *mine = run_of_point(s, p, run->id);
    if (mine) {
        struct campaign_run *next = mine->next;
        *mine = *run;
        mine->ended = true;
        mine->next = next;
    }
    return append_event(s, &j, err);
}

int campaign_note_point(struct campaign_state *s, struct campaign_point *p, struct err *err)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, EVENT_MAX);
    struct json_out j = begin_event(&b, "point", p);
    json_text(&j, "outcome", campaign_outcome_word(p->outcome));
    json_str(&j, "reason", str_of(p->reason));
    if (p->objective[0]) {
        json_str(&j, "objective", str_of(p->objective));
        json_flag(&j, "met", p->met);
    }
    json_int(&j, "start_ms", p->start_ms);
    json_int(&j, "end_ms", p->end_ms);
    json_open(&j, "phases", '{');
    for (int i = 0; i < PHASE_COUNT; i++)
        if (p->phase_s[i] >= 0)
            json_double(&j, campaign_phase_word((enum campaign_phase)i), p->phase_s[i]);
    json_close(&j, '}');
    return append_event(s, &j, err);
}

/* ---- the folder ---- */

static void read_programs(struct campaign_state *s, const struct json *map)
{
    struct campaign_program **at = &s->programs;
    for (const struct json *j = json_first(map); j; j = json_next(j)) {
        struct campaign_program *p = ARENA_NEW(&s->arena, struct campaign_program);
        if (!p || !(p->path = arena_dup(&s->arena, json_key(j), strlen(json_key(j)))))
            return;
        copy_id(p->hash, sizeof p->hash, json_string(j, ""));
        *at = p;
        at = &p->next;
    }
}

/* Reads campaign.json into s. 0; 1: there is none; -1 with err: it cannot be read, or another
 * version wrote it. */
static int read_campaign_file(struct campaign_state *s, struct err *err)
{
    CLEANUP_BUF struct buf text;
    struct json *j = NULL;
    buf_init(&text, STATE_MAX + 1);
    if (faccessat(s->dir, CAMPAIGN_FILE, F_OK, 0) && errno == ENOENT)
        return 1;
    if (fs_read(s->dir, CAMPAIGN_FILE, STATE_MAX, 0, &text, err) || json_parse(&j, buf_text(&text), NULL, err))
        return err_wrap(err, "%s/%s", s->folder, CAMPAIGN_FILE);
    s->recipe = state_text(s, j, "recipe");
    copy_id(s->parent, sizeof s->parent, json_string(json_get(j, "parent"), ""));
    s->begun_ms = json_integer(json_get(j, "begun_ms"), 0);
    s->closed = json_bool(json_get(j, "closed"), false);
    read_programs(s, json_get(j, "programs"));
    int64_t format = json_integer(json_get(j, "format"), 0);
    json_free(j);
    return format == STATE_FORMAT ? 0
                                  : err_set(err, ERR_INPUT, "%s/%s: expected the format %d, got %lld", s->folder, CAMPAIGN_FILE,
                                            STATE_FORMAT, (long long)format);
}

static int read_events(struct campaign_state *s, struct err *err)
{
    CLEANUP_BUF struct buf text;
    buf_init(&text, CAMPAIGN_EVENTS_MAX + 1);
    if (faccessat(s->dir, CAMPAIGN_EVENTS, F_OK, 0) && errno == ENOENT)
        return 0;
    if (fs_read(s->dir, CAMPAIGN_EVENTS, CAMPAIGN_EVENTS_MAX, 0, &text, err))
        return err_wrap(err, "%s", s->folder);
    for (struct str rest = buf_text(&text); rest.p && rest.n;)
        apply_event(s, str_cut(&rest, '\n'));
    return s->arena.failed ? err_memory(err, "the campaign") : 0;
}

/* Opens the file for events; a truncated last line is ended, so that the next one is complete. */
static int open_events(struct campaign_state *s, struct err *err)
{
    char last;
    struct stat st;
    s->events = place_open(s->dir, CAMPAIGN_EVENTS, O_RDWR | O_CREAT | O_APPEND, 0600);
    if (s->events < 0 || fstat(s->events, &st))
        return err_sys(err, "cannot write %s/%s", s->folder, CAMPAIGN_EVENTS);
    if (st.st_size && pread(s->events, &last, 1, st.st_size - 1) == 1 && last != '\n' && fs_write_all(s->events, "\n", 1))
        return err_sys(err, "cannot write %s/%s", s->folder, CAMPAIGN_EVENTS);
    return 0;
}

/* Acquires the lock of the campaign as s->lock, and writes process, host and job into its file. 0;
 * 1: another process has the lock; -1 with err. */
static int lock_campaign(struct campaign_state *s, struct err *err)
{
    const char *slurm = getenv("SLURM_ARRAY_JOB_ID") ? getenv("SLURM_ARRAY_JOB_ID") : getenv("SLURM_JOB_ID"), *pbs = getenv("PBS_JOBID"),
               *lsf = getenv("LSB_JOBID");
    const char *job = slurm ? slurm : pbs ? pbs : lsf ? lsf : "", *kind = slurm ? "slurm:" : pbs ? "pbs:" : lsf ? "lsf:" : "";
    char text[400], host[256];
    s->lock = place_open(s->dir, lock_file, O_RDWR | O_CREAT, 0600);
    if (s->lock < 0)
        return err_sys(err, "cannot write %s/%s", s->folder, lock_file);
    if (fs_lock(s->lock))
        return errno == EAGAIN || errno == EACCES ? 1 : err_sys(err, "cannot lock %s/%s", s->folder, lock_file);
    campaign_own_host(host, sizeof host);
    int n = snprintf(text, sizeof text, "%ld %s %s%.50s\n", (long)getpid(), host, kind, job);
    return ftruncate(s->lock, 0) || pwrite(s->lock, text, (size_t)n, 0) != n ? err_sys(err, "cannot write %s/%s", s->folder, lock_file) : 0;
}

void campaign_own_host(char *ret, size_t size)
{
    ret[0] = 0;
    if (gethostname(ret, size))
        ret[0] = 0;
    ret[size - 1] = 0;
}

struct campaign_owner campaign_state_owner(const struct campaign_state *s)
{
    struct campaign_owner owner = {0};
    CLEANUP_FD int fd = place_open(s->dir, lock_file, O_RDWR, 0);
    char text[400] = "";
    int64_t pid;
    if (fd < 0 || fs_lock(fd) == 0)
        return owner;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    str_make_plain(text, n > 0 ? (size_t)n : 0); /* it is printed on a terminal */
    struct str rest = {text, n > 0 ? (size_t)n : 0}, word = str_word(&rest), host = str_word(&rest), job = str_word(&rest);
    if (!str_int(word, &pid) || pid <= 0)
        return owner;
    owner.pid = (pid_t)pid;
    snprintf(owner.host, sizeof owner.host, "%.*s", (int)host.n, host.p ? host.p : "");
    snprintf(owner.job, sizeof owner.job, "%.*s", (int)job.n, job.p ? job.p : "");
    return owner;
}

int campaign_state_claim(const struct campaign_state *s, struct err *err)
{
    enum { LEVELS = 3 }; /* NAME, campaigns, .benchwrap: who may write one of them can exchange what is in it */
    static const char *const folders[LEVELS] = {".", "..", "../.."};
    char owner[100];
    struct stat st;
    for (int i = 0; i < LEVELS; i++) {
        if (fstatat(s->dir, folders[i], &st, 0))
            return err_sys(err, "cannot use the campaign's folder %s", s->folder);
        bool foreign = st.st_uid != geteuid() && (i == 0 || st.st_uid != 0);
        if (!foreign && !(st.st_mode & (S_IWGRP | S_IWOTH)))
            continue;
        err_set(err, ERR_INPUT, "cannot use the campaign's folder %s: it or a folder above it %s %s", s->folder,
                foreign ? "belongs to" : "can be written by", foreign ? place_owner(st.st_uid, owner, sizeof owner) : "other users");
        err_hint(err, "benchwrap recipe run --tree FOLDER/mlruns");
        return -1;
    }
    return 0;
}

int campaign_state_open(struct campaign_state *ret, const char *folder, bool write, struct err *err)
{
    *ret = (struct campaign_state){.dir = -1, .lock = -1, .events = -1, .recipe = ""};
    arena_init(&ret->arena, 0);
    ret->points_end = &ret->points;
    ret->folder = arena_dup(&ret->arena, folder, strlen(folder));
    if (!ret->folder)
        return err_memory(err, "the campaign");
    ret->dir = place_open_folder(folder, write ? 0700 : 0);
    if (ret->dir < 0)
        return !write && errno == ENOENT ? 1 : err_sys(err, "cannot open the campaign's folder %s", folder);
    int rc = !write ? 0 : campaign_state_claim(ret, err) ? -1 : lock_campaign(ret, err);
    if (rc)
        return rc;
    rc = read_campaign_file(ret, err);
    if (rc < 0 || (rc > 0 && !write))
        return rc;
    return read_events(ret, err) || (write && open_events(ret, err)) ? -1 : 0;
}

int campaign_state_restart(struct campaign_state *s, struct err *err)
{
    char name[40];
    snprintf(name, sizeof name, "before-%" PRId64, clock_wall_ms());
    CLEANUP_FD int to = place_make_folder(s->dir, name, 0700);
    if (to < 0)
        return err_sys(err, "cannot make %s/%s", s->folder, name);
    static const char *const files[] = {CAMPAIGN_FILE, CAMPAIGN_EVENTS, CAMPAIGN_LIVE, CAMPAIGN_CUSTOM, "logs"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (renameat(s->dir, files[i], to, files[i]) && errno != ENOENT)
            return err_sys(err, "cannot move %s/%s", s->folder, files[i]);
    fs_close(&s->events);
    s->points = NULL;
    s->points_end = &s->points;
    s->programs = NULL;
    s->parent[0] = 0;
    s->closed = false;
    return open_events(s, err);
}

int campaign_state_save(struct campaign_state *s, struct err *err)
{
    CLEANUP_BUF struct buf b;
    buf_init(&b, STATE_MAX);
    struct json_out j = json_begin(&b, JSON_BLOCK, '{');
    json_int(&j, "format", STATE_FORMAT);
    json_str(&j, "recipe", str_of(s->recipe));
    json_text(&j, "parent", s->parent);
    json_int(&j, "begun_ms", s->begun_ms);
    json_flag(&j, "closed", s->closed);
    json_open(&j, "programs", '{');
    for (const struct campaign_program *p = s->programs; p; p = p->next)
        json_text(&j, p->path, p->hash);
    json_close(&j, '}');
    json_close(&j, '}');
    return b.failed ? err_memory(err, "the campaign") : fs_write(s->dir, CAMPAIGN_FILE, buf_text(&b), 0600, true, err);
}

void campaign_state_close(struct campaign_state *s)
{
    fs_close(&s->events);
    fs_close(&s->lock);
    fs_close(&s->dir);
    arena_deinit(&s->arena);
}
