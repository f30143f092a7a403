/* send.h: the process that sends one run to the MLflow server: `benchwrap-core --send live|create|finish|fetch|discard …`, started by the recorder.
 *
 * live     while the program runs: makes the run on the server and follows the journal. Lowest priority, outside the program's processors where
 *          there are others, in a session of its own. It may be killed at any time: finish checks
 *          what the server has.
 * create   --share-run: the run is made before the program starts, then as live.
 * finish   the run is in the tree: what the server lacks is sent, status and end time last.
 * fetch    --share-run: the program has ended; what its own client logged on the server comes into the spool (server_run is the run's id).
 * discard  the program could not be started: a run made for it is deleted again (server_run is its id).
 * It reports to the recorder by messages on descriptor SEND_LINE_FD. A live one that finds the recorder dead closes the run and finishes it. */
#ifndef WRAPPER_SEND_H
#define WRAPPER_SEND_H
#include <stdint.h>
#include <sys/types.h>

enum { SEND_LINE_FD = 3, SEND_ID_MAX = 65, SEND_URL_MAX = 1000, SEND_TEXT_MAX = 1024, SEND_ALONE_S = 30 /* of a finish without a waiter */ };
enum send_mode { SEND_LIVE, SEND_CREATE, SEND_FINISH, SEND_FETCH, SEND_DISCARD };
enum send_kind {
    SEND_PLACE = 1, /* the run is there: id, experiment, url */
    SEND_NOTE,      /* text: a message for the user */
    SEND_TROUBLE,   /* text: why sending fails now */
    SEND_DONE,      /* of finish: the server has the complete run */
    SEND_ASKING,    /* it sends the first request */
    SEND_REPLY      /* the server has answered a request, also with an error */
};
struct send_msg {
    uint32_t kind;
    char id[SEND_ID_MAX], experiment[SEND_ID_MAX]; /* the server's */
    char url[SEND_URL_MAX]; /* of the run's page; "": too long */
    char text[SEND_TEXT_MAX];
};
struct send_job {
    enum send_mode mode;
    const char *root, *name;  /* the spool's folder, the run's directory in it */
    const char *state;        /* folder for the notes of what was sent */
    const char *server_run;   /* an existing run on the server to append to; NULL: none */
    double patience_s;        /* no attempt begins later than this after the first */
};

/* Returns the command line of a job in `a`, argv[0] included. NULL: out of memory. The server's
 * address goes by MLFLOW_TRACKING_URI. */
struct arena;
char **send_line(const struct send_job *job, struct arena *a);
/* Runs the sender until the process ends. Its arguments are all that follow "--send" in argv[0]. */
int send_main(int argc, char **argv, char **env);
/* Sets the lowest priority, and leaves the processors that `program` (0: the caller) may use, where
 * there are others. */
void send_stand_back(pid_t program);
#endif
