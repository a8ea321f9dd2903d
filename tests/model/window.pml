/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windowed counter: brokers over two servers that forget, restart, change
 * roles and are copied, through a network that delays and loses. Mirrors
 * src/backends/redis/redis.lua and src/ha/policy/fence.c, grant.c, window.c. README.md has
 * the bounds, what is left out, and the macros that take a guard away.
 */
#ifndef BROKERS
#define BROKERS 2
#endif
#ifndef SIZE
#define SIZE 2 /* offsets in a window */
#endif
#ifndef WINDOWS
#define WINDOWS 2 /* that may be leased */
#endif
#ifndef FAULTS
#define FAULTS 3
#endif
#ifdef LIVE
#define EXTRA 8 /* windows for what brokers need once it is calm */
#else
#define EXTRA 0
#endif
#define ALL_WINDOWS (WINDOWS + EXTRA)

/* With a guard taken away the repeat itself is to be found, not the invariant
 * that breaks before it. */
#if defined(ABLATION) || defined(LIVE)
#define invariant(claim) skip
#else
#define invariant(claim) assert(claim)
#endif

/* Liveness does not ask what was: fewer states. */
#ifdef LIVE
#define remember(what) skip
#else
#define remember(what) what
#endif

/* --- what an outsider remembers --- */

int used;                   /* bit w * SIZE + offset: that number is out */
bool sent[ALL_WINDOWS + 1]; /* an install of the window was sent */
byte born[ALL_WINDOWS + 1]; /* the history it was installed in */

byte faults = FAULTS;       /* still to come */
bool is_calm;               /* no more faults: for liveness */
bool is_served[BROKERS];    /* granted since it is calm */
#if BROKERS == 1
#define is_all_served is_served[0]
#else
#define is_all_served (is_served[0] && is_served[1])
#endif

#include "window_server.pml"

/* --- the authority: direct, so that direct.pml is about it --- */

byte next_w = 1;
#define may_lease (next_w <= WINDOWS || (is_calm && next_w <= ALL_WINDOWS))

/* --- the network --- */

#define ALLOC 255 /* else the window to install */
byte late;        /* a command that nobody waits for any more; 0: none */
bit late_to;

inline send_late(s, command)
{
    late_to = s;
    late = command
}

proctype network()
{
end:
    do
    :: d_step {
        late != 0 ->
        if
        :: late == ALLOC -> store_alloc(late_to)
        :: else -> store_install(late_to, late)
        fi;
        printf("MODEL the late command %d reaches server %d: %e\n", late,
               late_to, status);
        late = 0;
        late_to = 0;
        reply_forget()
    }
    od
}

/* --- a broker: grant.c, fence.c, window.c --- */

#define is_lossy (!is_calm)
#define is_idle \
    (!is_fenced && !is_poisoned && !is_waiting && !(is_calm && is_served[me]))

/* One that is told "not a master" resolves anew, so that once it is calm it
 * finds a master. */
inline choose_server()
{
    if
    :: !is_calm || server[0].is_master -> s = 0
    :: !is_calm || server[1].is_master -> s = 1
    fi
}

inline hand_out(window, offset)
{
    if
    :: (used & (1 << (window * SIZE + offset))) != 0 ->
        printf("MODEL broker %d hands out %d:%d again\n", me, window, offset);
        assert(false) /* the property: no number twice */
    :: else -> printf("MODEL broker %d hands out %d:%d\n", me, window, offset)
    fi;
    remember(used = used | (1 << (window * SIZE + offset)));
    is_served[me] = is_calm
}

inline judge()
{
    if
#ifndef NO_MARK
    :: status == OK && reply_w == mark_w && reply_v < mark_v ->
        /* I4: surgery, which nothing else here may look like. */
#ifndef SURGERY
        invariant(false);
#endif
        printf("MODEL broker %d refuses the store\n", me);
        is_poisoned = true
    :: status == OK && !(reply_w == mark_w && reply_v < mark_v) ->
#else
    :: status == OK ->
#endif
        hand_out(reply_w, reply_v);
        mark_w = reply_w;
        mark_v = reply_v + 1
    :: status == FENCED || status == EXHAUSTED ->
        is_fenced = true;
        floor = (mark_w > reply_w -> mark_w : reply_w)
    :: status == NOTMASTER -> skip
    fi;
    s = (is_fenced -> s : 0);
    reply_forget()
}

/* I5: what was not acknowledged is a gap. */
inline give_up()
{
    printf("MODEL broker %d hears nothing from server %d\n", me, s);
#ifdef NO_UNACK
    if
    :: mark_w != 0 && mark_v < SIZE ->
        hand_out(mark_w, mark_v);
        mark_v++
    :: else
    fi;
#endif
#ifdef NO_TIMEOUT
    is_waiting = true;
#endif
    s = 0;
    reply_forget()
}

inline install_done()
{
    w = 0;
    s = 0;
    floor = 0;
    is_fenced = false;
    reply_forget()
}

/* I2: in doubt the window is dropped. */
inline install_doubted()
{
    printf("MODEL broker %d hears nothing of installing %d on server %d\n",
           me, w, s);
#ifndef INSTALL_TWICE
    install_done()
#endif
}

