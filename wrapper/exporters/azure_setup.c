/* azure_setup.c: prints what Azure Monitor needs for the exporter azure and for logs; see azure_setup.h. */
#include "exporters/azure_setup.h"

#include "base/env.h"
#include "base/json_out.h"
#include "exporters/metric_records.h"

#include <stdbool.h>
#include <string.h>

struct azure_column {
    const char *name, *type; /* type: of a stream */
};
struct azure_columns {
    const struct azure_column *list;
    size_t count;
};
struct azure_table {
    const char *name, *stream;
    struct azure_columns columns;
    bool is_raw;
    const char *log, *roles, *paths; /* of a raw table */
};

static const struct azure_column run_columns_list[] = {
#define AZURE_COLUMN(name, type, meaning) {#name, #type},
#include "exporters/azure_columns.def"
#undef AZURE_COLUMN
};
static const struct azure_column stats_columns_list[] = {{"TimeGenerated", "datetime"}, {"Computer", "string"}, {"Cluster", "string"},
                                                         {"Metric", "string"},          {"Labels", "dynamic"},  {"Value", "real"}};
static const struct azure_column raw_columns_list[] = {
    {"TimeGenerated", "datetime"}, {"RawData", "string"}, {"Computer", "string"}, {"FilePath", "string"}};
static const struct azure_column slurm_columns_list[] = {{"TimeGenerated", "datetime"}, {"Level", "string"},    {"Component", "string"},
                                                         {"Message", "string"},         {"Computer", "string"}, {"FilePath", "string"}};
static const struct azure_column syslog_columns_list[] = {{"TimeGenerated", "datetime"}, {"Process", "string"},  {"ProcessId", "long"},
                                                          {"Message", "string"},         {"Computer", "string"}, {"FilePath", "string"}};
static const struct azure_column dmesg_columns_list[] = {
    {"TimeGenerated", "datetime"}, {"Message", "string"}, {"Computer", "string"}, {"FilePath", "string"}};
#define COLUMNS(list)                                                                                                                      \
    {                                                                                                                                      \
        list, sizeof list / sizeof *list                                                                                                   \
    }

/* Lines of a format that is not known have no table of their parts. */
#define PARSED_TABLE(log_name, list) {.name = #log_name "_CL", .stream = "Custom-" #log_name "_CL", .columns = COLUMNS(list)},
#define PARSED_SLURM(log_name) PARSED_TABLE(log_name, slurm_columns_list)
#define PARSED_SYSLOG(log_name) PARSED_TABLE(log_name, syslog_columns_list)
#define PARSED_DMESG(log_name) PARSED_TABLE(log_name, dmesg_columns_list)
#define PARSED_RAW(log_name)

static const struct azure_table azure_tables[] = {
    {.name = "BenchwrapRuns_CL", .stream = "Custom-BenchwrapRuns_CL", .columns = COLUMNS(run_columns_list)},
    {.name = "BenchwrapSlurm_CL", .stream = METRIC_RECORDS_STREAM, .columns = COLUMNS(stats_columns_list)},
#define ROLE(log_name, log_roles, format, log_paths)                                                                                       \
    {.name = #log_name "_raw_CL",                                                                                                          \
     .stream = "Custom-Text-" #log_name "_raw_CL",                                                                                         \
     .columns = COLUMNS(raw_columns_list),                                                                                                 \
     .is_raw = true,                                                                                                                       \
     .log = #log_name,                                                                                                                     \
     .roles = log_roles,                                                                                                                   \
     .paths = log_paths},
#include "exporters/cluster_logs.def"
#undef ROLE
#define ROLE(log_name, log_roles, format, log_paths) PARSED_##format(log_name)
#include "exporters/cluster_logs.def"
#undef ROLE
};

/* A rule has at most ten data flows: one for runs, metrics of Slurm and parsed lines, one for the ten raw tables. */
static const struct azure_rule {
    const char *name, *symbol;
    bool is_raw;
} azure_rules[] = {{"benchwrap", "rule", false}, {"benchwrap-raw", "rawRule", true}};

enum { TABLES = sizeof azure_tables / sizeof *azure_tables, RULES = sizeof azure_rules / sizeof *azure_rules };

