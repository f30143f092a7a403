/* id.c: ids of runs (random) and of experiments (made from the name), over libuuid. */
#include "mlruns-format/tree.h"

#include <stdio.h>
#include <uuid.h>

void record_new_id(char ret[33])
{
    uuid_t id;
    uuid_generate_random(id);
    for (int i = 0; i < 16; i++)
        snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

/* Writes the UUID version 5 of the name in the project's namespace. */
static void uuid_of_name(uuid_t ret, struct str name)
{
    uuid_t space;
    uuid_parse("6f1c9a52-7d0e-5b5e-9d0b-0b5f2a3c4d5e", space);
    uuid_generate_sha1(ret, space, name.p ? name.p : "", name.n);
}

void record_named_id(char ret[33], struct str name)
{
    uuid_t id;
    uuid_of_name(id, name);
    for (int i = 0; i < 16; i++)
        snprintf(ret + 2 * i, 3, "%02x", id[i]);
}

uint32_t tree_experiment_id(struct str name)
{
    uuid_t id;
    uuid_of_name(id, name);
    uint32_t u = (uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3];
    return 1 + u % 2147483646u;
}
