/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The neighbour lease: lessors that lease windows, witness each other's leases,
 * and are made level when they are restarted, while one of them goes back to any
 * state. docs/decisions/0024-neighbours.md describes the protocol. README.md
 * has the bounds, what is left out, and the macros that take a guard away.
 * What a broker does to make a lessor level is in neighbours_sync.pml.
 */
#ifndef LESSORS
#define LESSORS 3
#endif
#ifndef SYNCERS
#define SYNCERS 2
#endif
#ifndef CELLS
#define CELLS 1 /* counters that each lessor has */
#endif
#ifndef LIMIT
#define LIMIT 2 /* leases of a cell; LAST is at most 5 */
#endif
#ifndef FAULTS
#define FAULTS 2
#endif

/* Lessors are alike, so it is enough to watch the leases of lessor 0. A lease
 * of another one, with its note, is to lessor 0 a counter that is raised. Who
 * serves once it is calm is asked of all of them. */
#ifdef LIVE
#define LEASING LESSORS
#define EXTRA   LESSORS /* one lease of each once it is calm */
#else
#define LEASING 1
#define EXTRA   0
#endif
#define LAST (LIMIT + EXTRA)

/* Liveness does not ask what was: fewer states. */
#ifdef LIVE
#define remember(what) skip
#else
#define remember(what) what
#endif

#define higher(a, b) ((a) > (b) -> (a) : (b))

/* --- what an outsider remembers --- */

byte used[CELLS];        /* leases of lessor 0 in use: a bit each */
byte faults = FAULTS;    /* still to come */
bool is_calm;            /* no more faults: for liveness */
bool is_served[LEASING]; /* a lease of it is in use since it is calm */

/* --- the lessors --- */

typedef lessor {
    byte incarnation;
    bool is_level;       /* `synced` is the incarnation of now */
    byte known[LEASING]; /* marks: the incarnation of each lessor whose leases
                            this one may witness. A mark counts only in the
                            witness's incarnation in which it was left; 0:
                            there is none that counts */
    byte top[CELLS];     /* the highest lease that it knows of; 0: absent */
    bool is_closed;      /* cell 0 is never made again, and may be deleted */
};
lessor store[LESSORS];

/* A lessor that is DOWN for good cannot be asked any more. */
#ifdef DOWN
#define is_up(s) (!is_calm || (s) != DOWN)
#define is_all_up (!is_calm)
#else
#define is_up(s) true
#define is_all_up true
#endif

/* --- brokers that lease and note: any number of them --- */

/* Leases that some broker holds and has not yet used. Within an incarnation a
 * counter only rises, so that a lease is known by that and its number. */
typedef leases {
    int held[CELLS];
};
leases lease_of[LEASING];
#define lease_bit(i, w) (1 << (((i) - 1) * LAST + (w) - 1))

#ifdef NO_OWN
#define is_leasing(s) is_up(s)
#else
#define is_leasing(s) (is_up(s) && store[s].is_level)
#endif
#define is_open(s, c) ((c) != 0 || !store[s].is_closed)

/* One statement: compares `synced`, adds, answers with the incarnation. */
inline lease(s, c)
{
    assert(store[s].top[c] < LAST); /* else EXTRA is too small */
    store[s].top[c]++;
    printf("MODEL lessor %d in incarnation %d leases %d of cell %d\n", s,
           store[s].incarnation, store[s].top[c], c);
#ifdef NO_NOTE
    use(s, c, store[s].top[c])
#else
    lease_of[s].held[c] = lease_of[s].held[c] |
                          lease_bit(store[s].incarnation, store[s].top[c])
#endif
}

#ifdef LIVE
#define is_holding(s) \
    ((lease_of[s].held[0] >> ((store[s].incarnation - 1) * LAST) & \
      ((1 << LAST) - 1)) != 0)
#define may_lease(s, c) \
    (is_leasing(s) && \
     (is_calm -> !is_served[s] && !is_holding(s) \
              : store[s].top[c] < LIMIT))
