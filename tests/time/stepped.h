/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seqbrokerd whose wall clock is stepped under it by libfaketime; its other
 * clocks run as they do. The difference to the real clock is kept here, so that
 * what it reads is known. What must not fail fails the test; for its main
 * thread alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STEPPED_PATH_SIZE 96

struct stepped {
    char folder[64];
    char clock[STEPPED_PATH_SIZE]; /* the file that libfaketime reads */
    char topology[STEPPED_PATH_SIZE];
    char state[STEPPED_PATH_SIZE];
    char socket[STEPPED_PATH_SIZE];
    char log[STEPPED_PATH_SIZE]; /* of the last start */
    char said[1024];             /* by a start that was refused */
    pid_t pid;                   /* 0: does not run */
    int64_t offset_ms;           /* what its clock is ahead */
};

/* Makes the folder; writes the topology. Skips the test where libfaketime is
 * not installed, or fails it if the environment variable CI is set. */
void stepped_init(struct stepped *stepped, const char *topology);

/* Kills what runs, and removes the folder. */
void stepped_fini(struct stepped *stepped);

/* From now on. */
void stepped_set(struct stepped *stepped, int64_t offset_ms);

/* True: it serves. False: it has ended, saying that its clock is wrong. */
bool stepped_start(struct stepped *stepped);

/* SIGTERM, after which it has to end with 0, or SIGKILL. */
void stepped_stop(struct stepped *stepped, int signal);

/* The real clock, ms since 1970. */
int64_t real_now_ms(void);
