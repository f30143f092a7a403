/* stream.h: the mark in a published stdout.log or stderr.log in place of bytes that are not stored
 * (--log-max). */
#ifndef MLRUNS_FORMAT_STREAM_H
#define MLRUNS_FORMAT_STREAM_H
#include <inttypes.h>
#include <stdio.h>

enum { STREAM_CUT_BYTES = 120 };
/* Writes the line between head and tail; tag benchwrap.stdout_cut_B (stderr_cut_B) has the same
 * number. */
static inline size_t stream_cut_line(char ret[STREAM_CUT_BYTES], uint64_t bytes)
{
    return (size_t)snprintf(ret, STREAM_CUT_BYTES, "\n[benchwrap: %" PRIu64 " bytes of this stream are not kept here, see --log-max]\n", bytes);
}
#endif
