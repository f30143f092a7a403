/* compare_machine.c: does the machine explain the difference, or the program? */
#include "compare/compare_machine.h"

#include <string.h>

/* Returns whether the param belongs to the part of the machine. Those of node.state are those of
 * its list; hardware's are known by their first words, since its summary is hwloc's. */
static bool belongs_to_part(enum machine_part part, const char *key)
{
    static const char *const hardware[] = {"cpu.model",        "cpu.vendor",
                                           "cpu.family",       "cpu.stepping",
                                           "cpu.threads",      "cpu.cores",
                                           "cpu.sockets",      "cpu.simd",
                                           "cpu.level",        "cache.",
                                           "memory.total",     "numa.",
                                           "gpu.model",        "gpu.count",
                                           "gpu.memory",       "machine.vendor",
                                           "machine.product",  "machine.board",
                                           "net.fabric_model", "net.fabric_devices",
                                           "net.card",         "cloud.instance_type"};
    static const char *const state[] = {
#define STATE(key) key,
#include "probes/node.def"
#undef STATE
    };
    for (size_t i = 0; part == MACHINE_HARDWARE && i < sizeof hardware / sizeof *hardware; i++)
        if (strncmp(key, hardware[i], strlen(hardware[i])) == 0)
            return true;
    for (size_t i = 0; part == MACHINE_CONFIGURATION && i < sizeof state / sizeof *state; i++)
        if (strcmp(key, state[i]) == 0)
            return true;
    return false;
}

/* Fills state and differing params of one part of the machine. MACHINE_UNKNOWN: a run lacks its
 * hash. Out of memory: ret->keys is NULL. */
static void compare_machine_part(const struct compare_group *groups, size_t count, const char **differing, enum machine_part part,
                                 struct arena *a, struct machine_difference *ret)
{
    size_t n = 0;
    const char *first = compare_param(&groups[0], ret->hash, a);
    ret->state = MACHINE_SAME;
    for (size_t g = 0; g < count; g++) { /* "-": a run without the fact; a comma: runs of one group differ already */
        const char *value = compare_param(&groups[g], ret->hash, a);
        if (!first || !value || value[0] == '-') {
            ret->state = MACHINE_UNKNOWN;
            break;
        }
        if (strcmp(value, first) != 0 || strchr(value, ','))
            ret->state = MACHINE_DIFFERS;
    }
    while (differing[n])
        n++;
    ret->keys = arena_get(a, (n + 1) * sizeof *ret->keys);
    for (size_t i = n = 0; ret->keys && differing[i]; i++)
        if (belongs_to_part(part, differing[i]))
            ret->keys[n++] = differing[i];
    if (ret->keys)
        ret->keys[n] = NULL;
}

void machine_compare(const struct compare_group *groups, size_t count, struct arena *a, struct machine_difference ret[MACHINE_PARTS])
{
    const char **differing = compare_params(groups, count, a);
    ret[MACHINE_HARDWARE] = (struct machine_difference){.name = "hardware", .hash = "node.type"};
    ret[MACHINE_CONFIGURATION] = (struct machine_difference){.name = "configuration", .hash = "node.state"};
    for (int part = 0; part < MACHINE_PARTS; part++)
        compare_machine_part(groups, count, differing, (enum machine_part)part, a, &ret[part]);
}

/* Returns whether the runs of all groups have the fact. */
static bool is_in_every_run(const struct compare_group *groups, size_t count, const char *key)
{
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++)
            if (!runs_entry(groups[g].members[i].run->params, key) && !runs_entry(groups[g].members[i].run->tags, key))
                return false;
    return true;
}

/* Returns whether the fact, which all runs have, has several values. A value may have commas. */
static bool has_several_values(const struct compare_group *groups, size_t count, const char *key)
{
    struct str first = {NULL, 0};
    for (size_t g = 0; g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++) {
            const struct tree_run *run = groups[g].members[i].run;
            const struct tree_entry *param = runs_entry(run->params, key), *e = param ? param : runs_entry(run->tags, key);
            if (first.p && !str_eq(e->value, first))
                return true;
            first = e->value;
        }
    return false;
}

const char **program_compare(const struct compare_group *groups, size_t count, struct arena *a)
{
    static const char *const identity[] = {"program.sha256", "program.script_sha256", "benchmark.version"};
    enum { N = sizeof identity / sizeof *identity };
    const char **ret = arena_get(a, (N + 1) * sizeof *ret);
    size_t n = 0;
    for (size_t i = 0; ret && i < N; i++)
        if (is_in_every_run(groups, count, identity[i]) && has_several_values(groups, count, identity[i]))
            ret[n++] = identity[i];
    if (ret)
        ret[n] = NULL;
    return ret;
}

const char *environment_compare(const struct compare_group *groups, size_t count, struct arena *a)
{
    enum { NAMED_MAX = 4, VALUE_MAX = 40 };
    CLEANUP_BUF struct buf b;
    const char **keys = compare_params(groups, count, a);
    size_t n = 0;
    buf_init(&b, 1 << 16);
    for (; keys && *keys; keys++) {
        if (strncmp(*keys, "env.", 4) != 0 && strncmp(*keys, "limits.", 7) != 0)
            continue;
        if (n++ >= NAMED_MAX)
            continue;
        buf_printf(&b, "%s%s (", n > 1 ? ", " : "", *keys);
        for (size_t g = 0; g < count; g++) {
            buf_puts(&b, g ? ", " : "");
            buf_plain(&b, str_of(compare_param(&groups[g], *keys, a)), VALUE_MAX);
        }
        buf_putc(&b, ')');
    }
    if (n > NAMED_MAX)
        buf_printf(&b, " and %zu more", n - NAMED_MAX);
    return n && !b.failed ? arena_dup(a, b.p, b.n) : NULL;
}
