/* services.c: any bytes as a service file: a recipe with this service is refused with a reason, or its point has commands. */
#include "base/fs.h"
#include "recipe/recipe_point.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char recipe[] = "version: 1\nname: r\nroles:\n  server: {service: x}\n  client: {command: [sh, -c, \"echo {server.url}\"]}\n";

static const char *services_folder(int *ret_dir)
{
    static char path[] = "/tmp/benchwrap-fuzz-services.XXXXXX";
    static int dir = -1;
    if (dir < 0 && mkdtemp(path) && (dir = open(path, O_RDONLY | O_DIRECTORY)) >= 0 && mkdirat(dir, "services", 0700))
        abort();
    *ret_dir = dir;
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct recipe r;
    struct recipe_point p;
    struct err err = {0};
    int dir;
    const struct recipe_places places = {{services_folder(&dir)}};
    if (fs_write(dir, "services/x.yaml", (struct str){size ? (const char *)data : "", size}, 0600, false, &err))
        abort();
    arena_init(&a, 256 << 20);
    if (recipe_read(&r, "recipe.yaml", STR(recipe), &places, NULL, &a, &err) == 0 && recipe_point_init(&p, &r, 0, NULL, NULL, &a, &err) == 0) {
        for (size_t k = 0; k < p.part_count; k++)
            if (!p.parts[k].endpoint && (!p.parts[k].process_count || !p.parts[k].processes[0].words[0]))
                abort();
    } else if (!err.text[0])
        abort();
    arena_deinit(&a);
    return 0;
}
