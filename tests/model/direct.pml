/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The direct counter: brokers over one row of a store that crashes, is
 * replaced by an older copy of itself, or is emptied. Mirrors the raise and
 * reserve of the direct engines (sqlite, postgres, mysql in src/backends/), and
 * src/ha/policy/fence.c and grant.c. README.md has the bounds, what is left out, and
 * the macros that take a guard away. An authority is such a counter, of
 * windows.
 */
#ifndef BROKERS
#define BROKERS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef GAP
#define GAP 2
#endif
#ifndef LIMIT
#define LIMIT 8 /* the largest value; at most 30 */
#endif

/* With a guard taken away the repeat itself is to be found, not the invariant
 * that breaks before it. */
#ifdef ABLATION
#define invariant(claim) skip
#else
#define invariant(claim) assert(claim)
#endif

/* --- what an outsider remembers --- */

/* No number twice is the same claim for each number: a run watches one, chosen
 * at its beginning. */
byte watched = 1;
bool is_out;
byte top;             /* the highest that was handed out */
byte faults = FAULTS; /* still to come */
bool is_emptied;      /* and not raised since */

/* The highest value that each broker was granted; 0: none. */
byte mark[BROKERS];

/* --- the two assumptions of docs/guarantees.md --- */

/* An older copy lacks at most the gap of what was handed out. */
#ifdef LOST_MORE
#define is_within_gap(older) true
#else
#define is_within_gap(older) (top <= older + GAP)
#endif

/* Of an emptied table only the brokers know: the one that raises it first is
 * within the gap of the others. One that was granted nothing, or has forgotten
 * it since it was killed, counts as 0. */
#ifdef APART
#define may_raise true
#else
#define may_raise (!is_emptied || top <= mark[me] + GAP)
#endif

/* --- the store --- */

/* The row of the counter: as the open transaction sees it, and as the disk
 * has it. Where the row is absent, this stands for the base. */
byte value, disk_value;
byte bound = 1, disk_bound = 1; /* the origin that the value holds in */
byte origin = 1;                /* of the store now */

/* Whose transaction holds the row: 0 none, else the broker + 1. Nobody else
 * writes it before that one is committed or undone. */
byte holder;

/* An addition that is done and committed some time after its broker gave up:
 * statement and commit are sent together. 0: none. */
byte late_add;
#ifdef LATE_RAISE
byte late_raise; /* the same of a raise: its floor + 1, ... */
byte late_from;  /* ... and its broker */
#endif

inline store_commit()
{
    is_emptied = is_emptied && bound != origin;
    disk_value = value;
    disk_bound = bound;
    holder = 0
}

inline store_undo()
{
    value = disk_value;
    bound = disk_bound;
    holder = 0
}

/* Max of floor and value; a counter that is not bound to what the store is now
 * goes up by the gap and is bound, in the same step: so one broker wins. */
inline store_raise(floor)
{
    if
    :: bound != origin ->
#ifndef NO_GAP
        value = value + GAP;
#endif
        bound = origin
    :: else
    fi;
    value = (value > floor -> value : floor)
}

proctype late()
{
end:
    do
    :: d_step {
        late_add != 0 && holder == 0 ->
        if
        :: bound == origin && value + late_add <= LIMIT ->
            value = value + late_add;
            store_commit();
            printf("MODEL a late addition: the counter is %d\n", value)
        :: else
        fi;
        late_add = 0
    }
#ifdef LATE_RAISE
    :: d_step {
        late_raise != 0 && holder == 0 &&
        (!is_emptied || top <= mark[late_from] + GAP) ->
        store_raise(late_raise - 1);
        store_commit();
        printf("MODEL a late raise: the counter is %d\n", value);
        late_from = 0;
        late_raise = 0
    }
#endif
    od
}

/* --- a broker --- */

/* What the statement takes for the store's origin: that of now, computed in
 * the statement, not one that the broker remembers. */
