/* journal.c: what was journalled comes back, up to the first damage, wherever the file was cut; who holds the lock lives. */
#include "mlruns-format/journal.h"
#include "base/clock.h"
#include "mlruns-format/crc32c.h"
#include "tests/unit/place.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char program[] = "ior", arg[] = "-a \"POSIX\"\n\xff";
static char *argv_of_head[] = {program, arg, NULL};

static struct journal_head a_head(void)
{
    struct journal_head h = {.host = "node1", .experiment = "ior", .run_name = "r\xc3\xbcn", .tree = "/t/mlruns", .user = "jo", .job = "42", .options = "{\"log_max\":1}", .argv = argv_of_head, .start_ms = 1767225600123};
    memcpy(h.id, "0123456789abcdef0123456789abcdef", 33);
    return h;
}

static struct journal *create(const struct place *p)
{
    struct journal_head h = a_head();
    struct journal *j = NULL;
    struct err err = {0};
    unlinkat(p->dir, "journal", 0);
    if (journal_create(&j, p->dir, &h, &err) < 0)
        fail_msg("%s", err.text);
    return j;
}

static void write_journal(const struct place *p, struct str text)
{
    unlinkat(p->dir, "journal", 0);
    assert_int_equal(fs_create(p->dir, "journal", text, 0666, NULL), 0);
}

static struct buf read_journal(const struct place *p)
{
    struct buf b;
    buf_init(&b, 64 << 20);
    assert_int_equal(fs_read(p->dir, "journal", 63 << 20, 0, &b, NULL), 0);
    return b;
}

/* The first n facts of a are those of b. */
static void assert_facts(const struct record *a, const struct record *b, size_t n)
{
    const struct fact *x = a->first, *y = b->first;
    for (size_t i = 0; i < n; i++, x = x->next, y = y->next) {
        assert_non_null(x);
        assert_non_null(y);
        assert_int_equal(x->kind, y->kind);
        assert_true(str_eq(x->key, y->key));
        assert_true(str_eq(x->text, y->text));
        assert_true(x->value == y->value || (isnan(x->value) && isnan(y->value)));
        assert_true(x->time_ms == y->time_ms && x->step == y->step && x->direction == y->direction);
        assert_string_equal(x->unit, y->unit);
        assert_string_equal(x->source, y->source);
    }
}

static struct str random_text(unsigned *seed, char *room, size_t max)
{
    size_t n = (size_t)rand_r(seed) % max;
    int kind = rand_r(seed) % 3;
    for (size_t i = 0; i < n; i++)
        room[i] = kind == 0 ? (char)('a' + rand_r(seed) % 26) : kind == 1 ? "\"\\\n\t/ .:\x01\xc3\xbc{}"[rand_r(seed) % 13] : (char)rand_r(seed);
    return (struct str){room, n};
}

static void random_facts(struct record *r, unsigned *seed, int count)
{
    static const char *const units[] = {"", "s", "MiB_per_s", "percent"};
    static const char *const sources[] = {"option", "probe:cpu", "rule:ior:results", "log", ""};
    char key[64], text[300];
    for (int i = 0; i < count; i++) {
        r->source = sources[rand_r(seed) % 5];
        struct str k = random_text(seed, key, 40), t = random_text(seed, text, sizeof text);
        char name[48];
        snprintf(name, sizeof name, STR_FMT, STR_ARG(k));
        union { uint64_t u; double d; } v = {.u = (uint64_t)rand_r(seed) << 40 ^ (uint64_t)rand_r(seed) << 20 ^ (uint64_t)rand_r(seed)};
        switch (rand_r(seed) % 6) {
        case 0: record_param(r, name, t); break;
        case 1: record_tag(r, name, t); break;
        case 2: record_metric(r, rand_r(seed) % 2 ? "same" : name, rand_r(seed) % 3 ? v.d : (double)rand_r(seed), units[rand_r(seed) % 4], (enum direction)(rand_r(seed) % 3),
                              rand_r(seed) % 5 ? rand_r(seed) : INT64_MIN + rand_r(seed), rand_r(seed) % 2 ? 0 : 1767225600000 + rand_r(seed)); break;
        case 3: record_metric_nan(r, name, i, 0); break;
        case 4: record_missing(r, name, STR_FMT, STR_ARG(t)); break;
        default: record_artifact(r, name, "file"); break;
        }
    }
}

