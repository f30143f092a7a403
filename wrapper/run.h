/* run.h: the story of one run, as the recorder tells it. */
#ifndef WRAPPER_RUN_H
#define WRAPPER_RUN_H
/* The recorder: started by the launcher with the descriptors of launch/wire.h. argv[0] is "--recorder", then the launcher's own arguments
 * (options, `--`, program …); env is the program's environment as the launcher found it. Returns the exit status. */
int run_record(int argc, char **argv, char **env);
#endif
