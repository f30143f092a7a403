/* run.c: the story of one run, as the recorder tells it. */
#include "run.h"

int run_record(int argc, char **argv, char **env)
{
    (void)argc, (void)argv, (void)env;
    return 125; /* says to the launcher: not recorded */
}
