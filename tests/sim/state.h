/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state directories of brokers: the spool, and the notes of grants and of
 * raises, in real files. A kill leaves a directory as it is at that moment. One
 * that is lost, or put back to an older state, may be another broker's.
 */
#pragma once

#include "run.h"

/* Sets the paths of the machine's next broker, if brokers have directories. */
void state_set(struct machine *machine, struct broker *broker);

/* The broker is killed: what it still writes is not there for the next one. */
void state_crash(struct machine *machine);
