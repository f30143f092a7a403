/* service_token.h: the token that requests to a service carry. */
#ifndef RECIPE_SERVICE_TOKEN_H
#define RECIPE_SERVICE_TOKEN_H
#include "base/buf.h"

/* Appends the header "Authorization: Bearer TOKEN" of the token in this file. False: the file cannot be read, or belongs to another user. */
bool service_token_header(const char *file, struct buf *to);
#endif
