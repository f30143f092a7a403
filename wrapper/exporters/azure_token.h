/* azure_token.h: access tokens of Microsoft Entra ID for Azure Monitor: from a client secret, a client
 * certificate, a workload identity file, the machine's managed identity, az, or a secret of the configuration.
 * Tokens are held in memory only. */
#ifndef EXPORTERS_AZURE_TOKEN_H
#define EXPORTERS_AZURE_TOKEN_H
#include "exporters/exporter.h"

#define AZURE_KEY_CREDENTIAL "credential"
#define AZURE_KEY_CLOUD "cloud"
#define AZURE_KEY_TENANT "tenant"
#define AZURE_KEY_CLIENT "client"
#define AZURE_KEY_CLIENT_SECRET "client-secret"
#define AZURE_KEY_CLIENT_CERTIFICATE "client-certificate"
#define AZURE_KEY_FEDERATED_TOKEN "federated-token"
#define AZURE_KEY_IDENTITY "identity"

/* The rows of keys that these functions read, besides token, ca-file and timeout. */
#define AZURE_TOKEN_ROWS                                                                                                                                   \
    {.name = AZURE_KEY_CREDENTIAL, .kind = OPT_CHOICE, .arg = "auto|token|secret|certificate|workload|managed|az", .value = "auto", .help = "Get access tokens this way; auto chooses the first one of this order that is configured, by keys or by Azure's variables", .flags = OPT_FROM_FILE}, \
    {.name = AZURE_KEY_CLOUD, .kind = OPT_CHOICE, .arg = "auto|public|government|china", .value = "auto", .help = "Use this cloud; auto chooses by the endpoint", .flags = OPT_FROM_FILE}, \
    {.name = AZURE_KEY_TENANT, .kind = OPT_TEXT, .arg = "ID", .help = "Use this tenant (default: AZURE_TENANT_ID)", .flags = OPT_FROM_FILE}, \
    {.name = AZURE_KEY_CLIENT, .kind = OPT_TEXT, .arg = "ID", .help = "Use this application (default: AZURE_CLIENT_ID)", .flags = OPT_FROM_FILE}, \
    {.name = AZURE_KEY_CLIENT_SECRET, .kind = OPT_PAIR, .arg = EXPORTER_SECRET_ARG, .help = "Read the application's secret there (default: AZURE_CLIENT_SECRET)", .flags = OPT_FROM_FILE}, \
    {.name = AZURE_KEY_CLIENT_CERTIFICATE, .kind = OPT_TEXT, .arg = "PATH", .help = "Sign with this PEM file of certificate and RSA key, by openssl (default: AZURE_CLIENT_CERTIFICATE_PATH)", .flags = OPT_FROM_FILE}, \
    {.name = AZURE_KEY_FEDERATED_TOKEN, .kind = OPT_TEXT, .arg = "PATH", .help = "Use the workload identity of this file (default: AZURE_FEDERATED_TOKEN_FILE)", .flags = OPT_FROM_FILE}, \
    {.name = AZURE_KEY_IDENTITY, .kind = OPT_TEXT, .arg = "CLIENT-ID", .help = "Use this user-assigned managed identity (default: the system-assigned one)", .flags = OPT_FROM_FILE}, \
    {.name = EXPORTER_KEY_TOKEN, .kind = OPT_PAIR, .arg = EXPORTER_SECRET_ARG, .help = "Use this access token", .flags = OPT_FROM_FILE}

struct azure_token; /* in the link's arena */

/* Checks these keys together. */
int azure_token_configure(const struct exporter_config *c, struct err *err);
/* What tokens are for. */
enum azure_audience { AZURE_FOR_INGESTION, AZURE_FOR_QUERIES };
/* Chooses the source of tokens and requests none. endpoint names the cloud. -1 with err: what the source
 * needs is missing. The caller calls azure_token_close, also after a failure. */
int azure_token_open(struct exporter_link *l, const char *endpoint, enum azure_audience audience, struct azure_token **ret, struct err *err);
/* Returns a token that is valid for five more minutes, as far as its source knows. renew: the last one
 * was refused. SENT; LATER with err: none came now. The text is valid until the next call. */
enum exporter_answer azure_token_get(struct exporter_link *l, struct azure_token *t, bool renew, const char **ret, struct err *err);
/* Erases the secrets. NULL is allowed. */
void azure_token_close(struct azure_token *t);
/* The address of the cloud that queries go to. */
const char *azure_token_query_host(const struct azure_token *t);
/* What the tokens come from, for people: "a client secret". */
const char *azure_token_source(const struct azure_token *t);

/* azure_assertion.c: appends a signed statement that this is the application `client`: a JWT (PS256) for the
 * address `audience`, valid for ten minutes, by the certificate and RSA key of a PEM file, which is closed
 * to other users. openssl signs it. -1 with err. */
int azure_assertion_sign(struct exporter_link *l, const char *path, const char *client, const char *audience, struct buf *to, struct err *err);
#endif