static void crc_is_castagnoli(void **state)
{
    static const struct { const char *text; size_t n; uint32_t crc; } rows[] = { /* RFC 3720, B.4, and the usual check value */
        {"123456789", 9, 0xe3069283}, {"", 0, 0}, {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 32, 0x8a9136aa},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 32, 0x62a8ab43},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(crc32c_extend(0, rows[i].text, rows[i].n), rows[i].crc);
        assert_int_equal(crc32c_extend(crc32c_extend(0, rows[i].text, rows[i].n / 3), rows[i].text + rows[i].n / 3, rows[i].n - rows[i].n / 3), rows[i].crc);
    }
}

static void what_was_written_is_read(void **state)
{
    struct place *p = *state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        unsigned s = seed;
        struct record r, q;
        struct journal_head h = a_head(), got;
        struct journal_state st;
        struct err err = {0};
        struct journal *j = create(p);
        record_init(&r, h.id, h.start_ms);
        r.listen = journal_fact;
        r.context = j;
        journal_started(j, 1767225600200, seed % 2 ? 0 : clock_mono_ns() - INT64_C(5000000000));
        random_facts(&r, &s, 300);
        journal_beat(j, 4000000000000);
        journal_ended(j, 1767225600999, RUN_FAILED, "signal \"9\"");
        assert_int_equal(journal_flush(j, true, &err), 0);
        journal_close(j);
        if (journal_read(p->dir, &q, &got, &st, &err) < 0)
            fail_msg("%s", err.text);
        assert_int_equal(q.count, r.count);
        assert_facts(&r, &q, r.count);
        assert_int_equal(st.lines, r.count + 4);
        assert_true(st.started && st.ended && st.good_bytes == st.all_bytes && st.lost == 0);
        assert_int_equal(st.started_ms, 1767225600200);
        assert_int_equal(st.last_ms, 4000000000000);
        assert_true(seed % 2 ? st.lasted_ms == -1 : st.lasted_ms >= 5000 && st.lasted_ms < 600000);
        assert_string_equal(st.reason, "signal \"9\"");
        assert_int_equal(q.status, RUN_FAILED);
        assert_int_equal(q.end_ms, 1767225600999);
        assert_string_equal(got.id, h.id);
        assert_string_equal(got.run_name, h.run_name);
        assert_string_equal(got.options, h.options);
        assert_string_equal(got.tree, h.tree);
        assert_string_equal(got.job, "42");
        assert_string_equal(got.argv[0], "ior");
        assert_string_equal(got.argv[1], "-a \"POSIX\"\n\xef\xbf\xbd");
        assert_null(got.argv[2]);
        assert_int_equal(strlen(got.boot_id), 36);
        record_deinit(&r);
        record_deinit(&q);
    }
}

/* A path is bytes: one that is no UTF-8 is read back as it was, or the run would go to another folder. */
static void a_tree_of_any_bytes_is_read_back(void **state)
{
    static const char *const trees[] = {"/t/\xff\xfe/mlruns", "/t/a \"b\"/mlruns", "/t/\xc3\xbc/mlruns", ""};
    struct place *p = *state;
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        struct journal_head h = a_head(), got;
        struct journal_state st;
        struct journal *j = NULL;
        struct record q;
        struct err err = {0};
        h.tree = trees[i];
        unlinkat(p->dir, "journal", 0);
        if (journal_create(&j, p->dir, &h, &err) < 0)
            fail_msg("%s", err.text);
        journal_close(j);
        if (journal_read(p->dir, &q, &got, &st, &err) < 0)
            fail_msg("%s", err.text);
        assert_string_equal(got.tree, trees[i]);
        assert_string_equal(got.user, h.user); /* what stands behind it is read, too */
        assert_true(!st.started && !st.ended && st.lasted_ms == -1 && st.reason[0] == 0);
        record_deinit(&q);
    }
}

