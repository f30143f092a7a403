/* recipe_toolkit.c: translate a recipe of the HPC Benchmark Toolkit into the own form. */
#include "base/array.h"
#include "recipe/recipe.h"

#include <stdio.h>

enum { OWN_FORM_MAX = 1 << 20, REMARKS_MAX = 32 };

struct toolkit {
    const struct yaml *root, *workload, *servers, *config;
    const char *file;
    struct buf text;
    struct arena *a;
    struct err *err;
    const char **remarks;
    size_t remark_count;
    int64_t clients; /* nodes that make load */
    struct recipe_service *service;
    bool has_model; /* the recipe names one, and the service has such a parameter */
};

static void toolkit_remark(struct toolkit *t, const char *text)
{
    if (text && t->remark_count < REMARKS_MAX)
        t->remarks[t->remark_count++] = text;
}

static void put_quoted_text(struct toolkit *t, struct str s)
{
    buf_json(&t->text, s);
}

/* The map's scalar at a path of two keys; p NULL: absent. */
static struct str toolkit_value(const struct yaml *map, const char *key, const char *inner)
{
    return yaml_text(yaml_get(map, key), inner, NULL);
}

static bool is_text_given(struct str s)
{
    return s.n > 0;
}

/* A key that the toolkit allows below `servers` and below `servers.service_config`. */
static struct str server_value(const struct toolkit *t, const char *key)
{
    struct str inner = yaml_text(t->config, key, NULL);
    return is_text_given(inner) ? inner : yaml_text(t->servers, key, NULL);
}

static const struct yaml *server_map(const struct toolkit *t, const char *key)
{
    const struct yaml *inner = yaml_get(t->config, key);
    return inner ? inner : yaml_get(t->servers, key);
}

static void put_toolkit_pair(struct toolkit *t, const char *indent, const char *key, struct str value)
{
    if (!is_text_given(value))
        return;
    buf_printf(&t->text, "%s%s: ", indent, key);
    put_quoted_text(t, value);
    buf_putc(&t->text, '\n');
}

/* ---- the sweep ---- */

/* Lists become axes, single values vars; a name that the workload lacks gets its default. */
static const char *const workload_values[][2] = {{"model", NULL},      {"batch", "1"},     {"concurrency", "1"},      {"prompt_len", "128"},
                                                 {"max_tokens", NULL}, {"requests", NULL}, {"clients_per_node", "1"}, {NULL, NULL}};

static bool has_workload_value(const struct toolkit *t, size_t i)
{
    const struct yaml *y = yaml_get(t->workload, workload_values[i][0]);
    return workload_values[i][1] || (y && !yaml_is_null(y));
}

static void put_sweep(struct toolkit *t)
{
    bool any = false;
    for (size_t i = 0; workload_values[i][0]; i++) {
        const struct yaml *y = yaml_get(t->workload, workload_values[i][0]);
        if (!y || y->kind != YAML_LIST)
            continue;
        buf_printf(&t->text, "%s    %s: [", any ? "" : "sweep:\n  grid:\n", workload_values[i][0]);
        any = true;
        for (const struct yaml *v = y->child; v; v = v->next) {
            put_quoted_text(t, v->text);
            buf_puts(&t->text, v->next ? ", " : "");
        }
        buf_puts(&t->text, "]\n");
    }
}

/* A constant as an expression: a number, or a text in quotes. */
static void put_constant(struct toolkit *t, struct str value)
{
    CLEANUP_BUF struct buf b;
    double number;
    buf_init(&b, 8192);
    if (str_double(value, &number))
        buf_str(&b, value);
    else {
        buf_putc(&b, '\'');
        buf_str(&b, value);
        buf_putc(&b, '\'');
    }
    put_quoted_text(t, buf_text(&b));
    t->text.failed |= b.failed;
}

