/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two servers of window.pml: what src/backends/redis/redis.lua does in one step,
 * and what becomes of a server and its data. Who asks, and when what happens,
 * is in window.pml.
 */

typedef store {
    bool is_master;
    byte run_id;
    byte repl_id;   /* master_replid; a replica has its master's */
    byte w;         /* the cell: its window, 0 if there is no cell, */
    byte v;         /* how many offsets are used, */
    byte cell_run;  /* and the origin that it counts in */
    byte cell_repl;
    byte history;   /* what I3 is about: changes whenever the data may have;
                       0 for a replica, whose data come and go */
};
store server[2];
#define other(s) (1 - (s))
byte fresh = 2; /* the last name given to a run, a replication, a history */

#ifdef NO_ORIGIN
#define NO_RUN_ID
#define NO_REPLID
#endif
#ifdef NO_RUN_ID
#define is_same_run(s) true
#else
#define is_same_run(s) (server[s].cell_run == server[s].run_id)
#endif
#ifdef NO_REPLID
#define is_same_repl(s) true
#else
#define is_same_repl(s) (server[s].cell_repl == server[s].repl_id)
#endif
#ifdef NO_ROLE
#define may_serve(s) true
#else
#define may_serve(s) server[s].is_master
#endif
#ifdef NO_SIZE
#define has_room(s) (server[s].v <= SIZE) /* by one too many */
#else
#define has_room(s) (server[s].v < SIZE)
#endif
#ifdef NO_BELOW
#define is_above(s, window) true
#else
#define is_above(s, window) (server[s].w < window)
#endif
#define is_bound(s) (server[s].w != 0 && is_same_run(s) && is_same_repl(s))

/* A reply; every step that has one forgets it, so that states do not differ by
 * what nobody reads. */
mtype = {NOTMASTER, FENCED, EXHAUSTED, OK};
mtype status;
byte reply_w;
byte reply_v;

inline reply_forget()
{
    status = 0;
    reply_w = 0;
    reply_v = 0
}

/* Never creates a cell. */
inline store_alloc(s)
{
    reply_w = server[s].w;
    if
    :: !may_serve(s) -> status = NOTMASTER
    :: may_serve(s) && !is_bound(s) -> status = FENCED
    :: may_serve(s) && is_bound(s) && !has_room(s) -> status = EXHAUSTED
    :: may_serve(s) && is_bound(s) && has_room(s) -> store_add(s)
    fi
}

inline store_add(s)
{
    /* I3 without a word of origins: a window counts in one history only. */
    invariant(born[server[s].w] == server[s].history);
    status = OK;
    reply_w = server[s].w;
    reply_v = server[s].v;
    server[s].v++
}

inline store_install(s, window)
{
    if
    :: !may_serve(s) -> status = NOTMASTER
    :: may_serve(s) && is_bound(s) && has_room(s) ->
        status = OK /* another broker was faster; this window is lost */
    :: may_serve(s) && !(is_bound(s) && has_room(s)) && !is_above(s, window) ->
        status = FENCED
    :: may_serve(s) && !(is_bound(s) && has_room(s)) && is_above(s, window) ->
        status = OK;
        server[s].w = window;
        server[s].v = 0;
        server[s].cell_run = server[s].run_id;
        server[s].cell_repl = server[s].repl_id;
        remember(born[window] = server[s].history)
    fi
}

inline cell_forget(s)
{
    server[s].w = 0;
    server[s].v = 0;
    server[s].cell_run = 0;
    server[s].cell_repl = 0
}

inline cell_copy(s, from)
{
    server[s].w = server[from].w;
    server[s].v = server[from].v;
    server[s].cell_run = server[from].cell_run;
    server[s].cell_repl = server[from].cell_repl
}

/* --- what happens to a server --- */

inline restart(s)
{
    fresh++;
    server[s].run_id = fresh;
    server[s].repl_id = fresh;
    server[s].history = fresh
}

inline promote(s)
{
    fresh++;
    server[s].is_master = true;
    server[s].repl_id = fresh;
    server[s].history = fresh
}

/* Here and now only the role changes: the data are replaced by a sync. */
inline demote(s)
{
    server[s].is_master = false;
    server[s].history = 0
}

/* A replica is as old as its last sync: the older copy that a failover, a
 * demoted master or a restored dump comes with. */
inline sync(s, from)
{
    cell_copy(s, from);
    server[s].repl_id = server[from].repl_id
}

#define is_behind(s, from) \
    (!server[s].is_master && server[from].is_master && \
     (server[s].w != server[from].w || server[s].v != server[from].v || \
      server[s].cell_run != server[from].cell_run || \
      server[s].cell_repl != server[from].cell_repl || \
      server[s].repl_id != server[from].repl_id))
