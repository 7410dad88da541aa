// What platform.cuh needs on a CPU. One fiber runs each thread of a block; see runtime.cpp.
#pragma once

#include <cstddef>

#define DEVICE inline __attribute__((always_inline))
#define UNROLL
#define ROLL
#define CONSTANT static constexpr

namespace emulation {

typedef unsigned int u32;
typedef unsigned long long u64;

// Where the running thread is.
struct Position {
    u32 thread, threads, block, blocks;
    u32 rank;  // of the block in its cluster
};

extern thread_local Position position;

void* dynamic_shared();
// Barriers name the place that they stand at: all threads must meet at the same one.
void sync_block(const void* site);
void sync_warp(const void* site);
u32 shuffle_xor(u32 value, u32 lanes);
void cluster_arrive();
void cluster_wait(const void* site);
// The same place in the shared memory of another block of the cluster.
void* in_block(void* at, u32 rank);

typedef void (*Body)(const void* launch);

// Makes a kernel known by program and name.
struct Kernel {
    const char *program, *name;
    size_t launch_bytes;
    Body body;
    Kernel* next;
    Kernel(const char* program, const char* name, size_t launch_bytes, Body body);
};

}  // namespace emulation

#define KERNEL(name, Block)                                                                                 \
    static void name##_kernel(const Block& launch);                                                         \
    static void name##_body(const void* block) {                                                            \
        const Block copy = *static_cast<const Block*>(block);                                               \
        name##_kernel(copy);                                                                                \
    }                                                                                                       \
    static emulation::Kernel name##_entry(EMULATED_PROGRAM, #name, sizeof(Block), name##_body);             \
    static void name##_kernel(const Block& launch)
#define KERNEL_BOUNDS(name, Block, threads, blocks) KERNEL(name, Block)
#define DYN_SHARED(T, name) T* name = static_cast<T*>(emulation::dynamic_shared())

#define thread_index() (emulation::position.thread)
#define thread_count() (emulation::position.threads)
#define block_index() (emulation::position.block)
#define block_count() (emulation::position.blocks)
#define sync_block() (emulation::sync_block(({ __label__ here; here: &&here; })))
#define sync_warp() (emulation::sync_warp(({ __label__ here; here: &&here; })))
#define shuffle_xor(value, lanes) (emulation::shuffle_xor(value, lanes))
#define cluster_rank() (emulation::position.rank)
#define cluster_arrive() (emulation::cluster_arrive())
#define cluster_wait() (emulation::cluster_wait(({ __label__ here; here: &&here; })))

template <class T>
DEVICE void store_in_block(T* at, emulation::u32 rank, T value) {
    *static_cast<T*>(emulation::in_block(at, rank)) = value;
}

inline emulation::u32 mul_hi(emulation::u32 a, emulation::u32 b) {
    return static_cast<emulation::u32>(static_cast<emulation::u64>(a) * b >> 32);
}
inline emulation::u64 mul_hi(emulation::u64 a, emulation::u64 b) {
    return static_cast<emulation::u64>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline emulation::u64 add_signed_product(emulation::u64 x, emulation::u32 a, emulation::u32 b) {
    return x + static_cast<emulation::u64>(static_cast<long long>(static_cast<int>(a)) * static_cast<int>(b));
}
inline emulation::u64 add_split_product(emulation::u64 x, emulation::u32 a, emulation::u64 b) {
    x = add_signed_product(x, a, static_cast<emulation::u32>(b));
    return x + (static_cast<emulation::u64>(a * static_cast<emulation::u32>(b >> 32)) << 32);
}
inline emulation::u32 smaller(emulation::u32 a, emulation::u32 b) { return a < b ? a : b; }

inline emulation::u32 reverse_bits(emulation::u32 x) {
    emulation::u32 r = 0;
    for (int i = 0; i < 32; i++) r |= (x >> i & 1u) << (31 - i);
    return r;
}
inline double mul_rn(double a, double b) { return a * b; }
inline double add_rn(double a, double b) { return a + b; }
inline double fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline double as_double(emulation::u64 x) { return __builtin_bit_cast(double, x); }
inline emulation::u64 as_word(double x) { return __builtin_bit_cast(emulation::u64, x); }
// Launches run one after another.
inline void wait_for_launch_before() {}
inline void release_launch_after() {}
template <class T>
DEVICE T load_constant(const T* at) {
    return *at;
}
inline double double_of(emulation::u32 high, emulation::u32 low) {
    return __builtin_bit_cast(double, static_cast<emulation::u64>(high) << 32 | low);
}
inline emulation::u32 low_word(double x) {
    return static_cast<emulation::u32>(__builtin_bit_cast(emulation::u64, x));
}