static void put_vars(struct toolkit *t)
{
    buf_puts(&t->text, "vars:\n");
    for (size_t i = 0; workload_values[i][0]; i++) {
        const struct yaml *y = yaml_get(t->workload, workload_values[i][0]);
        bool scalar = y && y->kind == YAML_SCALAR && !yaml_is_null(y);
        if ((y && y->kind == YAML_LIST) || !has_workload_value(t, i))
            continue;
        struct str value = scalar ? y->text : str_of(workload_values[i][1]);
        struct str of_nodes = toolkit_value(yaml_get(yaml_get(t->root, "orchestration"), "node_allocation"), "clients", "clients_per_node");
        if (strcmp(workload_values[i][0], "clients_per_node") == 0 && !scalar && is_text_given(of_nodes))
            value = of_nodes;
        buf_printf(&t->text, "  %s: ", workload_values[i][0]);
        put_constant(t, value);
        buf_putc(&t->text, '\n');
    }
    buf_printf(&t->text, "  streams: \"batch * concurrency * clients_per_node * %lld\"\n", (long long)t->clients);
}

/* ---- roles ---- */

static void put_resources(struct toolkit *t, const char *who)
{
    const struct yaml *map = yaml_get(yaml_get(t->root, "resources"), who);
    struct str memory = yaml_text(map, "mem_gb", NULL);
    if (!map || yaml_is_null(map))
        return;
    buf_puts(&t->text, "    resources:\n");
    put_toolkit_pair(t, "      ", "gpus", yaml_text(map, "gpus", "0"));
    put_toolkit_pair(t, "      ", "cpus", yaml_text(map, "cpus_per_task", NULL));
    if (is_text_given(memory))
        buf_printf(&t->text, "      memory: \"" STR_FMT "G\"\n", STR_ARG(memory));
}

/* Appends the image and binds of the toolkit's recipe as the map `container`, or nothing where it
 * names no image. */
static void put_container(struct toolkit *t)
{
    const struct yaml *artifacts = yaml_get(t->root, "artifacts"), *binds = yaml_get(t->root, "binds");
    struct str folder = yaml_text(artifacts, "containers_dir", NULL), path = toolkit_value(artifacts, "service", "path");
    CLEANUP_BUF struct buf image;
    buf_init(&image, 8192);
    if (!is_text_given(path))
        return;
    if (is_text_given(folder) && path.p[0] != '/')
        buf_printf(&image, STR_FMT "/", STR_ARG(folder));
    buf_str(&image, path);
    buf_puts(&t->text, "    container:\n      runtime: apptainer\n      image: ");
    put_quoted_text(t, buf_text(&image));
    buf_putc(&t->text, '\n');
    t->text.failed |= image.failed;
    if (!binds || yaml_is_null(binds) || (binds->kind == YAML_LIST && !binds->child))
        return;
    buf_puts(&t->text, "      binds: [");
    for (const struct yaml *y = binds->kind == YAML_LIST ? binds->child : binds; y; y = binds->kind == YAML_LIST ? y->next : NULL) {
        put_quoted_text(t, y->text);
        buf_puts(&t->text, binds->kind == YAML_LIST && y->next ? ", " : "");
    }
    buf_puts(&t->text, "]\n");
}

/* ---- the service ---- */

static const struct yaml *find_parameter(const struct toolkit *t, const char *name)
{
    return yaml_get(yaml_get(t->service->root, "parameters"), name);
}

/* The service file: that of the workload's service, or SERVICE-BACKEND where it is distributed. 0; -1 with err. */
static int find_service(struct toolkit *t, const struct recipe_places *places)
{
    const struct yaml *at = yaml_get(t->workload, "service"), *distributed = server_map(t, "distributed");
    struct str given = at && at->kind == YAML_SCALAR ? at->text : (struct str){NULL, 0};
    bool is_distributed = false;
    char *name = arena_dup(t->a, given.p ? given.p : "", given.n);
    for (char *p = name; p && *p; p++)
        *p = *p == '_' ? '-' : *p;
    if (!name)
        return err_memory(t->err, "the recipe");
    if (!given.n)
        return yaml_complain(t->workload ? t->workload : t->root, t->file, t->err,
                             "the key workload.service is missing: the service that gets the load");
    yaml_bool(yaml_get(distributed, "enabled"), &is_distributed);
    struct str backend = yaml_text(distributed, "backend", "ray");
    int rc = 1;
    if (is_distributed) {
        const char *both = arena_printf(t->a, "%s-" STR_FMT, name, STR_ARG(backend));
        rc = both ? recipe_service_open(&t->service, both, places, t->a, t->err) : err_memory(t->err, "the recipe");
    }
    return rc > 0 ? recipe_service_require(&t->service, name, at, t->file, places, t->a, t->err) : rc;
}

