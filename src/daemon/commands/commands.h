/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands: what COMMAND reports about each, and the function that
 * executes it. A function is called only with as many arguments as its row
 * says. The front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

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
    COMMAND_WAITS, /* in a waitlist, or for a blocking call or a login; to be
                      executed again */
    COMMAND_YIELDS /* has used up its turn; to be executed again */
};

#define COMMAND_NAME_SIZE 32 /* bytes, for the longest name */

typedef enum command_outcome
command_function(struct session *session, const struct resp_request *request);

struct command {
    const char *name; /* upper case */
    int arity;      /* words including the name; negative: at least that many */
    bool takes_key; /* as its second word */
    enum right needs;
    const char *flag; /* Redis's name of the flag: "write", ... */
    const char *group;
    command_function *run;
    const char *summary;
};

/* Executes a request of at least one word. */
command_function command_run;

/* The command of that name, ignoring case; NULL if there is none. */
const struct command *command_find(struct resp_slice name);

/* The i-th command; NULL past the last one. */
const struct command *command_at(size_t i);

/* Of batch.c: frees what a session keeps for a command in progress. NULL is
 * allowed. */
void batch_free(struct batch *batch);

/* Of listing.c: the same for a long answer. NULL is allowed. */
void listing_free(struct listing *listing);

#define LISTING_PATTERN_SIZE 256

struct listing {
    size_t at; /* the row that is read or written next */
    size_t count;
    bool has_end;
    /* For SEQ.STATUS: where to look for the next sequence that is not
     * removed. */
    size_t sequence;
    /* For SEQ.SHOW CONFIG, whose rows are groups of settings. */
    size_t left;     /* settings that were counted but not written yet */
    size_t skipped;  /* settings of sequences that nobody asked for */
    bool is_counted; /* all settings are counted */
    char pattern[LISTING_PATTERN_SIZE];
    /* For SEQ.SHOW EVENTS: the numbers of the line that was read last, and of
     * the last one to be read. */
    uint64_t line, last_line;
    /* For lists of connections. */
    LIST_ENTRY(listing) walk;   /* in the daemon's walks, if is_walk */
    const struct session *next; /* the connection to look at next, or NULL */
    int64_t last_id;            /* those that connect later are not listed */
    int64_t total;              /* connections; 0: all are listed */
    /* For lists whose rows are collected, since their number comes first. */
    struct buffer text;
    size_t text_size; /* bytes of memory that the text is counted with */
    bool is_walk;
};

/* A long answer that is written in parts, so that other clients get their turns
 * in between, and this client can read. */
struct listing_rows {
    void (*write)(struct session *session, size_t at); /* writes row `at` */
    void (*end)(struct session *session); /* writes what follows, or NULL */
};

/* Begins the listing of a session that has none. The command then writes what
 * precedes the `count` rows. `has_end`: rows.end is to be called. False if
 * memory is short: the session ends. */
bool listing_begin(struct session *session, size_t count, bool has_end);

/* Whether the listing may continue in this turn of the loop. */
bool listing_may_go_on(const struct session *session);

/* Charges a row that was read or written to the session's turn. */
void listing_row(struct session *session);

/* Frees the session's listing, after its last row. */
void listing_end(struct session *session);

/* Writes as many rows as fit into this turn. The command is executed again
 * until all rows are written. */
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
/* Logs the session in as that user, or as "default" if `name` is NULL.
 * `*is_well` is true if it succeeded. Otherwise the error is answered, or the
 * command waits and is executed again. The secret is overwritten in the
 * request. */
enum command_outcome session_log_in(struct session *session,
                                    const struct resp_slice *name,
                                    struct resp_slice secret, bool *is_well);

/* Overwrites a secret in the connection's input, which is kept until the
 * command is done. The request keeps its length when it is parsed again. */
void secret_blank(struct resp_slice secret);

/* Overwrites the words from number `first` on, because a request that cannot be
 * parsed may have a secret anywhere. */
void words_blank(const struct resp_request *request, size_t first);

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
/* Sets the session's name. False after answering the error. */
bool client_rename(struct session *session, struct resp_slice name);

/* Fills `out` for a connection. Its texts point into the session or into
 * `texts`. */
struct client_texts {
    char address[160];
    char user[IDENTITY_NAME_SIZE];
    char library[160];
    char command[COMMAND_NAME_SIZE];
};

void client_describe(const struct session *session, struct client_texts *texts,
                     struct status_client *out);

/* --- client_walk.c: lists of connections, in turns --- */

/* Connections in one answer, at most, since the answer is held in memory. */
#define CLIENTS_LISTED_MAX 1000

/* Adds a connection to session->listing->text. False if it is not to be
 * listed. */
typedef bool client_row(struct session *session, const struct session *client,
                        const void *context);

/* Begins the session's walk through all connections (`is_whole`), or through
 * the newest CLIENTS_LISTED_MAX of them. `rows` is how many it will list at
 * most. False after answering that clients hold too much memory. */
bool client_walk_begin(struct session *session, bool is_whole, int64_t rows);

/* Walks on for as long as the session's turn allows. COMMAND_DONE: the text is
 * complete, and listing->at is the number of its rows. The caller answers, and
 * calls listing_end. */
enum command_outcome client_walk_run(struct session *session, client_row *row,
                                     const void *context);

/* The connection ends: no walk may look at it any more. */
void client_walks_leave(struct daemon *daemon, const struct session *session);

/* show.c */
command_function command_show;

/* Of status.c: writes a struct as a map. The caller then writes `more` further
 * pairs of it. */
void write_fields(struct buffer *out, bool is_resp3, enum status_of of,
                  const void *status, size_t more);

/* The same, as the session's reply. */
void reply_fields(struct session *session, enum status_of of,
                  const void *status, size_t more);

/* Of show.c: reads the daemon's counters. */
void stats_read(const struct daemon *daemon, struct status_stats *out);

/* Of show.c: describes a quota. The texts stay the quota's. */
void limit_read(const struct quota *quota, struct status_limit *out);

/* Of status.c: a copy of all partitions, lessors or sequences, to be freed with
 * free(); NULL if memory is short, but not if there are none. Any thread. */
void *status_copy(struct seqb_broker *broker, enum status_of of, size_t *count);