#else
#define may_lease(s, c) \
    (is_leasing(s) && is_open(s, c) && store[s].top[c] < LIMIT)
#endif

inline use(s, c, w)
{
    is_served[s] = is_calm;
    if
    :: (used[c] & (1 << (w))) != 0 ->
        printf("MODEL lease %d of cell %d of lessor %d is used again\n", w,
               c, s);
        assert(false) /* the property: no lease twice */
    :: else ->
        printf("MODEL lease %d of cell %d of lessor %d is used\n", w, c, s);
        remember(used[c] = used[c] | (1 << (w)))
    fi
}

#ifdef LEVEL_WITNESS
#define is_witness(o) store[o].is_level
#else
#define is_witness(o) true
#endif

/* One statement at a witness: compares its mark with the incarnation that the
 * lease is of, and raises. That the broker hears of it and uses the lease is
 * one step with that; if it does not hear, the counter was raised. */
#define may_note(o, s, c, i, w) \
    ((o) != (s) && is_up(o) && is_witness(o) && (i) != 0 && (w) <= LAST && \
     (lease_of[s].held[c] & lease_bit(i, w)) != 0)

inline note(o, s, c, i, w)
{
    printf("MODEL lease %d of cell %d, of incarnation %d, is noted at %d\n",
           w, c, i, o);
    lease_of[s].held[c] = lease_of[s].held[c] & ~lease_bit(i, w);
    store[o].top[c] = higher(store[o].top[c], w);
    use(s, c, w)
}

#define NOTE(o, c, i, w) \
    :: d_step { may_note(o, s, c, i, w) -> note(o, s, c, i, w) }
#if LAST > 2
#define NOTE_ANY(o, c, i) \
    NOTE(o, c, i, 1) NOTE(o, c, i, 2) NOTE(o, c, i, 3) \
    NOTE(o, c, i, 4) NOTE(o, c, i, 5)
#elif LAST == 2
#define NOTE_ANY(o, c, i) NOTE(o, c, i, 1) NOTE(o, c, i, 2)
#else
#define NOTE_ANY(o, c, i) NOTE(o, c, i, 1)
#endif
#ifdef NO_MARK
#define NOTE_AT(o, c) NOTE_ANY(o, c, 1) NOTE_ANY(o, c, 2) NOTE_ANY(o, c, 3)
#else
#define NOTE_AT(o, c) NOTE_ANY(o, c, store[o].known[s])
#endif

/* Those that lease of lessor s. None of them need forget what it holds: one
 * that is killed, or gave up, is one that never goes on. */
proctype brokers(byte s)
{
end:
    do
    :: d_step { may_lease(s, 0) -> lease(s, 0) }
#if LEASING > 1
    NOTE_AT(0, 0)
#endif
    NOTE_AT(1, 0)
    NOTE_AT(2, 0)
#if CELLS > 1
    :: d_step { may_lease(s, 1) -> lease(s, 1) }
    NOTE_AT(1, 1)
    NOTE_AT(2, 1)
#endif
#if LESSORS > 3
    NOTE_AT(3, 0)
#endif
    od
}

#include "neighbours_sync.pml"

/* --- what happens to the lessors --- */

/* `synced` and the marks name incarnations that are over. Those never come
 * back, so what they were is not kept. */
inline restart(s)
{
    faults--;
    store[s].incarnation++;
    store[s].is_level = false;
#ifndef NO_MARK_IN
    for (i : 0 .. LEASING - 1) {
        store[s].known[i] = 0
    }
    i = 0
#endif
}

#ifdef ANY
#define may_go_back \
    (store[0].is_level && store[1].is_level && store[2].is_level)
#else
#define may_go_back true
#endif

#define RESTARTS(s) \
    :: d_step { \
        faults > 0 -> \
        restart(s); \
        printf("MODEL lessor %d restarts\n", s) \
    }

#define GOES_BACK(s) \
    :: atomic { faults > 0 && may_go_back -> go_back(s) }

