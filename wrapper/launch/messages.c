/* messages.c: handles what the recorder reports, and waits for the messages on which the program's
 * start depends. */
#include "launch/messages.h"

#include "base/clock.h"
#include "launch/launcher.h"
#include "launch/say.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

void messages_note_end(struct launch *l)
{
    int exit = l->recorder.exit;
    if (l->recorder.done || !l->recorded || l->reported)
        return;
    if (!l->helpless && !l->ended)
        signals_start_observer(&l->signals);
    l->helpless = true;
    if (l->recorder.pid > 0)
        return;
    l->reported = true;
    say_line(
        &l->out[1],
        "the recorder ended early (%s %d); the program is not affected, what was recorded is kept: \"benchwrap sync --local\" finishes it",
        WIFSIGNALED(exit) ? "signal" : "exit status", WIFSIGNALED(exit) ? WTERMSIG(exit) : WEXITSTATUS(exit));
}

void messages_receive(struct launch *l)
{
    struct wire_msg msg;
    int rc;
    while ((rc = recorder_receive(&l->recorder, &msg)) > 0) {
        if (msg.kind == WIRE_NOTE || (msg.kind == WIRE_REFUSE && l->pid))
            say_line(&l->out[1], "%s", msg.text);
        else if (msg.kind == WIRE_REFUSE)
            memcpy(l->recorder.summary, msg.text, sizeof msg.text);
    }
    if (rc < 0)
        messages_note_end(l);
}

/* Receives the recorder's messages until one has set *is_done, or for ns nanoseconds. */
static void messages_receive_until(struct launch *l, const bool *is_done, int64_t ns)
{
    int64_t until = clock_mono_ns() + ns;
    for (int64_t now = clock_mono_ns(); l->recorder.alive && !*is_done && !l->recorder.refused && now < until; now = clock_mono_ns()) {
        struct pollfd p = {.fd = l->recorder.socket, .events = POLLIN};
        if (poll(&p, 1, (int)((until - now + 999999) / 1000000)) < 0 && errno != EINTR)
            break;
        messages_receive(l);
    }
}

bool messages_wait_ready(struct launch *l)
{
    const bool *checked = l->options.strict ? &l->recorder.ready : &l->recorder.accepted;
    messages_receive_until(l, &l->recorder.ready,
                           (int64_t)(l->options.probe_wait * 1e9) + (l->options.share_run ? RECORDER_SHARE_WAIT_MS * 1000000LL : 0));
    if (l->options.accept_wait)
        messages_receive_until(l, checked, RECORDER_ACCEPT_WAIT_MS * 1000000LL);
    return l->recorder.alive;
}

void messages_wait_profiler(struct launch *l)
{
    const struct wire_msg held = {.kind = WIRE_HELD, .pid = l->pid};
    if (l->recorded && l->options.profile_code && recorder_send(&l->recorder, &held))
        messages_receive_until(l, &l->recorder.attached, RECORDER_ATTACH_WAIT_MS * 1000000LL);
}
