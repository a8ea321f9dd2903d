/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of events: the lines of the log as server-sent events, those that are
 * kept first, then each as it comes. A stream holds no line: it reads the log
 * when its socket has taken what it sent before. The front header of this
 * folder.
 */
#pragma once

struct event_base;
struct streams;

/* Without any stream. NULL if memory or descriptors are short. */
struct streams *streams_open(struct event_base *base);

/* Its streams must be aborted. Takes NULL. */
void streams_close(struct streams *streams);