/* One value of `with`. A service without this parameter runs without it. */
static void put_parameter(struct toolkit *t, const char *parameter, const char *key, struct str value)
{
    if (!is_text_given(value))
        return;
    if (find_parameter(t, parameter))
        put_toolkit_pair(t, "      ", parameter, value);
    else
        toolkit_remark(t, arena_printf(t->a, "%s: the service %s has no parameter \"%s\"; the value changes nothing", key, t->service->name,
                                       parameter));
}

/* Appends the parameters of the service as the map `with`, or nothing where there is none. */
static void put_with(struct toolkit *t)
{
    static const char *const of_server[] = {"max_model_len", "gpu_memory_utilization", "gpu_layers"};
    static const char *const of_distributed[] = {"tensor_parallel_size", "pipeline_parallel_size"};
    static const char *const of_ray[][2] = {{"num_cpus", "num_cpus_per_node"}, {"num_gpus", "num_gpus_per_node"}};
    const struct yaml *distributed = server_map(t, "distributed"), *ray = server_map(t, "ray");
    size_t before = t->text.n;
    buf_puts(&t->text, "    with:\n");
    size_t empty = t->text.n;
    if (t->has_model)
        buf_puts(&t->text, "      model: \"{model}\"\n");
    for (size_t i = 0; i < sizeof of_server / sizeof *of_server; i++)
        put_parameter(t, of_server[i], of_server[i], server_value(t, of_server[i]));
    for (size_t i = 0; i < sizeof of_distributed / sizeof *of_distributed; i++)
        put_parameter(t, of_distributed[i], of_distributed[i], yaml_text(distributed, of_distributed[i], NULL));
    for (size_t i = 0; i < sizeof of_ray / sizeof *of_ray; i++)
        put_parameter(t, of_ray[i][0], of_ray[i][1], yaml_text(ray, of_ray[i][1], NULL));
    if (t->text.n == empty)
        t->text.n = before;
}

/* Ports that the recipe names. The service file has those of the others. */
static void put_ports(struct toolkit *t)
{
    static const char *const names[][2] = {
        {"ray", "port"}, {"dashboard", "dashboard_port"}, {"object_manager", "object_manager_port"}, {"node_manager", "node_manager_port"}};
    const struct yaml *ray = server_map(t, "ray");
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str value = yaml_text(ray, names[i][1], NULL);
        if (!is_text_given(value))
            continue;
        if (!yaml_get(yaml_get(t->service->root, "ports"), names[i][0])) {
            toolkit_remark(
                t, arena_printf(t->a, "ray.%s: the service %s has no such port; the value changes nothing", names[i][1], t->service->name));
            continue;
        }
        buf_puts(&t->text, any ? "" : "    ports:\n");
        any = true;
        put_toolkit_pair(t, "      ", names[i][0], value);
    }
}

static void put_ready(struct toolkit *t)
{
    const struct yaml *health = yaml_get(t->servers, "health_check");
    struct str interval = yaml_text(health, "interval", NULL), endpoint = yaml_text(health, "endpoint", NULL);
    double seconds = 1;
    bool enabled = true;
    if (!health || yaml_is_null(health))
        return;
    yaml_bool(yaml_get(health, "enabled"), &enabled);
    buf_puts(&t->text, "    ready:\n");
    if (enabled)
        put_toolkit_pair(t, "      ", "http", endpoint);
    else
        buf_puts(&t->text, "      tcp: http\n");
    put_toolkit_pair(t, "      ", "timeout", yaml_text(health, "timeout", "300"));
    if (is_text_given(interval) && str_duration(interval, &seconds)) {
        buf_printf(&t->text, "      interval: %g\n", seconds > 1 ? 1 : seconds);
        if (seconds > 1)
            toolkit_remark(
                t, "health_check.interval: benchwrap checks every second, so that the start is not measured in steps of the interval");
    }
}

static void put_server(struct toolkit *t)
{
    const struct yaml *nodes = yaml_get(yaml_get(t->root, "orchestration"), "node_allocation");
    buf_puts(&t->text, "roles:\n  server:\n    service: ");
    put_quoted_text(t, str_of(t->service->name));
    buf_putc(&t->text, '\n');
    put_toolkit_pair(t, "    ", "nodes", toolkit_value(nodes, "servers", "nodes"));
    put_with(t);
    put_ports(t);
    put_ready(t);
    put_resources(t, "servers");
    put_container(t);
}

