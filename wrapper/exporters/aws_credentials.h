/* aws_credentials.h: keys of Amazon Web Services by the usual chain: environment, web identity, shared files, container, machine.
 * Keys are held in memory only. */
#ifndef EXPORTERS_AWS_CREDENTIALS_H
#define EXPORTERS_AWS_CREDENTIALS_H
#include "exporters/exporter.h"

#define AWS_KEY_PROFILE "profile"
#define AWS_KEY_ACCESS_KEY "access-key"
#define AWS_KEY_SECRET_KEY "secret-key"
#define AWS_KEY_SESSION_TOKEN "session-token"

#define AWS_CREDENTIAL_ROWS                                                                                                                \
    {.name = AWS_KEY_PROFILE,                                                                                                              \
     .kind = OPT_TEXT,                                                                                                                     \
     .arg = "NAME",                                                                                                                        \
     .help = "Use this profile of ~/.aws/credentials and ~/.aws/config (default: AWS_PROFILE, else default)",                              \
     .flags = OPT_FROM_FILE},                                                                                                              \
        {.name = AWS_KEY_ACCESS_KEY,                                                                                                       \
         .kind = OPT_TEXT,                                                                                                                 \
         .arg = "ID",                                                                                                                      \
         .help = "Use this access key, with secret-key",                                                                                   \
         .flags = OPT_FROM_FILE},                                                                                                          \
        {.name = AWS_KEY_SECRET_KEY,                                                                                                       \
         .kind = OPT_PAIR,                                                                                                                 \
         .arg = EXPORTER_SECRET_ARG,                                                                                                       \
         .help = "Read the secret of the access key there",                                                                                \
         .flags = OPT_FROM_FILE},                                                                                                          \
    {                                                                                                                                      \
        .name = AWS_KEY_SESSION_TOKEN, .kind = OPT_PAIR, .arg = EXPORTER_SECRET_ARG,                                                       \
        .help = "Read the session token of a temporary access key there", .flags = OPT_FROM_FILE                                           \
    }

struct aws_credentials {
    const char *key, *secret, *token; /* token: of a temporary key; NULL */
    const char *source; /* for people: "the environment" */
};

/* Checks these keys together. */
int aws_credentials_configure(const struct exporter_config *c, struct err *err);
/* Reads or requests the keys, into the link's arena. region: of the token service for a web identity.
 * SENT; LATER with err: there are none, or a service did not answer. */
enum exporter_answer aws_credentials_get(struct exporter_link *l, const char *region, struct aws_credentials *ret, struct err *err);
/* Overwrites the secrets in memory, and empties c. The arena still owns the texts. */
void aws_credentials_erase(struct aws_credentials *c);

/* aws_files.c: from a profile of the shared files, or from the program that it names. 0; 1: no
 * profile is named, and "default" is not there or has no keys; -1 with err: the files cannot be read, a named
 * profile is not there or has no keys, or a profile assumes a role or uses single sign-on. */
int aws_files_read(struct exporter_link *l, struct aws_credentials *ret, struct err *err);
/* Keys in the JSON that a container's or machine's service, or a program, returns. -1 with err. */
int aws_credentials_parse(struct exporter_link *l, struct str json, struct aws_credentials *ret, struct err *err);
#endif
