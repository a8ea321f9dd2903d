/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of a MySQL or MariaDB server that decide whether it may serve,
 * and which of them lose commits: one list for the check at open and for the
 * SQL of later statements. server.h asks the server.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MYSQL_SETTING_SIZE 256

/* A server answers those that it has. */
enum mysql_setting {
    SETTING_VERSION,
    SETTING_HOSTNAME,
    SETTING_PORT,
    SETTING_READ_ONLY,
    SETTING_SUPER_READ_ONLY,
    SETTING_INNODB_READ_ONLY,
    SETTING_LOG_BIN,
    SETTING_FLUSH_LOG,
    SETTING_FLUSH_METHOD,
    SETTING_REDO_LOG, /* a status variable, of MySQL from 8.0.21 on */
    SETTING_SYNC_BINLOG,
    SETTING_BINLOG_FORMAT,
    SETTING_WSREP_ON,
    SETTING_SINGLE_PRIMARY, /* of MySQL's group replication */
    SETTING_NO_OPERATIONS,  /* of TiDB */
    SETTING_SHARED_LOCKS,   /* of TiDB, from 8.3 on */
    SETTING_COUNT
};

extern const char *const mysql_setting_names[SETTING_COUNT];

struct mysql_settings {
    bool is_cluster; /* a node of Galera, used as such */
    char value[SETTING_COUNT][MYSQL_SETTING_SIZE]; /* "": does not have it */
};

bool mysql_setting_is_off(const char *value);

/* Whether LOCK IN SHARE MODE locks the rows that it reads. TiDB, by its
 * documentation, accepts it and locks nothing unless it is configured to. */
bool mysql_shared_locks(const struct mysql_settings *settings);

/* Lists all settings that lose commits; "" if none does. */
void mysql_loss_find(const struct mysql_settings *settings, char *out,
                     size_t size);

/* Adds to SQL that is true while the server may grant, the terms " AND ..." of
 * the settings that can change while the server runs. False if `out` is too
 * small. */
bool mysql_serves_add(const struct mysql_settings *settings, char *out,
                      size_t size);

/* Adds to the arguments of CONCAT_WS an expression for each of these settings:
 * as mysql_loss_find names it, NULL if it is safe. */
bool mysql_closed_add(const struct mysql_settings *settings, char *out,
                      size_t size);
