/* drain.h: carries the streams that background processes still hold after the program's end. */
#ifndef LAUNCH_DRAIN_H
#define LAUNCH_DRAIN_H
#include "launch/pump.h"

/* Starts a process that passes on whatever is still written to the open streams of `streams` (two of them), and ends with the last holder or with the
 * last reader. It has no other descriptors, no signal stops it, and no process waits for it. On success the streams are closed here and nothing counts as
 * lost. Returns its id; -1 with errno: no process could be made; the streams are as before. */
pid_t drain_start(struct pump_stream *streams);
#endif
