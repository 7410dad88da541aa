// What the detector remembers of every word, and what it reports; and the state of a launch that it looks at. Part of
// runtime.cpp, of which it is the half that hooks call.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "emulation.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
// Fibers leave frames without returning, and the programs that tests start end while memory is held.
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0:detect_leaks=0"; }
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

// The linker's marks around the program's own data.
extern "C" char __executable_start, end;

namespace emulation {

// Who touched a granule last: 4 bytes of shared or 2 bytes of global memory. A serial number names one block of one
// launch, or for shared memory its cluster; epochs count barriers, arrivals those of the cluster that a thread had
// arrived at. Threads are counted over the cluster; only threads of one block read a granule.
struct Granule {
    u32 write_serial, read_serial;
    uint16_t writer, write_epoch, write_warp_epoch, write_arrivals;
    uint16_t reader, read_epoch, read_warp_epoch, read_arrivals;
};

constexpr uint16_t SEVERAL_IN_WARP = 0x8000;  // | warp
constexpr uint16_t SEVERAL = 0xffff;

// Bytes that kernels read and wrote.
struct Traffic {
    std::atomic<u64> read{0}, written{0};
};

struct Region {
    uintptr_t begin, end;
    Granule* granules;
    Traffic* traffic;
};

static std::mutex regions_lock;
static std::vector<Region> regions;  // sorted by begin
static std::atomic<u32> next_serial{1};

constexpr size_t STACK = 64 << 10, GUARD = 4 << 10;
constexpr u32 MAX_THREADS = 1024, MAX_CLUSTER = 16, MAX_FIBERS = MAX_THREADS * MAX_CLUSTER;
constexpr size_t MAX_SHARED = 256 << 10;  // of a block

struct Fiber {
    void* stack_pointer;
    bool done;
    enum { RUN, BLOCK, WARP, SHUFFLE, CLUSTER } state;
    const void* site;
    u32 shuffled;
    uint16_t arrivals, waits;  // at barriers of the cluster
};

struct Machine {
    char* stacks = nullptr;
    char* shared = nullptr;
    Granule* shared_granules = nullptr;
    size_t shared_bytes = 0;
    u32 guarded = 0;  // stacks that have a guard page
    Fiber* fibers = nullptr;
    u32 running = 0;  // the fiber
    void* scheduler = nullptr;
    uint16_t epochs[MAX_CLUSTER], warp_epochs[MAX_FIBERS / 32];
    uint16_t strangers[MAX_CLUSTER];  // 1 + arrivals of other blocks' threads that wrote to a block last
    u32 cluster = 1, serial = 0, cluster_serial = 0, first_serial = 0;
    Body body = nullptr;
    const void* launch = nullptr;
    size_t launch_bytes = 0;
    std::vector<Region> regions;
    const Region* last = nullptr;
    bool detect = false;
    const char* kernel = "";
    char* report = nullptr;
    size_t report_bytes = 0;

    Machine() {
        stacks = static_cast<char*>(map(STACKS));
        shared = static_cast<char*>(map(ALL_SHARED));
        shared_granules = static_cast<Granule*>(map(ALL_SHARED / 4 * sizeof(Granule)));
        fibers = static_cast<Fiber*>(map(MAX_FIBERS * sizeof(Fiber)));
    }
    ~Machine() {
        ASAN_UNPOISON_MEMORY_REGION(stacks, STACKS);
        ASAN_UNPOISON_MEMORY_REGION(shared, ALL_SHARED);
        munmap(stacks, STACKS);
        munmap(shared, ALL_SHARED);
        munmap(shared_granules, ALL_SHARED / 4 * sizeof(Granule));
        munmap(fibers, MAX_FIBERS * sizeof(Fiber));
    }
    static constexpr size_t STACKS = MAX_FIBERS * (STACK + GUARD), ALL_SHARED = MAX_CLUSTER * MAX_SHARED;
    void guard(u32 threads) {
        for (; guarded < threads; guarded++) mprotect(stacks + guarded * (STACK + GUARD), GUARD, PROT_NONE);
    }
    static void* map(size_t bytes) {
        void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) abort();
        return at;
    }
};

static thread_local Machine* machine;

struct Owner {
    ~Owner() {
        delete machine;
        machine = nullptr;
    }
};
static thread_local Owner owner;

// Keeps the first fault of a launch.
static void fault(const char* what, uintptr_t where, size_t size) {
    Machine& m = *machine;
    if (!m.report || m.report[0]) return;
    snprintf(m.report, m.report_bytes, "%s: %s, %zu bytes at %#zx, block %u thread %u", m.kernel, what, size, where,
             position.block, position.thread);
}

// Whether what another thread did, in an epoch of its block and of its warp and after so many arrivals at barriers of the
// cluster, comes before what the running thread does now.
static bool ordered(uint16_t other, uint16_t epoch, uint16_t warp_epoch, uint16_t arrivals) {
    Machine& m = *machine;
    if (m.fibers[m.running].waits > arrivals) return true;
    if (other / position.threads != position.rank) return false;
    return epoch != m.epochs[position.rank] ||
           (other / 32 == m.running / 32 && warp_epoch != m.warp_epochs[m.running / 32]);
}