/* A lease that is lost, a note that was not heard of, one of other lessors, a
 * raise for the level: to lessor 0 all are one. */
#ifdef LIVE
#define RISES(s, c)
#else
#define RISES(s, c) \
    :: d_step { \
        store[s].top[c] < LIMIT -> \
        store[s].top[c]++; \
        printf("MODEL cell %d of lessor %d is raised to %d\n", c, s, \
               store[s].top[c]) \
    }
#endif

/* To any state whatever: to its own older ones, twice to the same, to that of
 * a copy which lived elsewhere for a while. */
inline go_back(s)
{
    select (t : 0 .. LIMIT);
#if CELLS > 1
    select (u : 0 .. LIMIT);
#endif
#ifdef NO_MARK_IN
    select (k : 0 .. store[s].known[0]);
#endif
#ifdef PURGE
    select (is_closed : 0 .. store[s].is_closed);
#endif
    d_step {
        restart(s);
        store[s].top[0] = t;
#if CELLS > 1
        store[s].top[1] = u;
        u = 0;
#endif
#ifdef NO_MARK_IN
        store[s].known[0] = k;
        k = 0;
#endif
#ifdef PURGE
        store[s].is_closed = is_closed;
        is_closed = 0;
#endif
        printf("MODEL lessor %d goes back to %d\n", s, t);
        t = 0
    }
}

#ifdef PURGE
#define PURGES(s) \
    :: d_step { \
        !store[s].is_closed -> \
        store[s].is_closed = true; \
        printf("MODEL cell 0 is closed at lessor %d\n", s) \
    } \
    :: d_step { \
        may_delete(s) && store[s].top[0] != 0 -> \
        store[s].top[0] = 0; \
        printf("MODEL cell 0 is deleted at lessor %d\n", s) \
    }
#else
#define PURGES(s)
#endif
#ifdef DELETE_OPEN
#define may_delete(s) true
#else
#define may_delete(s) store[s].is_closed
#endif

proctype chaos()
{
    byte i, t, u, k;
    byte is_closed;

end:
    do
    RESTARTS(0)
    RESTARTS(1)
    RESTARTS(2)
    GOES_BACK(0)
#ifdef ANY
    GOES_BACK(1)
    GOES_BACK(2)
#endif
    RISES(0, 0)
    RISES(1, 0)
    RISES(2, 0)
#if LESSORS > 3
    RESTARTS(3)
    RISES(3, 0)
#endif
#if CELLS > 1
    RISES(0, 1)
    RISES(1, 1)
    RISES(2, 1)
#endif
    PURGES(0)
    PURGES(1)
    PURGES(2)
#ifdef LIVE
    :: d_step {
        !is_calm ->
        is_calm = true;
        faults = 0;
        printf("MODEL it is calm\n")
    }
#endif
    od
}

init
{
    byte s, i;

    atomic {
        for (s : 0 .. LESSORS - 1) {
            store[s].incarnation = 1;
            store[s].is_level = true;
            for (i : 0 .. LEASING - 1) {
                store[s].known[i] = 1
            }
        }
        run chaos();
        for (s : 0 .. LEASING - 1) { run brokers(s) }
        for (s : 0 .. SYNCERS - 1) { run syncer(s) }
        s = 0;
        i = 0
    }
}

#ifdef LIVE
#if LESSORS > 3
#define is_all_served (serves(0) && serves(1) && serves(2) && serves(3))
#else
#define is_all_served (serves(0) && serves(1) && serves(2))
#endif
/* Once it is calm, each lessor leases again; with one of them DOWN for good,
 * each that is level does. */
#ifdef DOWN
#define serves(s) (is_served[s] || !is_up(s) || may_wait(s))
#else
#define serves(s) is_served[s]
#endif
#ifdef NONE_WAITS
#define may_wait(s) false
#else
#define may_wait(s) !store[s].is_level
#endif
ltl recovers { [] (is_calm -> <> is_all_served) }
#endif
