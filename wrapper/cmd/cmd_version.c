/* cmd_version.c: `benchwrap version`: versions of the program, the format and the libraries. */
#include "base/json_out.h"
#include "cmd/cmd.h"
#include "cmd/libraries.h"

static int version_command(struct cmd_context *c)
{
    struct library found[LIBRARIES_MAX];
    size_t n = libraries_list(found, c->arena);
    if (c->argc)
        return err_set(c->err, ERR_USAGE, "expected options only, got \"%s\"", c->argv[0]);
    if (!opt_on(&c->opts, OPTION_JSON)) {
        fprintf(c->out, "benchwrap %s\nformat %s\n", BW_VERSION, libraries_format());
        for (size_t i = 0; i < n; i++)
            fprintf(c->out, "%s %s (%s)\n", found[i].name, found[i].version, found[i].file);
        return 0;
    }
    CLEANUP_BUF struct buf b;
    buf_init(&b, 64 << 10);
    struct json_out j = {.to = &b};
    json_open(&j, NULL, '{');
    json_text(&j, "benchwrap", BW_VERSION);
    json_text(&j, "format", libraries_format());
    json_open(&j, "libraries", '{');
    for (size_t i = 0; i < n; i++) {
        json_open(&j, found[i].name, '{');
        json_text(&j, "version", found[i].version);
        json_text(&j, "file", found[i].file);
        json_close(&j, '}');
    }
    json_close(&j, '}');
    json_close(&j, '}');
    fwrite(b.p ? b.p : "", 1, b.n, c->out);
    return 0;
}

static const struct opt_row rows[] = {CMD_ROW_JSON};

const struct cmd cmd_version = {
    .name = "version",
    .summary = "Print the version and its libraries",
    .usage = "[--json]",
    .rows = rows,
    .count = sizeof rows / sizeof rows[0],
    .description =
        "Prints the version of the program, of the record's format, and of each library as it is loaded, with the file it was loaded from.",
    .examples = "$ benchwrap version\nEverything, a line each.\n",
    .run = version_command,
};