static void put_client(struct toolkit *t)
{
    struct str api = yaml_text(t->service->root, "api", NULL);
    struct str duration = yaml_text(t->workload, "duration", "2m"), warmup = yaml_text(t->workload, "warmup", NULL);
    buf_printf(&t->text,
               "  agents:\n    service: llmload-agent\n    with: {service: \"" STR_FMT
               "\"}\n    nodes: %lld\n    instances: \"{clients_per_node}\"\n",
               STR_ARG(yaml_text(t->workload, "service", NULL)), (long long)t->clients);
    put_resources(t, "clients");
    buf_puts(&t->text, "  client:\n    nodes_of: agents\n    command:\n      - llmload\n      - \"{server.url}\"\n");
    if (is_text_given(api)) {
        buf_puts(&t->text, "      - --api\n      - ");
        put_quoted_text(t, api);
        buf_putc(&t->text, '\n');
    }
    if (t->has_model)
        buf_puts(&t->text, "      - --model\n      - \"{model}\"\n");
    buf_puts(&t->text, "      - --concurrency\n      - \"{streams}\"\n      - --input-tokens\n      - \"{prompt_len}\"\n");
    if (has_workload_value(t, 4))
        buf_puts(&t->text, "      - --max-tokens\n      - \"{max_tokens}\"\n");
    if (has_workload_value(t, 5))
        buf_puts(&t->text, "      - --requests\n      - \"{requests}\"\n");
    else {
        buf_puts(&t->text, "      - --duration\n      - ");
        put_quoted_text(t, duration);
        buf_putc(&t->text, '\n');
    }
    if (is_text_given(warmup)) {
        buf_puts(&t->text, "      - --warmup\n      - ");
        put_quoted_text(t, warmup);
        buf_putc(&t->text, '\n');
    }
    buf_puts(&t->text, "      - --agents\n      - \"{agents.addresses}\"\n      - --token-file\n      - \"{campaign}/agent-token\"\n");
}

/* ---- the rest ---- */

/* Nodes of monitors belong to the allocation, though no role needs them. */
static void put_node_sum(struct toolkit *t, const struct yaml *allocation)
{
    static const char *const roles[] = {"servers", "clients", "monitors"};
    int64_t sum = 0, n;
    if (!is_text_given(toolkit_value(allocation, "monitors", "nodes")))
        return;
    for (size_t i = 0; i < 3; i++)
        sum += str_int(toolkit_value(allocation, roles[i], "nodes"), &n) ? n : 1;
    buf_printf(&t->text, "  nodes: %lld\n", (long long)sum);
}

static void put_batch(struct toolkit *t)
{
    const struct yaml *o = yaml_get(t->root, "orchestration"), *job = yaml_get(o, "job_config");
    bool exclusive = false;
    buf_puts(&t->text, "batch:\n  scheduler: slurm\n");
    put_toolkit_pair(t, "  ", "partition", yaml_text(t->root, "partition", NULL));
    put_toolkit_pair(t, "  ", "account", yaml_text(t->root, "account", NULL));
    put_toolkit_pair(t, "  ", "qos", yaml_text(t->root, "qos", NULL));
    put_toolkit_pair(t, "  ", "time", yaml_text(job, "time_limit", NULL));
    if (is_text_given(yaml_text(o, "total_nodes", NULL)))
        put_toolkit_pair(t, "  ", "nodes", yaml_text(o, "total_nodes", NULL));
    else
        put_node_sum(t, yaml_get(o, "node_allocation"));
    yaml_bool(yaml_get(job, "exclusive"), &exclusive);
    buf_printf(&t->text, "  exclusive: %s\n", exclusive ? "true" : "false");
}

