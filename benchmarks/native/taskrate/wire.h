/* wire.h: what a task reports of itself: the words on the stub's command line, and the record that
 * it writes or sends.
 *
 * The stub's first argument (no blanks, nothing that a shell would touch):
 *   s FD , TASK , NANOSECONDS               two stamps of CLOCK_MONOTONIC are written into file FD at byte 16 * TASK (the local provider)
 *   f TOKEN , TASK , NANOSECONDS , PATH     a record is appended to the file PATH
 *   u TOKEN , TASK , NANOSECONDS , PORT , ADDRESS[+ADDRESS…]    a record is sent to each of these in turn until one acknowledges it
 * (without the blanks). TOKEN is 16 hexadecimal digits; TASK a number, or @NAME+BASE: the number in the variable NAME plus BASE (- for minus);
 * NANOSECONDS is how long the task sleeps, or with a `b` behind it computes; ADDRESS is 8
 * hexadecimal digits, IPv4. Behind `--` may follow a
 * command that is run in between. Other arguments are ballast and ignored.
 *
 * An acknowledgement is the record's first 16 bytes. Numbers have the byte order of the task's
 * machine, which the magic shows. */
#ifndef TASKRATE_WIRE_H
#define TASKRATE_WIRE_H
#include <stdint.h>

enum { WIRE_MAGIC = 0x54525031, WIRE_HOST = 48 };

struct wire_stamps {
    int64_t start, end; /* first and last instruction, CLOCK_MONOTONIC, ns; 0: not written */
};

struct wire_record {
    uint32_t magic, task;
    uint64_t token;            /* of the batch: a packet with another one is foreign */
    int64_t start, end;        /* CLOCK_MONOTONIC of the task's machine, ns */
    int64_t wall_start, wall_end; /* CLOCK_REALTIME, ns since 1970 */
    uint32_t status;           /* exit status of the command; 128 + signal */
    uint32_t pid;
    uint32_t restarts;         /* how often the scheduler has started it before, by the environment */
    uint32_t reserved;
    char host[WIRE_HOST];      /* node name, ended by NUL */
};
_Static_assert(sizeof(struct wire_record) == 112, "the record has no padding");
#endif
