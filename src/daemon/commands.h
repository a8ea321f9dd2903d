/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands as a table: what COMMAND tells of them, and the functions that
 * carry them out. A function finds as many arguments as its row says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/resp.h"

struct buffer;
struct session;

enum command_outcome {
    COMMAND_DONE,  /* answered */
    COMMAND_WAITS, /* in a lane's line; to be executed again */
    COMMAND_YIELDS /* has used up its turn; to be executed again */
};

#define COMMAND_NAME_SIZE 32 /* bytes that hold the longest name */

struct command {
    const char *name; /* upper case */
    int arity;        /* words, the name among them; negative: at least */
    bool takes_key;   /* as its second word */
    const char *flag; /* as Redis names them: "write", ... */
    const char *group;
    enum command_outcome (*run)(struct session *session,
                                const struct resp_request *request);
    const char *summary;
};

/* Executes a request of at least one word. */
enum command_outcome command_run(struct session *session,
                                 const struct resp_request *request);

/* The command of that name, letter case aside, or NULL. */
const struct command *command_find(struct resp_slice name);

/* The i-th command, NULL past the last. */
const struct command *command_at(size_t i);

/* COMMAND itself */
enum command_outcome command_command(struct session *session,
                                     const struct resp_request *request);

/* numbers.c */
enum command_outcome command_incr(struct session *session,
                                  const struct resp_request *request);
enum command_outcome command_incrby(struct session *session,
                                    const struct resp_request *request);
enum command_outcome command_next(struct session *session,
                                  const struct resp_request *request);

/* texts.c */
enum command_outcome command_number(struct session *session,
                                    const struct resp_request *request);

/* decode.c */
enum command_outcome command_decode(struct session *session,
                                    const struct resp_request *request);

/* parse.c */
enum command_outcome command_parse(struct session *session,
                                   const struct resp_request *request);

/* status.c */
enum command_outcome command_status(struct session *session,
                                    const struct resp_request *request);
enum command_outcome command_info(struct session *session,
                                  const struct resp_request *request);
enum command_outcome command_dbsize(struct session *session,
                                    const struct resp_request *request);
struct seqb_broker;
struct seqb_partition_status;
/* Every partition, to be freed; NULL if memory is short. */
struct seqb_partition_status *partitions_copy(struct seqb_broker *broker,
                                              size_t *count);

/* workers.c */
enum command_outcome command_workers(struct session *session,
                                     const struct resp_request *request);

/* operate.c */
enum command_outcome command_partition(struct session *session,
                                       const struct resp_request *request);
enum command_outcome command_health(struct session *session,
                                    const struct resp_request *request);
enum command_outcome command_drain(struct session *session,
                                   const struct resp_request *request);
enum command_outcome command_advance(struct session *session,
                                     const struct resp_request *request);

/* greeting.c */
enum command_outcome command_ping(struct session *session,
                                  const struct resp_request *request);
enum command_outcome command_echo(struct session *session,
                                  const struct resp_request *request);
enum command_outcome command_quit(struct session *session,
                                  const struct resp_request *request);
enum command_outcome command_reset(struct session *session,
                                   const struct resp_request *request);
enum command_outcome command_hello(struct session *session,
                                   const struct resp_request *request);
enum command_outcome command_auth(struct session *session,
                                  const struct resp_request *request);
enum command_outcome command_select(struct session *session,
                                    const struct resp_request *request);
enum command_outcome command_config(struct session *session,
                                    const struct resp_request *request);

/* client.c */
enum command_outcome command_client(struct session *session,
                                    const struct resp_request *request);
/* False after answering the error. */
bool client_rename(struct session *session, struct resp_slice name);

/* manual.c: what COMMAND tells of one row */
void reply_command_name(struct buffer *out, const struct command *command);
void reply_command_info(struct buffer *out, const struct command *command,
                        bool is_resp3);
void reply_command_docs(struct buffer *out, const struct command *command,
                        bool is_resp3);
/* Writes a command's name in lower case, as Redis does. */
void command_name(const struct command *command, char out[COMMAND_NAME_SIZE]);