static void put_logs(struct toolkit *t)
{
    const struct yaml *logging = yaml_get(t->root, "logging"), *outputs = yaml_get(t->root, "outputs");
    static const char *const names[] = {"stdout", "stderr", "aggregated"};
    bool jsonl = true;
    if (!outputs)
        outputs = yaml_get(logging, "outputs");
    if (outputs && outputs->child) {
        buf_puts(&t->text, "outputs:\n");
        for (size_t i = 0; i < 3; i++)
            put_toolkit_pair(t, "  ", names[i], yaml_text(outputs, names[i], NULL));
    }
    if (!logging || yaml_is_null(logging))
        return;
    yaml_bool(yaml_get(logging, "create_jsonl"), &jsonl);
    buf_printf(&t->text, "logs:\n  jsonl: %s\n", jsonl ? "true" : "false");
    put_toolkit_pair(t, "  ", "flush", yaml_text(logging, "flush_interval", NULL));
}

static void put_monitoring(struct toolkit *t)
{
    static const char *const names[][2] = {{"interval", "monitor_interval"},
                                           {"push_interval", "prometheus_push_interval"},
                                           {"pushgateway", "pushgateway_url"},
                                           {"csv", "output_file"}};
    const struct yaml *m = yaml_get(t->root, "monitoring");
    struct str nodes = toolkit_value(yaml_get(yaml_get(t->root, "orchestration"), "node_allocation"), "monitors", "nodes");
    if (m && m->child)
        buf_puts(&t->text, "monitoring:\n");
    for (size_t i = 0; m && i < 4; i++)
        put_toolkit_pair(t, "  ", names[i][0], yaml_text(m, names[i][1], NULL));
    if (is_text_given(nodes))
        toolkit_remark(
            t, "monitors.nodes: these nodes belong to the allocation; no process of their own runs there, since every node is sampled");
}

static void count_client_nodes(struct toolkit *t)
{
    struct str nodes = toolkit_value(yaml_get(yaml_get(t->root, "orchestration"), "node_allocation"), "clients", "nodes");
    if (!is_text_given(nodes) || !str_int(nodes, &t->clients) || t->clients < 1)
        t->clients = 1;
}

static void put_remarks(struct toolkit *t)
{
    if (yaml_get(t->workload, "batch"))
        toolkit_remark(t, "batch: requests that one stream sends before it waits; the load has batch * concurrency streams");
    if (yaml_get(t->workload, "component"))
        toolkit_remark(t, "component: inference is the only kind of load; the value changes nothing");
    if (is_text_given(server_value(t, "gpu_layers")))
        toolkit_remark(t, "gpu_layers: layers of the model on GPUs, -1 for all");
    if (yaml_get(yaml_get(t->root, "artifacts"), "python"))
        toolkit_remark(t, "artifacts.python: the image of the toolkit's own clients; llmload needs none");
}

const char *recipe_of_toolkit(const struct yaml *root, const char *file, const struct recipe_places *places, struct arena *a,
                              const char *const **ret_remarks, struct err *err)
{
    struct toolkit t = {
        .root = root, .file = file, .a = a, .err = err, .workload = yaml_get(root, "workload"), .servers = yaml_get(root, "servers")};
    struct str name = yaml_text(root, "scenario", NULL);
    t.config = yaml_get(t.servers, "service_config");
    t.remarks = arena_get(a, (REMARKS_MAX + 1) * sizeof *t.remarks);
    const char *text = NULL;
    if (!t.remarks)
        err_memory(err, "the recipe");
    if (!t.remarks || find_service(&t, places))
        return NULL;
    t.has_model = has_workload_value(&t, 0) && find_parameter(&t, "model");
    count_client_nodes(&t);
    put_remarks(&t);
    buf_init(&t.text, OWN_FORM_MAX);
    buf_puts(&t.text, "version: 1\n");
    if (is_text_given(name)) { /* a scenario may have blanks */
        char *legal = arena_dup(a, name.p, name.n > 100 ? 100 : name.n);
        for (char *p = legal; p && *p; p++)
            if (!str_is_letter(*p) && !str_is_digit(*p) && !strchr("._-", *p))
                *p = '-';
        put_toolkit_pair(&t, "", "name", str_of(legal));
    }
    put_sweep(&t);
    put_vars(&t);
    put_server(&t);
    put_client(&t);
    put_batch(&t);
    put_logs(&t);
    put_monitoring(&t);
    if (t.text.failed || a->failed || !(text = arena_dup(a, t.text.p, t.text.n)))
        err_memory(err, "the translated recipe");
    buf_deinit(&t.text);
    *ret_remarks = t.remarks;
    return text;
}
