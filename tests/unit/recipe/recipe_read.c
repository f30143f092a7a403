/* recipe_read: which recipes are accepted, and what the first mistake of the others is. */
#include "recipe/recipe_point.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct recipe_places nowhere;

#define HEAD "version: 1\nroles:\n  c: {command: [echo, '{n}']}\n"

/* The labels of the points with "|" between, or the error's text behind "!". */
static void show_points(const char *text, char *to, size_t size)
{
    struct arena a;
    struct recipe r;
    struct err err = {0};
    arena_init(&a, 0);
    to[0] = 0;
    if (recipe_read(&r, "r.yaml", str_of(text), &nowhere, NULL, &a, &err))
        snprintf(to, size, "!%s", err.text);
    for (size_t i = 0; to[0] != '!' && i < r.sweep.points; i++) {
        struct recipe_point p;
        if (recipe_point_init(&p, &r, i, NULL, NULL, &a, &err)) {
            snprintf(to, size, "!%s", err.text);
            break;
        }
        snprintf(to + strlen(to), size - strlen(to), "%s%s", i ? "|" : "", p.label);
        for (size_t k = r.sweep.count; k < p.values.count; k++)
            snprintf(to + strlen(to), size - strlen(to), " %s=%s", p.values.list[k].name, p.values.list[k].text);
    }
    arena_deinit(&a);
}

static void points(void **state)
{
    static const struct {
        const char *text, *points;
    } rows[] = {
        {HEAD, ""},
        {HEAD "sweep: {grid: {n: 1..3}}\n", "n=1|n=2|n=3"},
        {HEAD "sweep: {grid: {n: [1, 4..16*2], m: [a, 'b,c']}}\n",
         "n=1 m=a|n=1 m=b,c|n=4 m=a|n=4 m=b,c|n=8 m=a|n=8 m=b,c|n=16 m=a|n=16 m=b,c"},
        {HEAD "sweep: {zip: {n: [1, 1, 2], m: [5, 6, 7]}}\n", "n=1 m=5|n=1 m=6|n=2 m=7"},
        {HEAD "sweep: {grid: {k: [x, y]}, zip: {n: [1, 2], m: [5, 6]}}\n", "k=x n=1 m=5|k=x n=2 m=6|k=y n=1 m=5|k=y n=2 m=6"},
        {HEAD "sweep: {list: [{n: 1, m: a}, {m: b, n: 2}]}\n", "n=1 m=a|n=2 m=b"},
        {HEAD "sweep: {grid: {n: [1, 20]}}\nvars: {r: 'max(50, 10 * n)', q: r + 1}\n", "n=1 r=50 q=51|n=20 r=200 q=201"},
        {HEAD "sweep: {grid: {n: [1, 20]}, override: [{when: n > 10, set: {r: 7}}]}\nvars: {r: 10 * n, q: r + 1}\n",
         "n=1 r=10 q=11|n=20 r=7 q=8"},
        {HEAD "sweep: {grid: {n: [1, 2]}, override: [{when: n == 2, set: {n: 5}}]}\n", "n=1|n=5"},
        {HEAD "sweep: {grid: {n: [1, 2]}, override: [{when: n == 2, set: {n: 1}}]}\n",
         "!r.yaml:4:8: points 1 and 2 have the same values; `repeat` measures a point several times"},
        {HEAD "sweep: {grid: {n: [1, 1]}}\n", "!r.yaml:4:19: n=1,1: \"1\" comes twice; --repeat N runs each value N times"},
        {HEAD "sweep: {zip: {n: [1, 2], m: [1]}}\n",
         "!r.yaml:4:29: lists of a zip have equal lengths: \"m\" has 1 values, the first has 2"},
        {HEAD "sweep: {list: [{n: 1}, {m: 1}]}\n", "!r.yaml:4:24: each point of the list has the same names: \"n\" is missing"},
        {HEAD "sweep: {grid: {port: [1]}}\n", "!r.yaml:4:22: \"port\" is a name that benchwrap sets; choose another one"},
        {HEAD "sweep: {gird: {n: 1}}\n", "!r.yaml:4:9: unknown key \"gird\"; did you mean \"grid\"?"},
        {HEAD "vars: {n: missing + 1}\n",
         "!r.yaml:4:11: the var \"n\" has no value: \"missing + 1\" uses an unknown name, or its result is no number"},
        {HEAD "vars: {n: 1 +}\n", "!r.yaml:4:11: a value is expected at character 4 of \"1 +\""},
        {HEAD "rolse: {}\n", "!r.yaml:4:1: unknown key \"rolse\"; did you mean \"roles\"?"},
        {HEAD "repeat: many\n", "!r.yaml:4:9: expected an integer >= 0, got \"many\""},
        {HEAD "on_failure: retry\n", "!r.yaml:4:13: expected one of continue|stop, got \"retry\""},
        {HEAD "timeout: soon\n", "!r.yaml:4:10: expected a duration such as 30s or 5m, got \"soon\""},
        {"roles: {c: {command: x}}\n", "!r.yaml:1:1: the key \"version\" is missing: Version of the form, 1"},
        {"version: 9\nroles: {c: {command: x}}\n", "!r.yaml:1:10: expected version: 1, the only one that this benchwrap reads, got 9"},
        {"version: 1\nroles: {}\n", "!r.yaml:2:8: there is no role"},
        {"version: 1\nroles: {s: {command: x, kind: service}}\n", "!r.yaml:2:8: there is no client: a role with a command that ends"},
        {"version: 1\nroles: {c: {command: x, service: http}}\n", "!r.yaml:2:22: a role has a service file or a command, not both"},
        {"version: 1\nroles: {c: {service: htpt}}\n", "!r.yaml:2:22: there is no service \"htpt\"; did you mean \"http\"?"},
        {"version: 1\nroles: {s: {service: dummy, with: {ttfd: 1}}, c: {command: x}}\n",
         "!r.yaml:2:36: the service dummy has no parameter \"ttfd\"; did you mean \"ttft\"?"},
        {"version: 1\nroles: {s: {service: vllm}, c: {command: x}}\n",
         "!r.yaml:2:12: the service vllm needs with.model: model name or folder"},
        {"version: 1\nroles: {c: {command: \"a 'b\"}}\n", "!r.yaml:2:22: a quote is not closed"},
        {"version: 1\nroles: {c: {command: x, nodes: '{n}'}}\nsweep: {grid: {n: [1, z]}}\n", "!r.yaml:2:32: expected a number from 1 to 100000, got \"z\""},
        {"version: 1\nname: ../up\nroles: {c: {command: x}}\n", "!r.yaml:2:7: expected a name of letters, digits, . _ -, got \"../up\""},
        {"[1]", "!r.yaml:1:1: expected a map, got a list"},
        {"&a [*a]", "!r.yaml:1:1: anchors (&name) are not allowed here"},
    };
    char got[4000];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        show_points(rows[i].text, got, sizeof got);
        assert_string_equal(got, rows[i].points);
    }
}

