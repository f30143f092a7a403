/* hosts.c: see hosts.h. The forms of Slurm's lists: man srun, OUTPUT ENVIRONMENT VARIABLES. */
#include "benchmarks/native/llmload/agent/hosts.h"

/* Adds an address, which is not copied; NULL: out of memory. Returns 0, or -1 with *err, also above
 * HOSTS_MAX. */
static int hosts_add(struct hosts *h, const char *address, struct err *err)
{
    if (!address)
        return err_memory(err, "addresses");
    if (h->count == HOSTS_MAX)
        return err_set(err, ERR_INPUT, "more than %d agents", HOSTS_MAX);
    h->address[h->count++] = address;
    return 0;
}

int hosts_read(struct hosts *ret, const char *list, struct arena *arena, struct err *err)
{
    struct str rest = str_of(list);
    *ret = (struct hosts){.count = 0};
    while (rest.p) {
        struct str one = str_trim(str_cut(&rest, ','));
        const char *colon = one.n ? memrchr(one.p, ':', one.n) : NULL, *bracket = one.n ? memrchr(one.p, ']', one.n) : NULL;
        bool port = colon && (!bracket || colon > bracket);
        for (size_t i = 0; i < one.n; i++)
            if ((unsigned char)one.p[i] <= ' ' || strchr("/@?#\\", one.p[i]))
                one.n = 0;
        if (!one.n)
            return err_set(err, ERR_USAGE, "--agents: expected HOST:PORT,HOST:PORT …, got \"%.100s\"", list);
        const char *address = port ? arena_dup(arena, one.p, one.n) : arena_printf(arena, STR_FMT ":%d", STR_ARG(one), HOSTS_PORT);
        if (hosts_add(ret, address, err) < 0)
            return -1;
    }
    return 0;
}

/* Adds the hosts of a range such as "1-3" or "07" between prefix and suffix, with as many digits as
 * its first number has. -1 with err. */
static int hosts_add_range(struct hosts *h, struct str prefix, struct str range, struct str suffix, struct arena *arena, struct err *err)
{
    struct str until = range, from = str_cut(&until, '-');
    uint64_t a, b;
    if (!str_uint(from, &a) || (until.p && !str_uint(until, &b)))
        return err_set(err, ERR_INPUT, "the list of nodes: expected a range of numbers, got \"" STR_FMT "\"",
                       STR_ARG(str_sub(range, 0, 60)));
    for (b = until.p ? b : a; a <= b; a++)
        if (hosts_add(h,
                      arena_printf(arena, STR_FMT "%0*llu" STR_FMT, STR_ARG(prefix), (int)(from.n < 20 ? from.n : 20),
                                   (unsigned long long)a, STR_ARG(suffix)),
                      err) < 0)
            return -1;
    return 0;
}

/* Adds the hosts of one element of a list: "n7", or "n[1-3,5]-ib". -1 with err. */
static int expand_one(struct hosts *h, struct str one, struct arena *arena, struct err *err)
{
    const char *open = one.n ? memchr(one.p, '[', one.n) : NULL, *close = open ? memchr(open, ']', one.n - (size_t)(open - one.p)) : NULL;
    if (!open)
        return one.n ? hosts_add(h, arena_dup(arena, one.p, one.n), err) : 0;
    if (!close)
        return err_set(err, ERR_INPUT, "the list of nodes has a bracket without its end");
    struct str prefix = {one.p, (size_t)(open - one.p)}, ranges = {open + 1, (size_t)(close - open - 1)};
    struct str suffix = {close + 1, (size_t)(one.p + one.n - close - 1)};
    while (ranges.p)
        if (hosts_add_range(h, prefix, str_cut(&ranges, ','), suffix, arena, err) < 0)
            return -1;
    return 0;
}

int hosts_expand(struct hosts *ret, struct str list, struct arena *arena, struct err *err)
{
    *ret = (struct hosts){.count = 0};
    size_t begin = 0, depth = 0;
    for (size_t i = 0; i <= list.n; i++) {
        char c = i < list.n ? list.p[i] : ',';
        depth += c == '[';
        depth -= c == ']' && depth;
        if (c != ',' || (depth && i < list.n))
            continue;
        if (expand_one(ret, str_trim(str_sub(list, begin, i - begin)), arena, err) < 0)
            return -1;
        begin = i + 1;
    }
    return ret->count ? 0 : err_set(err, ERR_INPUT, "the list of nodes is empty");
}

/* Reads the next number of Slurm's form "2(x3),1" into *tasks; *times counts what is left of a
 * repetition, 0 at the beginning. False: the end, or not valid. */
static bool next_tasks(struct str *rest, uint64_t *tasks, uint64_t *times)
{
    if (*times) {
        --*times;
        return true;
    }
    if (!rest->p)
        return false;
    struct str repeat = str_cut(rest, ','), number = str_cut(&repeat, '(');
    *times = 1;
    if (repeat.p && (repeat.n < 3 || repeat.p[0] != 'x' || !str_uint(str_sub(repeat, 1, repeat.n - 2), times)))
        return false;
    if (!str_uint(number, tasks) || !*times)
        return false;
    --*times;
    return true;
}

int hosts_srun(struct hosts *ret, const char *suffix, unsigned port, char *(*env)(const char *name), struct arena *arena, struct err *err)
{
    struct hosts *nodes = arena_get(arena, sizeof *nodes);
    const char *list = env("SLURM_STEP_NODELIST"), *per_node = env("SLURM_STEP_TASKS_PER_NODE");
    uint64_t tasks = 1, times = 0;
    *ret = (struct hosts){.count = 0};
    if (!list || !per_node)
        return err_set(err, ERR_USAGE,
                       "--agents srun: this is not within srun (no SLURM_STEP_NODELIST); name them: --agents HOST:PORT,HOST:PORT");
    if (!nodes || hosts_expand(nodes, str_of(list), arena, err) < 0)
        return err_wrap(err, "--agents srun");
    struct str rest = str_of(per_node);
    for (size_t i = 0; i < nodes->count; i++) {
        if (!next_tasks(&rest, &tasks, &times))
            return err_set(err, ERR_INPUT, "--agents srun: SLURM_STEP_TASKS_PER_NODE \"%.80s\" does not fit %zu nodes", per_node,
                           nodes->count);
        for (uint64_t k = 0; k < tasks; k++)
            if (hosts_add(ret, arena_printf(arena, "%s%s:%u", nodes->address[i], suffix, port + (unsigned)k), err) < 0)
                return -1;
    }
    return 0;
}
