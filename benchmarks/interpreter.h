/* interpreter.h: the script that an interpreter runs: `python3 -u sort.py`, `python3 -m pyperf`, `java -jar benchmarks.jar`. */
#ifndef BENCHMARKS_INTERPRETER_H
#define BENCHMARKS_INTERPRETER_H

/* Returns the program's words, its name first: behind an interpreter and its options, those of the script,
 * module or class; else argv. argv: NULL at the end. Points into argv. */
char *const *interpreter_script(char *const *argv);
/* Returns the name by which rules may know the program: the script's or the program's base name; a module's
 * name unchanged. argv: not empty. Points into argv. */
const char *interpreter_name(char *const *argv);
#endif