static const char *find_host(void *context, struct str name)
{
    (void)context;
    return str_is(name, "host") ? "10.0.0.1" : NULL;
}

/* Words are split before values are put in, so that no value becomes a word or a shell's command. */
static void commands(void **state)
{
    static const char text[] = "version: 1\nsweep: {list: [{v: 'a b; rm -rf \"$HOME\"'}]}\n"
                               "roles:\n  c:\n    command: prog --x={v} '{{v}}' {host} {other} {\"json\":1}\n"
                               "    env: {V: '{v}'}\n";
    struct arena a;
    struct recipe r;
    struct recipe_point p;
    (void)state;
    arena_init(&a, 0);
    assert_int_equal(recipe_read(&r, "r.yaml", STR(text), &nowhere, NULL, &a, NULL), 0);
    assert_int_equal(recipe_point_init(&p, &r, 0, find_host, NULL, &a, NULL), 0);
    char **w = p.parts[0].processes[0].words;
    static const char *const expected[] = {"prog", "--x=a b; rm -rf \"$HOME\"", "{v}", "10.0.0.1", "{other}", "{json:1}", NULL};
    for (size_t i = 0; expected[i]; i++)
        assert_string_equal(w[i], expected[i]);
    assert_null(w[6]);
    assert_string_equal(p.parts[0].env[0], "V=a b; rm -rf \"$HOME\"");
    arena_deinit(&a);
}

/* The documented command lines of the runtimes. */
static void containers(void **state)
{
    static const struct {
        const char *container, *line;
    } rows[] = {
        {"{runtime: apptainer, image: /i.sif, binds: ['/a:/b:ro', /c]}", "apptainer exec --nv --bind /a:/b:ro --bind /c /i.sif prog 1"},
        {"{runtime: singularity, image: /i.sif, options: --contain}", "singularity exec --nv --contain /i.sif prog 1"},
        {"{runtime: podman, image: img, binds: /a:/b}",
         "podman run --rm --network=host --device nvidia.com/gpu=all --volume /a:/b --env E --env HF_TOKEN img prog 1"},
        {"{runtime: enroot, image: img}", "enroot start --env E --env HF_TOKEN img prog 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[600], got[600] = "";
        struct arena a;
        struct recipe r;
        struct recipe_point p;
        snprintf(text, sizeof text,
                 "version: 1\nroles: {c: {command: prog 1, env: {E: 5}, secrets: HF_TOKEN, resources: {gpus: 1}, container: %s}}\n",
                 rows[i].container);
        arena_init(&a, 0);
        assert_int_equal(recipe_read(&r, "r.yaml", str_of(text), &nowhere, NULL, &a, NULL), 0);
        assert_int_equal(recipe_point_init(&p, &r, 0, NULL, NULL, &a, NULL), 0);
        for (char **w = p.parts[0].processes[0].words; *w; w++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", got[0] ? " " : "", *w);
        assert_string_equal(got, rows[i].line);
        arena_deinit(&a);
    }
}

/* Points whose services are equal stand together, whatever the order of the axes. */
static void service_loop_outside(void **state)
{
    static const char text[] = "version: 1\nsweep: {grid: {c: [1, 2], s: [1ms, 2ms]}}\n"
                               "roles: {srv: {service: dummy, with: {ttft: '{s}'}}, cl: {command: 'x {c}'}}\n";
    struct arena a;
    struct recipe r;
    struct recipe_point p[4];
    (void)state;
    arena_init(&a, 0);
    assert_int_equal(recipe_read(&r, "r.yaml", STR(text), &nowhere, NULL, &a, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(recipe_point_init(&p[i], &r, i, NULL, NULL, &a, NULL), 0);
    size_t *order = recipe_order(&r, p, &a, NULL);
    assert_int_equal(order[0], 0);
    assert_int_equal(order[1], 2);
    assert_int_equal(order[2], 1);
    assert_int_equal(order[3], 3);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(points), cmocka_unit_test(commands), cmocka_unit_test(containers),
                                       cmocka_unit_test(service_loop_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
