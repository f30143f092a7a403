/* repeat.h: several runs of a program: repetitions, warm-up, sweeps. The launcher becomes this process; it starts the launcher anew for each run. */
#ifndef REPEAT_REPEAT_H
#define REPEAT_REPEAT_H

/* argv: the launcher's own line with any argv[0]. Returns the exit status: that of the first run that did not end well (where it died of a signal, dies
 * of it too), 125 when the line is wrong, 3 with --gate when a verdict is not pass. */
int repeat_run(int argc, char **argv, char **env);
#endif
