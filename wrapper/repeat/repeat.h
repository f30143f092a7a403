/* repeat.h: run a program several times: repetitions, warm-up, sweeps. The launcher becomes this
 * process, which starts a launcher for each run. */
#ifndef REPEAT_REPEAT_H
#define REPEAT_REPEAT_H

/* Runs the repetitions and returns the exit status of the first run that failed (if a signal killed
 * it, dies of the same signal), 125 if the line is wrong, 3 with --gate if a verdict is not pass,
 * else 0. argv: the launcher's own line with any argv[0]. */
int repeat_run(int argc, char **argv, char **env);
#endif
