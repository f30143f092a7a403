/* parse.h: parsers of untrusted text that probes read: pure functions, fuzzed. */
#ifndef PROBES_PARSE_H
#define PROBES_PARSE_H
#include "base/str.h"

#include <stdbool.h>

/* Copies the value of KEY=value in an os-release file, without shell quotes and backslashes. Returns
 * false without such a key, or where the value does not fit. */
bool parse_os_release(struct str text, const char *key, char *ret, size_t size);

/* One line of /proc/self/mountinfo. The texts point into the line; paths are still escaped (\040). */
struct mount_line {
    struct str root, point, type, source, options, super_options;
};
/* Returns false where the line lacks a field. */
bool parse_mount_line(struct str line, struct mount_line *ret);
/* Undoes the \ooo escapes of mountinfo. Returns false if the path does not fit or has a NUL. */
bool parse_mount_path(struct str escaped, char *ret, size_t size);

/* The first processor's block of /proc/cpuinfo: the fields that
 * distinguish models, on any architecture. */
struct cpuinfo {
    char vendor[64], model[192], family[32], model_id[32], stepping[32], microcode[64], features[3072], machine[128];
    bool hypervisor;
};
/* Fills *ret; a field that the text lacks is "". */
void parse_cpuinfo(struct str text, struct cpuinfo *ret);

/* Returns the word in brackets of "always [madvise] never"; the complete text if there is none. */
struct str parse_sysfs_choice(struct str text);

/* Returns the last value of SlurmdSpoolDir in slurm.conf(5); "#" begins a comment, names are in any
 * case. n == 0: the file has none. */
struct str parse_slurm_spool(struct str conf);
#endif