/* The variables of scripts, by the names of the set-up that users of these tables have. */
static const struct azure_variable {
    const char *name, *otherwise, *meaning;
} azure_variables[] = {
    {"RESOURCE_GROUP", "benchwrap", ""},
    {"WORKSPACE_NAME", "benchwrap", ""},
    {"REGION", "westeurope", ""},
    {"SUBSCRIPTION_ID", "", "  # default: that of \"az account show\""},
    {"PRINCIPAL_ID", "", "  # object id of the identity that sends: it may publish by the rules"},
    {"VM_ID", "", "  # id of the scheduler's machine, for the agent"},
    {"VMSS_ID", "", "  # id of the nodes' scale set, for the agent"},
};
enum { VARIABLES = sizeof azure_variables / sizeof *azure_variables, VARIABLES_PLAIN = 5 /* VM_ID, VMSS_ID: the agent's */ };

static const char *setup_value(char *const *env, size_t variable)
{
    const char *text = env_text(env, azure_variables[variable].name);
    return text ? text : azure_variables[variable].otherwise;
}

/* They go into scripts and templates without quotes. */
static int check_setup_values(char *const *env, struct err *err)
{
    for (size_t i = 0; i < VARIABLES; i++)
        for (const char *p = setup_value(env, i); *p; p++)
            if (!str_is_letter(*p) && !str_is_digit(*p) && !strchr("-_./", *p))
                return err_set(err, ERR_INPUT, "%s: expected letters, digits, '-', '_', '.' and '/', got \"%.80s\"",
                               azure_variables[i].name, setup_value(env, i));
    return 0;
}

static void put_setup_variables(char *const *env, size_t count, struct buf *to)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(to, "%s=${%s:-%s}%s\n", azure_variables[i].name, azure_variables[i].name, setup_value(env, i),
                   azure_variables[i].meaning);
}

/* ---- az ---- */

