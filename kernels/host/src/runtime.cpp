// Runs a grid on the CPU: one fiber a thread, blocks one after another, and a detector that sees every access of the
// instrumented kernels through the hooks of -fsanitize=thread. The runtime itself is not instrumented.
//
// Built with AddressSanitizer there are no hooks: what surrounds buffers and shared memory is poisoned instead, and the
// sanitizer ends the process at the first access there.

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

#undef sync_block
#undef sync_warp
#undef shuffle_xor

// The linker's marks around the program's own data.
extern "C" char __executable_start, end;

namespace emulation {

thread_local Position position;

// ---------------------------------------------------------------- kernels by name

static Kernel* all_kernels;

Kernel::Kernel(const char* program, const char* name, size_t launch_bytes, Body body)
    : program(program), name(name), launch_bytes(launch_bytes), body(body), next(all_kernels) {
    all_kernels = this;
}

// ---------------------------------------------------------------- what the detector remembers

// Who touched a granule last: 4 bytes of shared or 2 bytes of global memory. A serial number names one block of one
// launch; epochs count barriers.
struct Granule {
    u32 write_serial, read_serial;
    uint16_t writer, write_epoch, write_warp_epoch;
    uint16_t reader, read_epoch, read_warp_epoch;
};

constexpr uint16_t SEVERAL_IN_WARP = 0x8000;  // | warp
constexpr uint16_t SEVERAL = 0xffff;

struct Region {
    uintptr_t begin, end;
    Granule* granules;
};

static std::mutex regions_lock;
static std::vector<Region> regions;  // sorted by begin
static std::atomic<u32> next_serial{1};

constexpr size_t STACK = 64 << 10, GUARD = 4 << 10;
constexpr u32 MAX_THREADS = 1024;
constexpr size_t MAX_SHARED = 256 << 10;

struct Fiber {
    void* stack_pointer;
    bool done;
    enum { RUN, BLOCK, WARP, SHUFFLE } state;
    const void* site;
    u32 shuffled;
};

struct Machine {
    char* stacks = nullptr;
    char* shared = nullptr;
    Granule* shared_granules = nullptr;
    size_t shared_bytes = 0;
    Fiber fibers[MAX_THREADS];
    void* scheduler = nullptr;
    uint16_t epoch = 0, warp_epochs[MAX_THREADS / 32];
    u32 serial = 0, first_serial = 0;
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
        size_t bytes = MAX_THREADS * (STACK + GUARD);
        stacks = static_cast<char*>(map(bytes));
        for (u32 i = 0; i < MAX_THREADS; i++) mprotect(stacks + i * (STACK + GUARD), GUARD, PROT_NONE);
        shared = static_cast<char*>(map(MAX_SHARED));
        shared_granules = static_cast<Granule*>(map(MAX_SHARED / 4 * sizeof(Granule)));
    }
    ~Machine() {
        ASAN_UNPOISON_MEMORY_REGION(stacks, MAX_THREADS * (STACK + GUARD));
        ASAN_UNPOISON_MEMORY_REGION(shared, MAX_SHARED);
        munmap(stacks, MAX_THREADS * (STACK + GUARD));
        munmap(shared, MAX_SHARED);
        munmap(shared_granules, MAX_SHARED / 4 * sizeof(Granule));
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

static void touch(Granule& g, bool write, uintptr_t where, size_t size, bool is_shared) {
    Machine& m = *machine;
    uint16_t thread = static_cast<uint16_t>(position.thread), warp = thread / 32, warp_epoch = m.warp_epochs[warp];
    bool other_writer = !is_shared && g.write_serial >= m.first_serial && g.write_serial != m.serial;
    if (other_writer) fault("blocks race: another block wrote this", where, size);
    bool written_here = g.write_serial == m.serial;
    if (written_here && g.writer != thread && g.write_epoch == m.epoch &&
        (g.writer / 32 != warp || g.write_warp_epoch == warp_epoch))
        fault(write ? "threads race: two writes without a barrier" : "threads race: read without a barrier after a write",
              where, size);
    if (is_shared && !write && !written_here) fault("shared memory is read before it is written", where, size);
    if (!write) {
        bool same = g.read_serial == m.serial && g.read_epoch == m.epoch;
        if (!same || g.reader == thread) {
            g.reader = thread;
        } else if (g.reader < SEVERAL_IN_WARP) {
            g.reader = g.reader / 32 == warp ? SEVERAL_IN_WARP | warp : SEVERAL;
        } else if (g.reader != SEVERAL && (g.reader & ~SEVERAL_IN_WARP) != warp) {
            g.reader = SEVERAL;
        }
        g.read_serial = m.serial;
        g.read_epoch = m.epoch;
        g.read_warp_epoch = warp_epoch;
        return;
    }
    if (!is_shared && g.read_serial >= m.first_serial && g.read_serial != m.serial)
        fault("blocks race: another block read this", where, size);
    if (g.read_serial == m.serial && g.read_epoch == m.epoch && g.reader != thread) {
        bool race = true;
        if (g.reader < SEVERAL_IN_WARP)
            race = g.reader / 32 != warp || g.read_warp_epoch == warp_epoch;
        else if (g.reader != SEVERAL)
            race = (g.reader & ~SEVERAL_IN_WARP) != warp || g.read_warp_epoch == warp_epoch;
        if (race) fault("threads race: written without a barrier after a read", where, size);
    }
    g.write_serial = m.serial;
    g.writer = thread;
    g.write_epoch = m.epoch;
    g.write_warp_epoch = warp_epoch;
}

// Every load and store of a kernel comes here.
static void access(const void* address, size_t size, bool write) {
    if (!machine || !machine->detect) return;
    Machine& m = *machine;
    uintptr_t at = reinterpret_cast<uintptr_t>(address);
    uintptr_t stacks = reinterpret_cast<uintptr_t>(m.stacks), shared = reinterpret_cast<uintptr_t>(m.shared);
    if (at - stacks < MAX_THREADS * (STACK + GUARD)) return;
    if (at - reinterpret_cast<uintptr_t>(&position) < sizeof position) return;
    // Constants of the program.
    if (!write && at >= reinterpret_cast<uintptr_t>(&__executable_start) && at < reinterpret_cast<uintptr_t>(&end)) return;
    if (at - shared < MAX_SHARED) {
        if (at - shared + size > m.shared_bytes) return fault("outside shared memory", at, size);
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
    uintptr_t offset = at - m.last->begin;
    for (size_t g = offset / 2; g <= (offset + size - 1) / 2; g++) touch(m.last->granules[g], write, at, size, false);
}

// ---------------------------------------------------------------- fibers

// Saves the callee-saved registers and the stack pointer, and continues on another stack.
extern "C" void emulation_switch(void** save, void* load);
#if defined(__x86_64__)
asm(R"(
.text
.globl emulation_switch
.type emulation_switch,@function
emulation_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emulation_switch,.-emulation_switch
)");
#else
#error "the emulation's context switch is written for x86-64"
#endif

static void yield() { emulation_switch(&machine->fibers[position.thread].stack_pointer, machine->scheduler); }

extern "C" void emulation_thread() {
    machine->body(machine->launch);
    machine->fibers[position.thread].done = true;
    yield();
    abort();
}

static void prepare(u32 thread) {
    Fiber& fiber = machine->fibers[thread];
    char* top = machine->stacks + (thread + 1) * (STACK + GUARD);
    ASAN_UNPOISON_MEMORY_REGION(top - STACK, STACK);
    void** stack = reinterpret_cast<void**>(top) - 2;  // entered as by a call: misaligned by one word
    *stack = reinterpret_cast<void*>(emulation_thread);
    stack -= 6;
    memset(stack, 0, 6 * sizeof(void*));
    fiber = Fiber{stack, false, Fiber::RUN, nullptr, 0};
}

void* dynamic_shared() { return machine->shared; }

void sync_block(const void* site) {
    Fiber& fiber = machine->fibers[position.thread];
    fiber.state = Fiber::BLOCK;
    fiber.site = site;
    yield();
}

void sync_warp(const void* site) {
    Fiber& fiber = machine->fibers[position.thread];
    fiber.state = Fiber::WARP;
    fiber.site = site;
    yield();
}

u32 shuffle_xor(u32 value, u32 lanes) {
    Fiber& fiber = machine->fibers[position.thread];
    fiber.shuffled = value;
    fiber.state = Fiber::SHUFFLE;
    fiber.site = nullptr;
    yield();
    u32 other = (position.thread & ~31u) | ((position.thread ^ lanes) & 31u);
    u32 result = machine->fibers[other].shuffled;
    // Nobody publishes the next value before all have read this one.
    fiber.state = Fiber::SHUFFLE;
    yield();
    return result;
}

// Releases threads [begin, end) where all of them wait for the same thing at the same place.
static bool release(u32 begin, u32 end, int state) {
    Machine& m = *machine;
    for (u32 i = begin; i < end; i++)
        if (m.fibers[i].done || m.fibers[i].state != state) return false;
    for (u32 i = begin; i < end; i++) {
        if (m.fibers[i].site != m.fibers[begin].site) fault("threads wait at different barriers", 0, 0);
        m.fibers[i].state = Fiber::RUN;
    }
    return true;
}

static void run_block(u32 order) {
    Machine& m = *machine;
    u32 threads = position.threads;
    m.epoch = 0;
    memset(m.warp_epochs, 0, sizeof m.warp_epochs);
    for (u32 i = 0; i < threads; i++) prepare(i);
    u32 left = threads, random = order;
    while (left) {
        bool moved = false;
        u32 start = 0;
        if (order > 1) {
            random = random * 1664525u + 1013904223u;
            start = (random >> 8) % threads;
        }
        for (u32 k = 0; k < threads; k++) {
            u32 i = (start + k) % threads;
            if (order == 1) i = threads - 1 - k;
            Fiber& fiber = m.fibers[i];
            if (fiber.done || fiber.state != Fiber::RUN) continue;
            position.thread = i;
            emulation_switch(&m.scheduler, fiber.stack_pointer);
            moved = true;
            left -= fiber.done;
        }
        for (u32 warp = 0; warp * 32 < threads; warp++) {
            u32 begin = warp * 32, end = std::min(begin + 32, threads);
            moved |= release(begin, end, Fiber::SHUFFLE);
            if (release(begin, end, Fiber::WARP)) {
                m.warp_epochs[warp]++;
                moved = true;
            }
        }
        if (release(0, threads, Fiber::BLOCK)) {
            m.epoch++;
            moved = true;
        }
        if (left && !moved) return fault("some threads wait at a barrier that others never reach", 0, 0);
    }
}

}  // namespace emulation

using namespace emulation;

extern "C" {

void* emulation_alloc(size_t bytes) {
    // A fault that the detector reports still writes: into the words behind, not into the heap's own.
    size_t rounded = bytes / 64 * 64 + 128;
    char* at = static_cast<char*>(aligned_alloc(64, rounded));
    Granule* granules = static_cast<Granule*>(calloc(rounded / 2 + 1, sizeof(Granule)));
    if (!at || !granules) {
        free(at);
        free(granules);
        return nullptr;
    }
    memset(at, 0, rounded);
    ASAN_POISON_MEMORY_REGION(at + bytes, rounded - bytes);
    uintptr_t begin = reinterpret_cast<uintptr_t>(at);
    std::lock_guard<std::mutex> guard(regions_lock);
    auto place = std::lower_bound(regions.begin(), regions.end(), begin,
                                  [](const Region& region, uintptr_t x) { return region.begin < x; });
    regions.insert(place, Region{begin, begin + bytes, granules});
    return at;
}

void emulation_free(void* at) {
    uintptr_t begin = reinterpret_cast<uintptr_t>(at);
    Granule* granules = nullptr;
    {
        std::lock_guard<std::mutex> guard(regions_lock);
        auto place = std::lower_bound(regions.begin(), regions.end(), begin,
                                      [](const Region& region, uintptr_t x) { return region.begin < x; });
        granules = place->granules;
        regions.erase(place);
    }
    free(granules);
    free(at);
}

// Runs a kernel; the first fault goes to `report` as text. Returns 0 where the kernel is unknown, or takes a block of
// another size, or the grid is impossible.
int emulation_launch(const char* program, const char* name, u32 blocks, u32 threads, u32 shared, const void* launch,
                     size_t launch_bytes, int detect, u32 order, char* report, size_t report_bytes) {
    Kernel* kernel = all_kernels;
    while (kernel && (strcmp(kernel->program, program) || strcmp(kernel->name, name))) kernel = kernel->next;
    if (!kernel || kernel->launch_bytes != launch_bytes || threads == 0 || threads > MAX_THREADS || shared > MAX_SHARED)
        return 0;
    if (!machine) {
        (void)&owner;
        machine = new Machine;
    }
    Machine& m = *machine;
    m.body = kernel->body;
    m.launch = launch;
    m.launch_bytes = launch_bytes;
    m.detect = detect;
    m.kernel = name;
    m.report = report;
    m.report_bytes = report_bytes;
    m.shared_bytes = shared;
    ASAN_UNPOISON_MEMORY_REGION(m.shared, shared);
    ASAN_POISON_MEMORY_REGION(m.shared + shared, MAX_SHARED - shared);
    report[0] = 0;
    {
        std::lock_guard<std::mutex> guard(regions_lock);
        m.regions = regions;
    }
    m.last = nullptr;
    m.first_serial = next_serial.fetch_add(blocks);
    for (u32 block = 0; block < blocks && !report[0]; block++) {
        m.serial = m.first_serial + block;
        position = Position{0, threads, block, blocks};
        if (detect) memset(m.shared, 0xa5, shared);
        run_block(order);
    }
    m.detect = false;
    return 1;
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
#define HOOKS(n)                                                                     \
    void __tsan_read##n(void* at) { access(at, n, false); }                          \
    void __tsan_write##n(void* at) { access(at, n, true); }                          \
    void __tsan_unaligned_read##n(void* at) { access(at, n, false); }                \
    void __tsan_unaligned_write##n(void* at) { access(at, n, true); }                \
    void __tsan_volatile_read##n(void* at) { access(at, n, false); }                 \
    void __tsan_volatile_write##n(void* at) { access(at, n, true); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
void __tsan_read_range(void* at, unsigned long size) { access(at, size, false); }
void __tsan_write_range(void* at, unsigned long size) { access(at, size, true); }

}  // extern "C"