static void touch(Granule& g, bool write, uintptr_t where, size_t size, bool is_shared) {
    Machine& m = *machine;
    const u32 serial = is_shared ? m.cluster_serial : m.serial;
    uint16_t thread = static_cast<uint16_t>(m.running), warp = thread / 32, warp_epoch = m.warp_epochs[warp];
    uint16_t epoch = m.epochs[position.rank], arrivals = m.fibers[m.running].arrivals;
    bool other_writer = !is_shared && g.write_serial >= m.first_serial && g.write_serial != serial;
    if (other_writer) fault("blocks race: another block wrote this", where, size);
    bool written_here = g.write_serial == serial;
    if (written_here && g.writer != thread && !ordered(g.writer, g.write_epoch, g.write_warp_epoch, g.write_arrivals))
        fault(write ? "threads race: two writes without a barrier" : "threads race: read without a barrier after a write",
              where, size);
    if (is_shared && !write && !written_here) fault("shared memory is read before it is written", where, size);
    if (!write) {
        bool same = g.read_serial == serial && g.read_epoch == epoch;
        g.read_arrivals = same ? std::max(g.read_arrivals, arrivals) : arrivals;
        if (!same || g.reader == thread) {
            g.reader = thread;
        } else if (g.reader < SEVERAL_IN_WARP) {
            g.reader = g.reader / 32 == warp ? SEVERAL_IN_WARP | warp : SEVERAL;
        } else if (g.reader != SEVERAL && (g.reader & ~SEVERAL_IN_WARP) != warp) {
            g.reader = SEVERAL;
        }
        g.read_serial = serial;
        g.read_epoch = epoch;
        g.read_warp_epoch = warp_epoch;
        return;
    }
    if (!is_shared && g.read_serial >= m.first_serial && g.read_serial != serial)
        fault("blocks race: another block read this", where, size);
    if (g.read_serial == serial && g.reader != thread && m.fibers[m.running].waits <= g.read_arrivals) {
        // Any thread of the warp, or of the block, that read it.
        u32 reader = g.reader < SEVERAL_IN_WARP ? g.reader : (g.reader & ~SEVERAL_IN_WARP) * 32u;
        bool own_block = is_shared ? (reinterpret_cast<char*>(where) - m.shared) / MAX_SHARED == position.rank : true;
        bool own_warp = g.reader != SEVERAL && reader / 32 == warp;
        bool after = own_block && (g.read_epoch != epoch || (own_warp && g.read_warp_epoch != warp_epoch));
        if (!after) fault("threads race: written without a barrier after a read", where, size);
    }
    g.write_serial = serial;
    g.writer = thread;
    g.write_epoch = epoch;
    g.write_warp_epoch = warp_epoch;
    g.write_arrivals = arrivals;
}

// A thread uses the shared memory of another block of its cluster.
static void visit(u32 rank, bool write, uintptr_t where, size_t size) {
    Machine& m = *machine;
    if (rank >= m.cluster) return fault("outside shared memory", where, size);
    if (!write) return fault("another block's shared memory is read: kernels only write there", where, size);
    const Fiber& fiber = m.fibers[m.running];
    if (fiber.waits == 0) fault("another block's shared memory is used before that block is known to run", where, size);
    for (u32 i = rank * position.threads; i < (rank + 1) * position.threads; i++)
        if (m.fibers[i].done) return fault("another block's shared memory is used after that block has ended", where, size);
    m.strangers[rank] = std::max<uint16_t>(m.strangers[rank], fiber.arrivals + 1);
}

// Every load and store of a kernel comes here.
static void access(const void* address, size_t size, bool write) {
    if (!machine || !machine->detect) return;
    Machine& m = *machine;
    uintptr_t at = reinterpret_cast<uintptr_t>(address);
    uintptr_t stacks = reinterpret_cast<uintptr_t>(m.stacks), shared = reinterpret_cast<uintptr_t>(m.shared);
    if (at - stacks < Machine::STACKS) return;
    if (at - reinterpret_cast<uintptr_t>(&position) < sizeof position) return;
    // Constants of the program.
    if (!write && at >= reinterpret_cast<uintptr_t>(&__executable_start) && at < reinterpret_cast<uintptr_t>(&end)) return;
    if (at - shared < Machine::ALL_SHARED) {
        u32 rank = (at - shared) / MAX_SHARED;
        if (rank != position.rank) visit(rank, write, at, size);
        if ((at - shared) % MAX_SHARED + size > m.shared_bytes) return fault("outside shared memory", at, size);
        for (size_t g = (at - shared) / 4; g <= (at - shared + size - 1) / 4; g++)
            touch(m.shared_granules[g], write, at, size, true);
        return;
    }
    if (!m.last || at < m.last->begin || at + size > m.last->end) {
        auto after = std::upper_bound(m.regions.begin(), m.regions.end(), at,
                                      [](uintptr_t x, const Region& region) { return x < region.begin; });
        if (after == m.regions.begin() || at + size > (after - 1)->end) {
            uintptr_t launch = reinterpret_cast<uintptr_t>(m.launch);
            if (!write && at - launch < m.launch_bytes) return;
            return fault(write ? "write outside every buffer" : "read outside every buffer", at, size);
        }
        m.last = &*(after - 1);
    }
    (write ? m.last->traffic->written : m.last->traffic->read).fetch_add(size, std::memory_order_relaxed);
    uintptr_t offset = at - m.last->begin;
    for (size_t g = offset / 2; g <= (offset + size - 1) / 2; g++) touch(m.last->granules[g], write, at, size, false);
}

}  // namespace emulation