/* I1 and I2 in one: no second install, be it of the same lease. */
inline install_sent()
{
    invariant(!sent[w]);
    remember(sent[w] = true)
}

proctype broker(byte me)
{
    byte mark_w;    /* I4: the window it was granted of last, */
    byte mark_v;    /* and the offset that the next must reach */
    byte spare;     /* a window leased and not yet taken; 0: none */
    bool is_fenced; /* needs a window ... */
    byte floor;     /* ... above this one; */
    byte w;         /* has taken this one, to install it ... */
    bit s;          /* ... on this server */
    bool is_poisoned;
    bool is_waiting; /* for ever; only if its time-out is taken away */

end:
    do
    /* Reserve. That the store did it and that the broker heard of it is one
     * step: what it makes of a reply is its own affair, so that to hear it
     * later changes nothing for the others. */
    :: atomic {
        is_idle -> choose_server();
        d_step {
            store_alloc(s);
            judge()
        }
    }
    /* Done, but the answer is lost; */
    :: atomic {
        is_idle && is_lossy -> choose_server();
        d_step {
            store_alloc(s);
            give_up()
        }
    }
    /* or to be done some time after the broker gave up. */
    :: atomic {
        is_idle && is_lossy && late == 0 -> choose_server();
        d_step {
            send_late(s, ALLOC);
            give_up()
        }
    }

    /* Lease: the spare, ahead or when it is needed. */
    :: d_step {
        spare == 0 && may_lease ->
        spare = next_w;
        next_w++;
        printf("MODEL broker %d leases %d\n", me, spare)
    }
#ifdef LEASE_TWICE
    :: d_step {
        spare == 0 && next_w > 1 && is_lossy ->
        spare = next_w - 1;
        printf("MODEL broker %d leases %d, too\n", me, spare)
    }
#else
    /* The authority's answer is lost, and the window with it. */
    :: d_step {
        spare == 0 && may_lease && is_lossy ->
        next_w++
    }
#endif
#ifdef LIVE
    :: is_calm && is_fenced && w == 0 && spare == 0 && next_w > ALL_WINDOWS ->
        assert(false) /* not the broker stands still: EXTRA is too small */
#endif

    /* Take the spare, or drop it if it is too low. */
    :: d_step {
        is_fenced && w == 0 && spare != 0 ->
        w = (spare > floor -> spare : 0);
#ifdef SPARE_TWICE
        spare = (w == 0 -> 0 : spare)
#else
        spare = 0
#endif
    }

    /* Install what was taken. */
    :: d_step {
        w != 0 ->
        install_sent();
        store_install(s, w);
        printf("MODEL broker %d installs %d on server %d: %e\n", me, w, s,
               status);
        install_done()
    }
    :: d_step {
        w != 0 && is_lossy ->
        install_sent();
        store_install(s, w);
        install_doubted()
    }
    :: d_step {
        w != 0 && is_lossy && late == 0 ->
        install_sent();
        send_late(s, w);
        install_doubted()
    }

#ifndef SURGERY /* of which only those know who remember */
    /* A broker that is killed takes its windows with it, and its mark. */
    :: d_step {
        faults > 0 && (mark_w != 0 || spare != 0 || w != 0) ->
        faults--;
        mark_w = 0;
        mark_v = 0;
        spare = 0;
        install_done();
        printf("MODEL broker %d is killed\n", me)
    }
#endif
    od
}

/* --- what happens to the stores --- */

proctype chaos()
{
    bit s;

end:
    do
    :: d_step {
        is_behind(0, 1) ->
        sync(0, 1);
        printf("MODEL server 0 copies server 1\n")
    }
    :: d_step {
        is_behind(1, 0) ->
        sync(1, 0);
        printf("MODEL server 1 copies server 0\n")
    }
    :: atomic {
        faults > 0 ->
        if
        :: s = 0
        :: s = 1
        fi;
        faults--;
        if
        :: server[s].is_master -> restart(s);
            if
            :: printf("MODEL server %d restarts\n", s)
            :: cell_forget(s);
                printf("MODEL server %d restarts, empty\n", s)
            :: cell_copy(s, other(s));
                printf("MODEL server %d restarts with a dump\n", s)
            fi
        :: server[s].is_master -> cell_forget(s);
            printf("MODEL server %d forgets the cell\n", s)
        :: !server[s].is_master -> promote(s);
            printf("MODEL server %d is promoted\n", s)
        :: server[s].is_master && server[other(s)].is_master -> demote(s);
            printf("MODEL server %d is demoted\n", s)
#ifdef SURGERY
        :: server[s].v > 0 -> server[s].v = 0;
            printf("MODEL server %d is edited by hand\n", s)
#endif
        fi;
        s = 0
    }
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
    byte i;

    atomic {
        server[0].is_master = true;
        server[0].run_id = 1;
        server[0].repl_id = 1;
        server[0].history = 1;
        server[1].run_id = 2;
        server[1].repl_id = 1;
        run chaos();
        run network();
        for (i : 0 .. BROKERS - 1) { run broker(i) }
    }
}

#ifdef LIVE
/* Once it is calm, each broker is granted a number again. */
ltl recovers { [] (is_calm -> <> is_all_served) }
#endif
