/* azure_setup.h: what Azure Monitor needs for the exporter azure and for logs, as text for people and their shell. */
#ifndef EXPORTERS_AZURE_SETUP_H
#define EXPORTERS_AZURE_SETUP_H
#include "base/buf.h"
#include "base/err.h"

#define AZURE_SETUP_FORMS "az, bicep, agent or kql"

/* Appends the text of a form: az: a shell script that makes workspace, tables, endpoint, rules and role, and
 * prints their ids; bicep: the same as a template; agent: a script that makes rules for the agent of Azure
 * and binds them to machines; kql: queries. Names come from RESOURCE_GROUP, WORKSPACE_NAME, REGION,
 * SUBSCRIPTION_ID, VM_ID, VMSS_ID and PRINCIPAL_ID of env, where they are set.
 * -1 with ERR_USAGE: no form has the name; ERR_INPUT: a variable has a character that Azure's names lack. */
int azure_setup_print(const char *form, char *const *env, struct buf *to, struct err *err);
/* azure_queries.c */
void azure_queries_print(struct buf *to);
#endif