static size_t lines_before(const struct buf *b, size_t cut)
{
    size_t n = 0;
    for (size_t i = 0; i < cut; i++)
        n += b->p[i] == '\n';
    return n;
}

static void a_cut_anywhere_leaves_a_prefix(void **state)
{
    struct place *p = *state;
    unsigned seed = 3;
    struct record r;
    struct journal_head h = a_head(), got;
    struct journal *j = create(p);
    record_init(&r, h.id, h.start_ms);
    r.listen = journal_fact;
    r.context = j;
    random_facts(&r, &seed, 25);
    journal_close(j);
    struct buf all = read_journal(p);
    for (size_t cut = 0; cut <= all.n; cut++) {
        struct record q;
        struct journal_state st;
        struct err err = {0};
        write_journal(p, (struct str){all.p, cut});
        int rc = journal_read(p->dir, &q, &got, &st, &err);
        size_t lines = lines_before(&all, cut);
        assert_int_equal(rc, lines ? 0 : -1);
        if (rc < 0) {
            assert_true(err.text[0] != 0);
            continue;
        }
        assert_int_equal(q.count, lines - 1);
        assert_facts(&r, &q, q.count);
        assert_int_equal(st.all_bytes, cut);
        assert_true(st.good_bytes <= cut && (cut == 0 || st.good_bytes == 0 || all.p[st.good_bytes - 1] == '\n'));
        assert_false(st.ended);
        record_deinit(&q);
    }
    record_deinit(&r);
    buf_deinit(&all);
}

static void any_changed_byte_ends_the_good_part(void **state)
{
    struct place *p = *state;
    unsigned seed = 5;
    struct record r, q;
    struct journal_head h = a_head(), got;
    struct journal_state st;
    struct journal *j = create(p);
    record_init(&r, h.id, h.start_ms);
    r.listen = journal_fact;
    r.context = j;
    random_facts(&r, &seed, 12);
    journal_close(j);
    struct buf all = read_journal(p);
    for (size_t at = 0; at < all.n; at++) {
        char was = all.p[at];
        all.p[at] = (char)(was ^ (at % 3 == 0 ? 0x20 : at % 3 == 1 ? 0xff : was)); /* the third: a NUL */
        write_journal(p, buf_text(&all));
        all.p[at] = was;
        int rc = journal_read(p->dir, &q, &got, &st, NULL);
        size_t lines = lines_before(&all, at);
        assert_int_equal(rc, lines ? 0 : -1);
        if (rc == 0) {
            assert_int_equal(q.count, lines - 1);
            assert_facts(&r, &q, q.count);
            record_deinit(&q);
        }
    }
    record_deinit(&r);
    buf_deinit(&all);
}

static void going_on_cuts_the_torn_tail(void **state)
{
    struct place *p = *state;
    struct record r, q;
    struct journal_head h = a_head(), got;
    struct journal_state st;
    struct err err = {0};
    struct journal *j = create(p);
    record_init(&r, h.id, h.start_ms);
    r.listen = journal_fact;
    r.context = j;
    record_param(&r, "a", STR("1"));
    journal_close(j);
    struct buf b = read_journal(p);
    buf_puts(&b, "12345678 {\"fact\":\"par");
    write_journal(p, buf_text(&b));
    buf_deinit(&b);
    if (journal_reopen(&j, p->dir, &err) != 0)
        fail_msg("%s", err.text);
    struct journal *second = NULL;
    assert_int_equal(journal_reopen(&second, p->dir, &err), 1); /* somebody lives */
    r.context = j;
    record_param(&r, "b", STR("2"));
    journal_close(j);
    assert_int_equal(journal_read(p->dir, &q, &got, &st, &err), 0);
    assert_int_equal(q.count, 2);
    assert_facts(&r, &q, 2);
    assert_int_equal(st.good_bytes, st.all_bytes);
    record_deinit(&r);
    record_deinit(&q);
    write_journal(p, STR("garbage\n"));
    assert_int_equal(journal_reopen(&j, p->dir, &err), -1);
    b = read_journal(p);
    assert_string_equal(b.p, "garbage\n"); /* what is not understood is not cut */
    buf_deinit(&b);
}