static void put_stream_columns(struct json_out *j, const struct azure_columns *c)
{
    json_open(j, "columns", '[');
    for (size_t i = 0; i < c->count; i++) {
        json_open_row(j, NULL, '{');
        json_text(j, "name", c->list[i].name);
        json_text(j, "type", c->list[i].type);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* The streams of a rule, and what becomes of them. only: this table alone; NULL: all of the rule. */
static void put_rule_streams(struct json_out *j, bool is_raw, const struct azure_table *only)
{
    json_open(j, "streamDeclarations", '{');
    for (const struct azure_table *t = azure_tables; t < azure_tables + TABLES; t++)
        if (only ? t == only : t->is_raw == is_raw) {
            json_open(j, t->stream, '{');
            put_stream_columns(j, &t->columns);
            json_close(j, '}');
        }
    json_close(j, '}');
    json_open(j, "dataFlows", '[');
    for (const struct azure_table *t = azure_tables; t < azure_tables + TABLES; t++)
        if (only ? t == only : t->is_raw == is_raw) {
            json_open_row(j, NULL, '{');
            json_texts(j, "streams", &t->stream, 1);
            json_texts(j, "destinations", (const char *const[]){"workspace"}, 1);
            json_text(j, "transformKql", "source");
            struct buf output CLEANUP_BUF;
            buf_init(&output, 200);
            buf_printf(&output, "Custom-%s", t->name);
            json_str(j, "outputStream", buf_text(&output));
            json_close(j, '}');
        }
    json_close(j, ']');
}

static void put_rule_destination(struct json_out *j)
{
    json_open(j, "destinations", '{');
    json_open(j, "logAnalytics", '[');
    json_open_row(j, NULL, '{');
    json_text(j, "workspaceResourceId", "$workspace_id");
    json_text(j, "name", "workspace");
    json_close(j, '}');
    json_close(j, ']');
    json_close(j, '}');
}

/* The body of a rule, in which the shell fills in ids. */
static void put_rule_body(bool is_raw, struct buf *to)
{
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    json_text(&j, "location", "$REGION");
    json_open(&j, "properties", '{');
    json_text(&j, "dataCollectionEndpointId", "$endpoint_id");
    put_rule_streams(&j, is_raw, NULL);
    put_rule_destination(&j);
    json_close(&j, '}');
    json_close(&j, '}');
}

static void put_az_begin(const char *purpose, char *const *env, size_t variables, struct buf *to)
{
    buf_printf(
        to,
        "#!/bin/sh\n# %s\n# Made by \"benchwrap exporter azure-setup\". A second call changes what differs. Needs: az, \"az login\", and the roles\n"
        "# Monitoring Contributor and Log Analytics Contributor in the resource group.\nset -eu\n",
        purpose);
    put_setup_variables(env, variables, to);
    buf_puts(to, "SUBSCRIPTION_ID=${SUBSCRIPTION_ID:-$(az account show --query id -o tsv)}\n"
                 "scratch=$(mktemp -d)\n"
                 "trap 'rm -rf \"$scratch\"' EXIT\n"
                 "place() { \"$@\" --subscription \"$SUBSCRIPTION_ID\" --resource-group \"$RESOURCE_GROUP\"; }\n\n");
}

static void put_az_tables(struct buf *to)
{
    buf_puts(
        to,
        "table() # NAME COLUMNS\n{\n"
        "    name=$1; shift\n"
        "    place az monitor log-analytics workspace table create --workspace-name \"$WORKSPACE_NAME\" --name \"$name\" --columns \"$@\" -o none\n"
        "    echo \"table $name\"\n}\n");
    for (const struct azure_table *t = azure_tables; t < azure_tables + TABLES; t++) {
        buf_printf(to, "table %s", t->name);
        for (size_t i = 0; i < t->columns.count; i++)
            buf_printf(to, "%s%s=%s", i % 8 == 0 && i ? " \\\n    " : " ", t->columns.list[i].name, t->columns.list[i].type);
        buf_putc(to, '\n');
    }
    buf_putc(to, '\n');
}

static void put_az_rule(const struct azure_rule *r, struct buf *to)
{
    buf_printf(to, "cat >\"$scratch/%s.json\" <<EOF\n", r->name);
    put_rule_body(r->is_raw, to);
    buf_printf(to,
               "EOF\n"
               "place az monitor data-collection rule create --name %s --location \"$REGION\" --rule-file \"$scratch/%s.json\" -o none\n"
               "%s_id=$(place az monitor data-collection rule show --name %s --query immutableId -o tsv)\n"
               "if [ -n \"$PRINCIPAL_ID\" ]; then\n"
               "    az role assignment create --subscription \"$SUBSCRIPTION_ID\" --assignee-object-id \"$PRINCIPAL_ID\" \\\n"
               "        --assignee-principal-type ServicePrincipal --role 'Monitoring Metrics Publisher' \\\n"
               "        --scope \"$(place az monitor data-collection rule show --name %s --query id -o tsv)\" -o none\n"
               "fi\n\n",
               r->name, r->name, r->symbol, r->name, r->name);
}

/* Appends a shell script that makes the workspace, tables, data collection endpoint and rules with
 * `az`, and prints the keys of the exporter. `env`: variables that set its defaults. */
static void setup_az(char *const *env, struct buf *to)
{
    put_az_begin("Makes workspace, tables, data collection endpoint and rules for runs and logs, and prints the exporter's keys.", env,
                 VARIABLES_PLAIN, to);
    buf_puts(
        to,
        "az group create --subscription \"$SUBSCRIPTION_ID\" --name \"$RESOURCE_GROUP\" --location \"$REGION\" -o none\n"
        "place az monitor log-analytics workspace create --workspace-name \"$WORKSPACE_NAME\" --location \"$REGION\" -o none\n"
        "workspace_id=$(place az monitor log-analytics workspace show --workspace-name \"$WORKSPACE_NAME\" --query id -o tsv)\n"
        "customer_id=$(place az monitor log-analytics workspace show --workspace-name \"$WORKSPACE_NAME\" --query customerId -o tsv)\n\n");
    put_az_tables(to);
    buf_puts(
        to,
        "place az monitor data-collection endpoint create --name benchwrap --location \"$REGION\" --public-network-access Enabled -o none\n"
        "endpoint_id=$(place az monitor data-collection endpoint show --name benchwrap --query id -o tsv)\n"
        "endpoint=$(place az monitor data-collection endpoint show --name benchwrap --query logsIngestion.endpoint -o tsv)\n\n");
    for (size_t i = 0; i < RULES; i++)
        put_az_rule(&azure_rules[i], to);
    buf_puts(to, "cat <<EOF\n"
                 "\n"
                 "# ~/.config/benchwrap/config.yaml or /etc/benchwrap.yaml\n"
                 "exporters:\n"
                 "  - type: azure\n"
                 "    endpoint: $endpoint\n"
                 "    rule: $rule_id\n"
                 "    rules: {'Custom-Text-*': $rawRule_id}\n"
                 "    workspace: $customer_id\n"
                 "# Then: benchwrap exporter check azure --read-back; and some minutes after a run:\n"
                 "# az monitor log-analytics query --workspace $customer_id --analytics-query 'BenchwrapRuns_CL | take 10' -o table\n"
                 "EOF\n");
}

/* ---- Bicep ---- */

static void put_bicep_columns(const struct azure_columns *c, const char *blanks, bool is_table, struct buf *to)
{
    buf_printf(to, "%scolumns: [\n", blanks);
    for (size_t i = 0; i < c->count; i++)
        buf_printf(to, "%s  { name: '%s', type: '%s' }\n", blanks, c->list[i].name,
                   is_table && strcmp(c->list[i].type, "datetime") == 0 ? "dateTime" : c->list[i].type);
    buf_printf(to, "%s]\n", blanks);
}

static void put_bicep_table(const struct azure_table *t, struct buf *to)
{
    buf_printf(to,
               "resource table_%s 'Microsoft.OperationalInsights/workspaces/tables@2022-10-01' = {\n"
               "  parent: workspace\n"
               "  name: '%s'\n"
               "  properties: {\n"
               "    schema: {\n"
               "      name: '%s'\n",
               t->name, t->name, t->name);
    put_bicep_columns(&t->columns, "      ", true, to);
    buf_puts(to, "    }\n  }\n}\n\n");
}

/* Appends the Bicep resources of one data collection rule, with a stream for each of its tables,
 * and of the role that lets the sending identity publish by it. */
static void put_bicep_rule(const struct azure_rule *r, struct buf *to)
{
    buf_printf(to,
               "resource %s 'Microsoft.Insights/dataCollectionRules@2022-06-01' = {\n"
               "  name: '%s'\n"
               "  location: location\n"
               "  properties: {\n"
               "    dataCollectionEndpointId: endpoint.id\n"
               "    streamDeclarations: {\n",
               r->symbol, r->name);
    for (const struct azure_table *t = azure_tables; t < azure_tables + TABLES; t++)
        if (t->is_raw == r->is_raw) {
            buf_printf(to, "      '%s': {\n", t->stream);
            put_bicep_columns(&t->columns, "        ", false, to);
            buf_puts(to, "      }\n");
        }
    buf_puts(to, "    }\n"
                 "    destinations: {\n"
                 "      logAnalytics: [\n"
                 "        { workspaceResourceId: workspace.id, name: 'workspace' }\n"
                 "      ]\n"
                 "    }\n"
                 "    dataFlows: [\n");
    for (const struct azure_table *t = azure_tables; t < azure_tables + TABLES; t++)
        if (t->is_raw == r->is_raw)
            buf_printf(to,
                       "      { streams: [ '%s' ], destinations: [ 'workspace' ], transformKql: 'source', outputStream: 'Custom-%s' }\n",
                       t->stream, t->name);
    buf_puts(to, "    ]\n  }\n  dependsOn: [\n");
    for (const struct azure_table *t = azure_tables; t < azure_tables + TABLES; t++)
        if (t->is_raw == r->is_raw)
            buf_printf(to, "    table_%s\n", t->name);
    buf_printf(
        to,
        "  ]\n}\n\n"
        "resource %sPublisher 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(principalId)) {\n"
        "  name: guid(%s.id, principalId, 'publisher')\n"
        "  scope: %s\n"
        "  properties: {\n"
        "    // Monitoring Metrics Publisher\n"
        "    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '3913510d-42f4-4e42-8a64-420c390055eb')\n"
        "    principalId: principalId\n"
        "    principalType: 'ServicePrincipal'\n"
        "  }\n}\n\n",
        r->symbol, r->symbol, r->symbol);
}

static void setup_bicep(char *const *env, struct buf *to)
{
    buf_printf(to,
               "// Workspace, tables, data collection endpoint and rules for runs and logs, by \"benchwrap exporter azure-setup bicep\".\n"
               "// az deployment group create --resource-group %s --template-file benchwrap.bicep --query properties.outputs\n"
               "param location string = resourceGroup().location\n"
               "param workspaceName string = '%s'\n"
               "@description('Object id of the identity that sends: it may publish by the rules.')\n"
               "param principalId string = '%s'\n\n"
               "resource workspace 'Microsoft.OperationalInsights/workspaces@2022-10-01' = {\n"
               "  name: workspaceName\n"
               "  location: location\n"
               "  properties: {\n"
               "    sku: {\n"
               "      name: 'PerGB2018'\n"
               "    }\n"
               "  }\n}\n\n"
               "resource endpoint 'Microsoft.Insights/dataCollectionEndpoints@2022-06-01' = {\n"
               "  name: 'benchwrap'\n"
               "  location: location\n"
               "  properties: {\n"
               "    networkAcls: {\n"
               "      publicNetworkAccess: 'Enabled'\n"
               "    }\n"
               "  }\n}\n\n",
               setup_value(env, 0), setup_value(env, 1), setup_value(env, 4));
    for (const struct azure_table *t = azure_tables; t < azure_tables + TABLES; t++)
        put_bicep_table(t, to);
    for (size_t i = 0; i < RULES; i++)
        put_bicep_rule(&azure_rules[i], to);
    buf_puts(to, "// Keys of the exporter\n"
                 "output endpoint string = endpoint.properties.logsIngestion.endpoint\n"
                 "output rule string = rule.properties.immutableId\n"
                 "output rawRule string = rawRule.properties.immutableId\n"
                 "output workspace string = workspace.properties.customerId\n");
}

/* ---- Azure Monitor Agent ---- */

static void put_agent_rule(const struct azure_table *t, struct buf *to)
{
    struct str rest = str_of(t->paths), path;
    buf_printf(to, "cat >\"$scratch/%s.json\" <<EOF\n", t->log);
    struct json_out j = json_begin(to, JSON_BLOCK, '{');
    json_text(&j, "location", "$REGION");
    json_text(&j, "kind", "Linux");
    json_open(&j, "properties", '{');
    json_text(&j, "dataCollectionEndpointId", "$endpoint_id");
    put_rule_streams(&j, true, t);
    json_open(&j, "dataSources", '{');
    json_open(&j, "logFiles", '[');
    json_open(&j, NULL, '{');
    json_text(&j, "name", t->log);
    json_texts(&j, "streams", &t->stream, 1);
    json_open_row(&j, "filePatterns", '[');
    while ((path = str_word(&rest)).n)
        json_str(&j, NULL, path);
    json_close(&j, ']');
    json_text(&j, "format", "text");
    json_open_row(&j, "settings", '{');
    json_open(&j, "text", '{');
    json_text(&j, "recordStartTimestampFormat", "ISO 8601");
    json_close(&j, '}');
    json_close(&j, '}');
    json_close(&j, '}');
    json_close(&j, ']');
    json_close(&j, '}');
    put_rule_destination(&j);
    json_close(&j, '}');
    json_close(&j, '}');
    buf_printf(to, "EOF\nrule %s\n", t->log);
    if (strchr(t->roles, 's'))
        buf_printf(to, "bind %s \"$VM_ID\" VM_ID\n", t->log);
    if (strchr(t->roles, 'n'))
        buf_printf(to, "bind %s \"$VMSS_ID\" VMSS_ID\n", t->log);
    buf_putc(to, '\n');
}

/* Appends a shell script that makes a data collection rule for each raw log with `az`, and binds it
 * to the machines that run Azure Monitor Agent. */
static void setup_agent(char *const *env, struct buf *to)
{
    put_az_begin(
        "Creates a data collection rule for each raw log, and binds it to machines that run Azure Monitor Agent. Not required with \"benchwrap ship-logs\".",
        env, VARIABLES, to);
    buf_puts(
        to,
        "workspace_id=$(place az monitor log-analytics workspace show --workspace-name \"$WORKSPACE_NAME\" --query id -o tsv)\n"
        "endpoint_id=$(place az monitor data-collection endpoint show --name benchwrap --query id -o tsv)\n"
        "unbound=\n"
        "rule() # LOG\n{\n"
        "    place az monitor data-collection rule create --name \"$1_raw_dcr\" --location \"$REGION\" --rule-file \"$scratch/$1.json\" -o none\n"
        "    rule_id=$(place az monitor data-collection rule show --name \"$1_raw_dcr\" --query id -o tsv)\n}\n"
        "bind() # LOG MACHINE VARIABLE\n{\n"
        "    if [ -z \"$2\" ]; then\n"
        "        unbound=\"$unbound $1\"\n"
        "        echo \"$1_raw_dcr: not bound: $3 is not set\"\n"
        "        return\n"
        "    fi\n"
        "    az monitor data-collection rule association create --subscription \"$SUBSCRIPTION_ID\" --name \"$1_raw_dcr\" --resource \"$2\" \\\n"
        "        --rule-id \"$rule_id\" -o none\n"
        "    echo \"$1_raw_dcr: bound to $2\"\n}\n\n");
    for (const struct azure_table *t = azure_tables; t < azure_tables + TABLES; t++)
        if (t->is_raw)
            put_agent_rule(t, to);
    buf_puts(to, "[ -z \"$unbound\" ] || { echo \"not bound everywhere:$unbound\"; exit 1; }\n");
}

int azure_setup_print(const char *form, char *const *env, struct buf *to, struct err *err)
{
    if (check_setup_values(env, err))
        return -1;
    if (strcmp(form, "az") == 0)
        setup_az(env, to);
    else if (strcmp(form, "bicep") == 0)
        setup_bicep(env, to);
    else if (strcmp(form, "agent") == 0)
        setup_agent(env, to);
    else if (strcmp(form, "kql") == 0)
        azure_queries_print(to);
    else
        return err_set(err, ERR_USAGE, "azure-setup: expected " AZURE_SETUP_FORMS ", got \"%.40s\"", form);
    return to->failed ? err_memory(err, "the text") : 0;
}
