/* run.h: the recorder: the process that runs next to a wrapped program and writes its record. */
#ifndef WRAPPER_RUN_H
#define WRAPPER_RUN_H

/* Records one run. Descriptors WIRE_SOCKET_FD, WIRE_MEMORY_FD (and WIRE_LOG_FD) come from the launcher; argv is the launcher's own
 * command line (argv[0] any, then options, --, program), env its environment. Returns the process's exit status: 0 recorded, 1 not. */
int run_record(int argc, char **argv, char **env);
#endif