static void the_lock_tells_who_lives(void **state)
{
    struct place *p = *state;
    int ready[2], go[2];
    char c;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    assert_int_equal(journal_alive(p->dir), -1);
    pid_t pid = fork();
    if (pid == 0) {
        struct journal *j = create(p);
        _exit(j && write(ready[1], "x", 1) == 1 && read(go[0], &c, 1) == 1 ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(journal_alive(p->dir), 1);
    struct journal_head h = a_head();
    struct journal *j = NULL;
    struct err err = {0};
    assert_int_equal(journal_create(&j, p->dir, &h, &err), -1); /* never over another's */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(journal_alive(p->dir), 0);
    struct buf b = read_journal(p);
    char *boot = strstr(b.p, "\"boot_id\":\"");
    assert_non_null(boot);
    boot[12] = boot[12] == '0' ? '1' : '0';
    uint32_t crc = crc32c_extend(0, b.p + 9, b.n - 10);
    char hex[9];
    snprintf(hex, sizeof hex, "%08x", crc);
    memcpy(b.p, hex, 8);
    write_journal(p, buf_text(&b));
    assert_int_equal(journal_alive(p->dir), -1); /* another boot or host: the lock proves nothing */
    buf_deinit(&b);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
}

/* A disk that is full for a while: told once, and the lines that follow make the file whole again. */
static void a_full_disk_leaves_no_torn_line_behind(void **state)
{
    struct place *p = *state;
    struct rlimit was, small;
    struct record r, q;
    struct journal_head h = a_head(), got;
    struct journal_state st;
    struct err err = {0};
    signal(SIGXFSZ, SIG_IGN);
    struct journal *j = create(p);
    struct stat file;
    assert_int_equal(fstatat(p->dir, "journal", &file, 0), 0);
    record_init(&r, h.id, h.start_ms);
    r.listen = journal_fact;
    r.context = j;
    getrlimit(RLIMIT_FSIZE, &was);
    small = was;
    small.rlim_cur = (rlim_t)file.st_size + 37; /* within the next line */
    setrlimit(RLIMIT_FSIZE, &small);
    record_param(&r, "a", STR("1"));
    assert_int_equal(journal_flush(j, true, &err), -1);
    assert_int_equal(err.sys, EFBIG);
    record_param(&r, "b", STR("2"));
    assert_int_equal(journal_flush(j, true, &err), 1);
    assert_int_equal(journal_read(p->dir, &q, &got, &st, NULL), 0);
    assert_int_equal(q.count, 0);
    record_deinit(&q);
    setrlimit(RLIMIT_FSIZE, &was);
    record_param(&r, "c", STR("3"));
    assert_int_equal(journal_flush(j, true, &err), 0);
    journal_close(j);
    assert_int_equal(journal_read(p->dir, &q, &got, &st, NULL), 0);
    assert_int_equal(q.count, 3);
    assert_facts(&r, &q, 3);
    assert_int_equal(st.good_bytes, st.all_bytes);
    record_deinit(&q);
    record_deinit(&r);
}

static void what_finds_no_room_is_counted(void **state)
{
    struct place *p = *state;
    struct rlimit was, small;
    struct record r, q;
    struct journal_head h = a_head(), got;
    struct journal_state st;
    char *big = malloc(60000);
    memset(big, 'x', 60000);
    signal(SIGXFSZ, SIG_IGN);
    struct journal *j = create(p);
    record_init(&r, h.id, h.start_ms);
    r.listen = journal_fact;
    r.context = j;
    getrlimit(RLIMIT_FSIZE, &was);
    small = was;
    small.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 300; i++) { /* 18 MB into 8 MiB */
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        record_param(&r, key, (struct str){big, 60000});
    }
    assert_int_equal(journal_flush(j, false, NULL), -1);
    setrlimit(RLIMIT_FSIZE, &was);
    assert_int_equal(journal_flush(j, false, NULL), 0);
    record_param(&r, "last", STR("1"));
    journal_close(j);
    assert_int_equal(journal_read(p->dir, &q, &got, &st, NULL), 0);
    assert_true(st.lost > 100 && st.lost < 200);
    assert_int_equal(q.count + st.lost, 301);
    assert_non_null(record_find(&q, FACT_PARAM, "last"));
    assert_int_equal(st.good_bytes, st.all_bytes);
    record_deinit(&q);
    record_deinit(&r);
    free(big);
}

static void line_of(struct buf *to, const char *object)
{
    buf_printf(to, "%08x %s\n", crc32c_extend(0, object, strlen(object)), object);
}

static void other_versions_and_hostile_lines(void **state)
{
    static const char *const heads[] = {
        "{\"journal\":2,\"id\":\"0123456789abcdef0123456789abcdef\",\"start\":1}", "{\"journal\":1,\"id\":\"../../etc\",\"start\":1}", "{\"journal\":1,\"id\":\"0123456789ABCDEF0123456789abcdef\",\"start\":1}",
        "{\"journal\":1,\"id\":\"0123456789abcdef0123456789abcdef\"}", "[]", "{}", "7", "{\"journal\":\"1\"}", "not json",
    };
    struct place *p = *state;
    struct record q;
    struct journal_head got;
    struct journal_state st;
    struct buf b CLEANUP_BUF;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct err err = {0};
        buf_clear(&b);
        line_of(&b, heads[i]);
        write_journal(p, buf_text(&b));
        if (journal_read(p->dir, &q, &got, &st, &err) != -1 || !err.text[0])
            fail_msg("head %zu was taken", i);
    }
    buf_clear(&b);
    line_of(&b, "{\"journal\":1,\"id\":\"0123456789abcdef0123456789abcdef\",\"start\":5,\"argv\":[1,null,\"x\"],\"later\":[]}");
    line_of(&b, "{\"fact\":\"unknown\",\"key\":\"x\"}");
    line_of(&b, "{\"something\":\"new\"}");
    line_of(&b, "{\"fact\":\"param\",\"key\":\"../../x\",\"text\":7,\"time\":\"x\"}");
    line_of(&b, "{\"fact\":\"metric\",\"key\":\"m\",\"value\":1e999,\"time\":-1,\"step\":1.5}");
    line_of(&b, "{\"fact\":\"artifact\",\"key\":\"a\",\"text\":\"../../etc/passwd\"}");
    line_of(&b, "{\"fact\":\"tag\",\"key\":\"t\",\"text\":\"v\",\"source\":\"tree\",\"unit\":\"furlong\"}");
    line_of(&b, "{\"ended\":9,\"status\":77}");
    write_journal(p, buf_text(&b));
    assert_int_equal(journal_read(p->dir, &q, &got, &st, NULL), 0);
    assert_int_equal(st.lines, 8);
    assert_int_equal(q.status, RUN_KILLED);
    assert_string_equal(got.argv[2], "x");
    for (const struct fact *f = q.first; f; f = f->next)
        assert_true(f->kind != FACT_ARTIFACT && f->kind != FACT_METRIC && f->time_ms > 0);
    assert_null(record_find(&q, FACT_PARAM, "../../x"));
    assert_true(str_is(record_find(&q, FACT_TAG, "t")->text, "v"));
    record_deinit(&q);
}

