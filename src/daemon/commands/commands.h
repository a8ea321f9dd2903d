/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands as a table: what COMMAND tells of them, and the functions that
 * carry them out. A function finds as many arguments as its row says. The front
 * header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/access/access.h"
#include "daemon/wire/wire.h"
#include "status/status.h"

struct batch;
struct listing;
struct daemon;
struct seqb_broker;
struct session;

enum command_outcome {
    COMMAND_DONE,  /* answered */
    COMMAND_WAITS, /* in a waitlist's line; to be executed again */
    COMMAND_YIELDS /* has used up its turn; to be executed again */
};

#define COMMAND_NAME_SIZE 32 /* bytes that hold the longest name */

typedef enum command_outcome
command_function(struct session *session, const struct resp_request *request);

struct command {
    const char *name; /* upper case */
    int arity;        /* words, the name among them; negative: at least */
    bool takes_key;   /* as its second word */
    enum right needs;
    const char *flag; /* as Redis names them: "write", ... */
    const char *group;
    command_function *run;
    const char *summary;
};

/* Executes a request of at least one word. */
command_function command_run;

/* The command of that name, letter case aside, or NULL. */
const struct command *command_find(struct resp_slice name);

/* The i-th command, NULL past the last. */
const struct command *command_at(size_t i);

/* Of batch.c: what a session keeps of a command under way. Takes NULL. */
void batch_free(struct batch *batch);

/* Of listing.c: the same of a long answer. Takes NULL. */
void listing_free(struct listing *listing);

#define LISTING_PATTERN_SIZE 256

struct listing {
    size_t at; /* row */
    size_t count;
    bool has_end;
    /* Of SEQ.SHOW CONFIG, whose rows are groups of settings. */
    size_t left;     /* settings that were counted, and are not written yet */
    bool is_counted; /* all are */
    char pattern[LISTING_PATTERN_SIZE];
};

/* A long answer, which is written in pieces: between them others have their
 * turn, and the client reads. */
struct listing_rows {
    void (*write)(struct session *session, size_t at); /* one row */
    void (*end)(struct session *session); /* what stands behind them, or NULL */
};

/* For a command whose session has no listing yet: it writes what stands before
 * `count` rows. `has_end`: rows.end is to be called. False: memory is short,
 * and the session ends. */
bool listing_begin(struct session *session, size_t count, bool has_end);

/* Whether it may go on in this turn. */
bool listing_may_go_on(const struct session *session);

/* A row was read or written: it has its share of the turn. */
void listing_row(struct session *session);

/* Writes what fits into this turn. The command is executed again until all is
 * written. */
enum command_outcome listing_run(struct session *session,
                                 const struct listing_rows *rows);

/* --- the functions of the rows, by file --- */

/* numbers.c */
command_function command_incr;
command_function command_incrby;
command_function command_next;
command_function command_number;

/* decode.c */
command_function command_decode;
command_function command_parse;

/* status.c */
command_function command_status;
command_function command_info;
command_function command_dbsize;
command_function command_workers;

/* operate.c */
command_function command_partition;
command_function command_health;
command_function command_drain;
command_function command_advance;
command_function command_reload;

/* login.c */
command_function command_auth;
/* Logs the session in by that user, "default" if `name` is NULL. `*is_well`
 * says whether it is; if not, the error is answered, or the command waits and
 * is executed again. The secret is overwritten where it stands in the request.
 */
enum command_outcome session_log_in(struct session *session,
                                    const struct resp_slice *name,
                                    struct resp_slice secret, bool *is_well);

/* connection_commands.c */
command_function command_ping;
command_function command_echo;
command_function command_quit;
command_function command_reset;
command_function command_hello;
command_function command_select;
command_function command_config;

/* client.c */
command_function command_client;
/* False after answering the error. */
bool client_rename(struct session *session, struct resp_slice name);

/* What is told of a connection; its texts are the session's or in `texts`. */
struct client_texts {
    char address[160];
    char library[160];
    char command[COMMAND_NAME_SIZE];
};

void client_describe(const struct session *session, struct client_texts *texts,
                     struct status_client *out);

/* Connections in one answer: the loop rests while it is written. */
#define CLIENTS_LISTED_MAX 1000

/* The first connection to be listed: those that connected last are, if there
 * are too many. */
const struct session *client_list_begin(const struct daemon *daemon);

/* show.c */
command_function command_show;

/* Of status.c: a struct as a map. The caller replies `more` pairs of it, behind
 * these. */
void reply_fields(struct session *session, enum status_of of,
                  const void *status, size_t more);

/* Of show.c: what the daemon counted. */
void stats_read(const struct daemon *daemon, struct status_stats *out);

/* Of show.c: what a quota says; the texts are the quota's. */
void limit_read(const struct quota *quota, struct status_limit *out);

/* Of status.c: all partitions, lessors or sequences, to be freed; NULL if there
 * are none or memory is short. On any thread. */
void *status_copy(struct seqb_broker *broker, enum status_of of, size_t *count);
