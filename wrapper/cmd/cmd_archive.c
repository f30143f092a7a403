/* cmd_archive.c: `benchwrap archive -- PROGRAM …`: the launcher itself runs such a line. Here are
 * its help, and the error where no program is given. */
#include "cmd/cmd.h"

static int archive_command(struct cmd_context *c)
{
    return err_set(c->err, ERR_USAGE, "no program given; write: benchwrap archive [OPTIONS] -- PROGRAM ARGUMENTS");
}

const struct cmd cmd_archive = {
    .name = "archive",
    .summary = "Record a job that is no benchmark: script, output, result",
    .usage = "[OPTIONS] -- PROGRAM [ARGUMENTS...]",
    .description =
        "Runs the program as `benchwrap -- PROGRAM` does (bytes, signals and exit status are passed on), but reads no metrics from its output. "
        "What belongs to the job is kept as artifacts job/ of the run: the batch script, the environment without secrets, standard output and error "
        "(head and tail of long ones), the result, and a manifest with sizes and SHA-256 sums. The options are those of `benchwrap -- PROGRAM`.\n"
        "\n"
        "With --archive DIR the same is written as DIR/USER/job_ID.sh, .env, .out, .err and .json (result and manifest), folders with mode 0700, files with 0600. "
        "Nothing is overwritten: tasks of arrays, restarts and steps have their own names, and where a file of the name exists, the run id is added.\n"
        "\n"
        "Runs inside it (`benchwrap -- ior` in the script) are recorded as always.",
    .examples =
        "$ benchwrap archive -- uname -a\n"
        "Keeps what uname wrote, and how it ended. As the last line of a batch script, \"exec benchwrap archive --archive ~/jobs -- ./steps.sh\" keeps the "
        "whole job.\n",
    .raw = true,
    .run = archive_command,
};
