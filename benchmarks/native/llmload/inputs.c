/* inputs.c: the files that define the load, by their content; see inputs.h. */
#include "benchmarks/native/llmload/inputs.h"

#include <string.h>

void inputs_note_hash(struct input_hashes *to, const char *option, const char *hash)
{
    size_t i = 0;
    if (!to)
        return;
    while (i < INPUTS_MAX - 1 && to->file[i].option && strcmp(to->file[i].option, option) != 0)
        i++;
    to->file[i].option = option;
    memcpy(to->file[i].hash, hash, SHA256_HEX);
}

void inputs_note(struct input_hashes *to, const char *option, struct str content)
{
    char hash[SHA256_HEX];
    sha256_of(content.p ? content.p : "", content.n, hash);
    inputs_note_hash(to, option, hash);
}

void inputs_each(const struct input_hashes *of, void (*each)(void *context, const char *option, const char *hash), void *context)
{
    for (size_t i = 0; of && i < INPUTS_MAX && of->file[i].option; i++)
        each(context, of->file[i].option, of->file[i].hash);
}
