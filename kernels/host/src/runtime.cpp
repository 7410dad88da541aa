// Runs a grid on the CPU: one fiber a thread, clusters (of one block, mostly) one after another, and a detector that sees every access of the
// instrumented kernels through the hooks of -fsanitize=thread. The runtime itself is not instrumented.
//
// Built with AddressSanitizer there are no hooks: what surrounds buffers and shared memory is poisoned instead, and the
// sanitizer ends the process at the first access there.

#include "detector.h"

#undef sync_block
#undef sync_warp
#undef shuffle_xor
#undef cluster_arrive
#undef cluster_wait

namespace emulation {

thread_local Position position;

// ---------------------------------------------------------------- kernels by name

static Kernel* all_kernels;

Kernel::Kernel(const char* program, const char* name, size_t launch_bytes, Body body)
    : program(program), name(name), launch_bytes(launch_bytes), body(body), next(all_kernels) {
    all_kernels = this;
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

static void yield() { emulation_switch(&machine->fibers[machine->running].stack_pointer, machine->scheduler); }

extern "C" void emulation_thread() {
    machine->body(machine->launch);
    Fiber& fiber = machine->fibers[machine->running];
    if (machine->strangers[position.rank] > fiber.waits)
        fault("a block ends while another block may still write to its shared memory", 0, 0);
    fiber.done = true;
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
    fiber = Fiber{stack, false, Fiber::RUN, nullptr, 0, 0, 0};
}

void* dynamic_shared() { return machine->shared + position.rank * MAX_SHARED; }

void* in_block(void* at, u32 rank) {
    return machine->shared + rank * MAX_SHARED + (static_cast<char*>(at) - static_cast<char*>(dynamic_shared()));
}

void sync_block(const void* site) {
    Fiber& fiber = machine->fibers[machine->running];
    fiber.state = Fiber::BLOCK;
    fiber.site = site;
    yield();
}

void sync_warp(const void* site) {
    Fiber& fiber = machine->fibers[machine->running];
    fiber.state = Fiber::WARP;
    fiber.site = site;
    yield();
}

void cluster_arrive() {
    Fiber& fiber = machine->fibers[machine->running];
    if (fiber.arrivals++ != fiber.waits) fault("a thread arrives twice at a barrier of its cluster", 0, 0);
}

void cluster_wait(const void* site) {
    Fiber& fiber = machine->fibers[machine->running];
    fiber.state = Fiber::CLUSTER;
    fiber.site = site;
    yield();
    fiber.waits++;
    if (fiber.arrivals < fiber.waits) fault("a thread waits at a barrier of its cluster that it has not arrived at", 0, 0);
}

u32 shuffle_xor(u32 value, u32 lanes) {
    Fiber& fiber = machine->fibers[machine->running];
    fiber.shuffled = value;
    fiber.state = Fiber::SHUFFLE;
    fiber.site = nullptr;
    yield();
    u32 other = (machine->running & ~31u) | ((machine->running ^ lanes) & 31u);
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

// Releases the threads of the cluster whose next wait all have arrived for.
static bool release_cluster(u32 threads) {
    Machine& m = *machine;
    uint16_t least = UINT16_MAX;
    for (u32 i = 0; i < threads; i++) least = std::min(least, m.fibers[i].arrivals);
    bool moved = false;
    for (u32 i = 0; i < threads; i++) {
        Fiber& fiber = m.fibers[i];
        if (fiber.state != Fiber::CLUSTER || least <= fiber.waits) continue;
        fiber.state = Fiber::RUN;
        moved = true;
    }
    return moved;
}

static void run_cluster(u32 order, u32 first_block) {
    Machine& m = *machine;
    const u32 threads = position.threads, all = threads * m.cluster;
    memset(m.epochs, 0, sizeof m.epochs);
    memset(m.warp_epochs, 0, sizeof m.warp_epochs);
    memset(m.strangers, 0, sizeof m.strangers);
    m.guard(all);
    for (u32 i = 0; i < all; i++) prepare(i);
    u32 left = all, random = order;
    while (left) {
        bool moved = false;
        u32 start = 0;
        if (order > 1) {
            random = random * 1664525u + 1013904223u;
            start = (random >> 8) % all;
        }
        for (u32 k = 0; k < all; k++) {
            u32 i = (start + k) % all;
            if (order == 1) i = all - 1 - k;
            Fiber& fiber = m.fibers[i];
            if (fiber.done || fiber.state != Fiber::RUN) continue;
            m.running = i;
            position.thread = i % threads;
            position.rank = i / threads;
            position.block = first_block + position.rank;
            m.serial = m.cluster_serial + position.rank;
            emulation_switch(&m.scheduler, fiber.stack_pointer);
            moved = true;
            left -= fiber.done;
        }
        for (u32 rank = 0; rank < m.cluster; rank++) {
            u32 block = rank * threads, block_end = block + threads;
            for (u32 begin = block; begin < block_end; begin += 32) {
                u32 end = std::min(begin + 32, block_end);
                moved |= release(begin, end, Fiber::SHUFFLE);
                if (release(begin, end, Fiber::WARP)) {
                    m.warp_epochs[begin / 32]++;
                    moved = true;
                }
            }
            if (release(block, block_end, Fiber::BLOCK)) {
                m.epochs[rank]++;
                moved = true;
            }
        }
        moved |= release_cluster(all);
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
    Traffic* traffic = new (std::nothrow) Traffic;
    if (!at || !granules || !traffic) {
        delete traffic;
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
    regions.insert(place, Region{begin, begin + bytes, granules, traffic});
    return at;
}

// Frees memory, and says how many bytes kernels read and wrote there while the detector was on.
void emulation_free(void* at, u64* read, u64* written) {
    uintptr_t begin = reinterpret_cast<uintptr_t>(at);
    Granule* granules = nullptr;
    Traffic* traffic = nullptr;
    {
        std::lock_guard<std::mutex> guard(regions_lock);
        auto place = std::lower_bound(regions.begin(), regions.end(), begin,
                                      [](const Region& region, uintptr_t x) { return region.begin < x; });
        granules = place->granules;
        traffic = place->traffic;
        regions.erase(place);
    }
    *read = traffic->read;
    *written = traffic->written;
    delete traffic;
    free(granules);
    free(at);
}

// Runs a kernel; the first fault goes to `report` as text. Returns 0 where the kernel is unknown, or takes a block of
// another size, or the grid is impossible.
int emulation_launch(const char* program, const char* name, u32 blocks, u32 threads, u32 shared, u32 cluster,
                     const void* launch, size_t launch_bytes, int detect, u32 order, char* report, size_t report_bytes) {
    Kernel* kernel = all_kernels;
    while (kernel && (strcmp(kernel->program, program) || strcmp(kernel->name, name))) kernel = kernel->next;
    if (!kernel || kernel->launch_bytes != launch_bytes || threads == 0 || threads > MAX_THREADS || shared > MAX_SHARED ||
        cluster == 0 || cluster > MAX_CLUSTER || blocks % cluster || (cluster > 1 && threads % 32))
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
    m.cluster = cluster;
    for (u32 rank = 0; rank < MAX_CLUSTER; rank++) {
        size_t open = rank < cluster ? shared : 0;
        ASAN_UNPOISON_MEMORY_REGION(m.shared + rank * MAX_SHARED, open);
        ASAN_POISON_MEMORY_REGION(m.shared + rank * MAX_SHARED + open, MAX_SHARED - open);
    }
    report[0] = 0;
    {
        std::lock_guard<std::mutex> guard(regions_lock);
        m.regions = regions;
    }
    m.last = nullptr;
    m.first_serial = next_serial.fetch_add(blocks);
    for (u32 block = 0; block < blocks && !report[0]; block += cluster) {
        m.cluster_serial = m.first_serial + block;
        position = Position{0, threads, block, blocks, 0};
        for (u32 rank = 0; detect && rank < cluster; rank++) memset(m.shared + rank * MAX_SHARED, 0xa5, shared);
        run_cluster(order, block);
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
