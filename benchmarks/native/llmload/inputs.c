/* inputs.c: the files that say what the load is, by their content; see inputs.h. */
#include "benchmarks/native/llmload/inputs.h"

#include <string.h>

enum { INPUTS_MAX = 8 }; /* more than there are options that name such a file */
static struct {
    const char *option;
    char hash[SHA256_HEX];
} inputs[INPUTS_MAX];

void inputs_note_hash(const char *option, const char *hash)
{
    size_t i = 0;
    while (i < INPUTS_MAX - 1 && inputs[i].option && strcmp(inputs[i].option, option) != 0)
        i++;
    inputs[i].option = option;
    memcpy(inputs[i].hash, hash, SHA256_HEX);
}

void inputs_note(const char *option, struct str content)
{
    char hash[SHA256_HEX];
    sha256_of(content.p ? content.p : "", content.n, hash);
    inputs_note_hash(option, hash);
}

void inputs_each(void (*each)(void *context, const char *option, const char *hash), void *context)
{
    for (size_t i = 0; i < INPUTS_MAX && inputs[i].option; i++)
        each(context, inputs[i].option, inputs[i].hash);
}