static void endless_garbage_is_bounded(void **state)
{
    struct place *p = *state;
    struct record q;
    struct journal_head got;
    struct journal_state st;
    struct journal *j = create(p);
    journal_beat(j, 1767225700000);
    journal_close(j);
    int fd = openat(p->dir, "journal", O_WRONLY | O_APPEND);
    char *zeros = calloc(1, 1 << 20);
    for (int i = 0; i < 24; i++) /* more than any line may have */
        assert_int_equal(fs_write_all(fd, zeros, 1 << 20), 0);
    close(fd);
    free(zeros);
    assert_int_equal(journal_read(p->dir, &q, &got, &st, NULL), 0);
    assert_int_equal(st.lines, 2);
    assert_int_equal(st.last_ms, 1767225700000);
    record_deinit(&q);
    unlinkat(p->dir, "journal", 0);
    mkfifoat(p->dir, "journal", 0666);
    assert_int_equal(journal_read(p->dir, &q, &got, &st, NULL), -1); /* and does not wait for a writer */
}

/* A process that looks for dead runs tries the lock of every journal that it sees. */
static void who_looks_for_dead_runs_does_not_take_the_lock_first(void **state)
{
    struct place *p = *state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        for (;;) {
            struct journal *j = NULL;
            if (journal_reopen(&j, p->dir, NULL) == 0)
                journal_close(j);
        }
    for (int i = 0; i < 3000; i++)
        journal_close(create(p));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    struct journal *j = create(p), *second = NULL;
    struct journal_head h = a_head();
    assert_int_equal(journal_create(&second, p->dir, &h, NULL), -1); /* there is one */
    journal_close(j);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, place_begin, place_end)