#ifdef STALE_ORIGIN
#define origin_seen known
#else
#define origin_seen origin
#endif
#ifdef NO_ORIGIN
#define is_fenced_off false
#else
#define is_fenced_off (bound != origin_seen)
#endif

/* fence_raise_floor. The store may have forgotten all: what is known of the
 * others is only that they were granted no more than the gap beyond it. */
#ifdef NO_FLOOR_GAP
#define own_floor mark[me]
#else
#define own_floor (mark[me] == 0 -> 0 : mark[me] + GAP)
#endif

inline hand_out()
{
    printf("MODEL broker %d hands out %d to %d\n", me, first, last);
    if
    :: first <= watched && watched <= last && is_out ->
        printf("MODEL broker %d hands out %d again\n", me, watched);
        assert(false) /* the property: no number twice */
    :: first <= watched && watched <= last && !is_out -> is_out = true
    :: else
    fi;
    top = (last > top -> last : top)
}

inline tx_forget()
{
    is_open = false;
    is_raise = false;
    first = 0;
    last = 0
#ifdef STALE_ORIGIN
    ; known = origin /* it connects anew */
#endif
}

/* The commit was acknowledged. */
inline judge()
{
    if
    :: is_raise -> is_fenced = false
#ifndef NO_MARK
    :: !is_raise && first <= mark[me] ->
        /* I4: surgery, which nothing else here may look like. */
#ifndef SURGERY
        invariant(false);
#endif
        printf("MODEL broker %d refuses the store\n", me);
        is_poisoned = true
    :: !is_raise && first > mark[me] ->
#else
    :: !is_raise ->
#endif
        /* I5 */
        invariant(last <= disk_value);
#ifndef NO_UNACK
        hand_out();
#endif
        mark[me] = last
    fi
}

