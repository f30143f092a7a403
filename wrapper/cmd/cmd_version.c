/* cmd_version.c: `benchwrap version`: versions of the program, the format and the libraries. */
#include "cmd/cmd.h"

static int run(struct cmd_context *c)
{
    fprintf(c->out, "benchwrap %s\n", BW_VERSION);
    return 0;
}

const struct cmd cmd_version = {
    .name = "version",
    .summary = "versions of the program, the format and the libraries",
    .usage = "",
    .run = run,
};