/* Facts that were told, as text: a fact's own texts are gone by then. */
static void tell_fact(void *context, const struct fact *f)
{
    struct buf *b = context;
    buf_printf(b, "%d ", f->kind);
    buf_json(b, f->key);
    buf_json(b, f->text);
    buf_double(b, f->value);
    buf_printf(b, " %lld %lld %s %s\n", (long long)f->time_ms, (long long)f->step, f->unit, f->source);
}

static void following_tells_each_fact_once(void **state)
{
    struct place *p = *state;
    unsigned seed = 7;
    struct journal *j = create(p);
    struct record r;
    struct buf wanted CLEANUP_BUF, got CLEANUP_BUF;
    struct journal_head head;
    struct journal_tail *tail = NULL;
    struct err err = {0};
    buf_init(&wanted, 64 << 20);
    buf_init(&got, 64 << 20);
    record_init(&r, "0123456789abcdef0123456789abcdef", 1767225600123);
    r.listen = journal_fact;
    r.context = j;
    random_facts(&r, &seed, 300);
    journal_ended(j, 1767225700000, RUN_FINISHED, "");
    assert_int_equal(journal_flush(j, false, &err), 0);
    for (const struct fact *f = r.first; f; f = f->next)
        tell_fact(&wanted, f);
    journal_close(j);
    record_deinit(&r);
    struct buf whole CLEANUP_BUF = read_journal(p);

    write_journal(p, str_sub(buf_text(&whole), 0, 20)); /* not even the first line */
    assert_int_equal(journal_follow(&tail, p->dir, &head, &err), -1);
    const char *lf = memchr(whole.p, '\n', whole.n);
    size_t at = (size_t)(lf - whole.p) + 1;
    write_journal(p, str_sub(buf_text(&whole), 0, at));
    assert_int_equal(journal_follow(&tail, p->dir, &head, &err), 0);
    assert_string_equal(head.run_name, "r\xc3\xbcn");
    CLEANUP_FD int fd = openat(p->dir, "journal", O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    while (at < whole.n) { /* in pieces that end anywhere */
        size_t n = 1 + (size_t)rand_r(&seed) % 700, before = got.n;
        n = n < whole.n - at ? n : whole.n - at;
        assert_int_equal(fs_write_all(fd, whole.p + at, n), 0);
        at += n;
        journal_tail_read(tail, 2 + (size_t)rand_r(&seed) % 5, tell_fact, &got);
        if (rand_r(&seed) % 2) { /* it could not be dealt with: told again */
            journal_tail_back(tail);
            got.n = before;
        } else
            journal_tail_mark(tail);
    }
    while (journal_tail_read(tail, 10, tell_fact, &got))
        ;
    assert_int_equal(got.n, wanted.n);
    assert_memory_equal(got.p, wanted.p, wanted.n);
    journal_tail_close(tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_is_castagnoli), IN_FOLDER(what_was_written_is_read), IN_FOLDER(a_tree_of_any_bytes_is_read_back), IN_FOLDER(a_cut_anywhere_leaves_a_prefix), IN_FOLDER(any_changed_byte_ends_the_good_part),
        IN_FOLDER(going_on_cuts_the_torn_tail), IN_FOLDER(the_lock_tells_who_lives), IN_FOLDER(a_full_disk_leaves_no_torn_line_behind), IN_FOLDER(what_finds_no_room_is_counted),
        IN_FOLDER(other_versions_and_hostile_lines), IN_FOLDER(endless_garbage_is_bounded),
        IN_FOLDER(who_looks_for_dead_runs_does_not_take_the_lock_first), IN_FOLDER(following_tells_each_fact_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