proctype broker(byte me)
{
    bool is_open;     /* its transaction has been begun */
    bool is_raise;    /* and is a raise, else an addition */
    byte first, last; /* what the addition would grant */
    bool is_fenced;   /* is to raise the counter */
    bool is_poisoned;
#ifdef STALE_ORIGIN
    byte known = 1;
#endif

end:
    do
#ifndef SPLIT_ADD
    /* Reserve: one statement compares the origin and adds ... */
    :: atomic {
        !is_open && !is_fenced && !is_poisoned && holder == 0 ->
        if
        :: last = 1
        :: last = 2 /* how many it wants */
        fi;
        d_step {
            if
            :: is_fenced_off ->
                is_fenced = true;
                last = 0;
                printf("MODEL broker %d is fenced\n", me)
            :: !is_fenced_off && value + last > LIMIT -> last = 0
            :: !is_fenced_off && value + last <= LIMIT ->
                first = value + 1;
                value = value + last;
                last = value;
                is_open = true;
                holder = me + 1;
#ifdef NO_UNACK
                hand_out();
#endif
            fi
        }
    }
#else
    /* ... and not one that looks and one that adds. */
    :: d_step {
        !is_open && !is_fenced && !is_poisoned && holder == 0 && first == 0 ->
        if
        :: is_fenced_off -> is_fenced = true
        :: !is_fenced_off && value < LIMIT ->
            first = value + 1;
            last = first;
            printf("MODEL broker %d sees %d\n", me, value)
        :: else
        fi
    }
    :: d_step {
        !is_open && first != 0 && holder == 0 ->
        value = last;
        is_open = true;
        holder = me + 1
    }
#endif
    /* ... or does so when the broker has given up. */
    :: d_step {
        !is_open && !is_fenced && !is_poisoned && late_add == 0 ->
        late_add = 1;
        printf("MODEL broker %d gives up adding\n", me)
    }

    /* Raise: the broker hears what it came to before it sends the commit, so
     * that no raise is begun after its broker gave up. */
#ifndef SPLIT_RAISE
    :: d_step {
        !is_open && is_fenced && holder == 0 && may_raise ->
        store_raise(own_floor);
        is_open = true;
        is_raise = true;
        holder = me + 1;
        printf("MODEL broker %d raises to %d\n", me, value)
    }
#else
    /* One statement or one lock, not a look and a write. */
    :: d_step {
        !is_open && is_fenced && holder == 0 && last == 0 && may_raise ->
        last = (value + GAP > own_floor -> value + GAP : own_floor)
    }
    :: d_step {
        !is_open && is_fenced && holder == 0 && last != 0 ->
        value = last;
        bound = origin;
        last = 0;
        is_open = true;
        is_raise = true;
        holder = me + 1;
        printf("MODEL broker %d raises to %d\n", me, value)
    }
#endif
#ifdef LATE_RAISE
    :: d_step {
        !is_open && is_fenced && late_raise == 0 && may_raise ->
        late_raise = own_floor + 1;
        late_from = me;
        is_fenced = false;
        printf("MODEL broker %d gives up raising\n", me)
    }
#endif

    /* Commit; that it is done and that the broker hears of it is one step,
     * since what a broker makes of a reply is its own affair. */
    :: d_step {
        is_open && holder == me + 1 ->
        if
        :: value <= LIMIT ->
            store_commit();
            judge()
        :: else -> store_undo() /* no value above the limit is stored */
        fi;
        tx_forget()
    }
    :: d_step {
        is_open && holder == me + 1 && value <= LIMIT ->
        store_commit();
        tx_forget();
        printf("MODEL broker %d does not hear of its commit\n", me)
    }
    /* The connection breaks, or the store has crashed or changed: undone. */
    :: d_step {
        is_open ->
        if
        :: holder == me + 1 -> store_undo()
        :: else
        fi;
        tx_forget();
        printf("MODEL broker %d: undone\n", me)
    }

#ifndef SURGERY /* of which only those know who remember */
    /* One that is killed forgets what it had. */
    :: d_step {
        faults > 0 && mark[me] != 0 && !is_open ->
        faults--;
        mark[me] = 0;
        is_fenced = false;
        printf("MODEL broker %d is killed\n", me)
    }
#endif
    od
}

/* --- what happens to the store --- */

inline history_begin()
{
    origin++;
    value = disk_value;
    bound = disk_bound;
    holder = 0
}

proctype chaos()
{
    byte older;

end:
    do
    /* A crash, or a power cut: what was not committed is gone. */
    :: d_step {
        faults > 0 && holder != 0 ->
        faults--;
        store_undo();
        printf("MODEL the store crashes: the counter is %d\n", value)
    }
    /* An older copy takes its place, with the origin in its row that it had
     * there. */
    :: atomic {
        faults > 0 ->
        faults--;
        older = disk_value;
        do
        :: older > 0 && is_within_gap(older - 1) -> older--
        :: break
        od;
        d_step {
            disk_value = older;
            history_begin();
            older = 0;
            printf("MODEL the store is an older copy: the counter is %d\n",
                   value)
        }
    }
    /* All rows are gone, the base as well. A TRUNCATE waits for whoever holds
     * the row. */
    :: d_step {
        faults > 0 && holder == 0 ->
        faults--;
        disk_value = 0;
#ifndef NO_BASE
        disk_bound = 0;
#endif
        value = disk_value;
        bound = disk_bound;
        is_emptied = true;
        printf("MODEL the table is emptied\n")
    }
#ifdef SURGERY
    :: d_step {
        faults > 0 && holder == 0 && value > 0 ->
        faults--;
        value = 0;
        disk_value = 0;
        printf("MODEL the row is deleted by hand\n")
    }
#endif
    od
}

init
{
    byte i;

    atomic {
        do
        :: watched < LIMIT -> watched++
        :: break
        od;
        run chaos();
        run late();
        for (i : 0 .. BROKERS - 1) { run broker(i) }
    }
}
