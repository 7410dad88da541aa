// What kernels may use of the machine: the same text compiles under NVRTC, nvcc and, on a CPU, as C++20.
//
// Blocks, threads and grids have one dimension. Shared memory is declared with DYN_SHARED only, in words of four
// bytes or more; all threads of a block meet at the same barrier.
#pragma once

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned __int128 u128;

// Words that are moved together.
struct alignas(8) Two {
    u32 a, b;
};
struct alignas(16) Four {
    u32 a, b, c, d;
};

// The high word of doubles in [2^52, 2^52 + 2^32), whose low word is the integer above 2^52.
constexpr u32 DOUBLE_HIGH = (1023u + 52) << 20;  // magic: 1023 == 2^10 - 1

#if defined(__CUDACC__)

#define CONSTANT __device__ constexpr
#define DEVICE __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROLL _Pragma("unroll 1")
// A kernel takes one launch block by value.
#define KERNEL(name, Launch) extern "C" __global__ void name(const __grid_constant__ Launch launch)
#define KERNEL_BOUNDS(name, Launch, threads, blocks) \
    extern "C" __global__ void __launch_bounds__(threads, blocks) name(const __grid_constant__ Launch launch)
#define DYN_SHARED(T, name)                                        \
    extern __shared__ __align__(16) unsigned char karat_dynamic[]; \
    T* name = reinterpret_cast<T*>(karat_dynamic)

DEVICE u32 thread_index() { return threadIdx.x; }
DEVICE u32 thread_count() { return blockDim.x; }
DEVICE u32 block_index() { return blockIdx.x; }
DEVICE u32 block_count() { return gridDim.x; }
DEVICE void sync_block() { __syncthreads(); }
DEVICE void sync_warp() { __syncwarp(); }
DEVICE u32 mul_hi(u32 a, u32 b) { return __umulhi(a, b); }
DEVICE u64 mul_hi(u64 a, u64 b) { return __umul64hi(a, b); }
// x + a * b for signed words, and where only the low word of b is signed. Said in assembly, since the compiler takes
// longer products where it knows the words, and adds apart from them unless both are said with a carry.
DEVICE u64 add_signed_product(u64 x, u32 a, u32 b) {
    u64 sum;
    asm("{.reg .b32 l, h; mov.b64 {l, h}, %3; mad.lo.cc.s32 l, %1, %2, l; madc.hi.s32 h, %1, %2, h; mov.b64 %0, {l, h};}"
        : "=l"(sum)
        : "r"(a), "r"(b), "l"(x));
    return sum;
}
DEVICE u64 add_split_product(u64 x, u32 a, u64 b) {
    u64 sum;
    asm("{.reg .b32 l, h, m, n; mov.b64 {l, h}, %3; mov.b64 {m, n}, %2; mad.lo.cc.s32 l, %1, m, l; "
        "madc.hi.s32 h, %1, m, h; mad.lo.s32 h, %1, n, h; mov.b64 %0, {l, h};}"
        : "=l"(sum)
        : "r"(a), "l"(b), "l"(x));
    return sum;
}
DEVICE u32 smaller(u32 a, u32 b) { return min(a, b); }
DEVICE u32 reverse_bits(u32 x) { return __brev(x); }
DEVICE double mul_rn(double a, double b) { return __dmul_rn(a, b); }
DEVICE double add_rn(double a, double b) { return __dadd_rn(a, b); }
DEVICE double fma_rn(double a, double b, double c) { return __fma_rn(a, b, c); }
DEVICE double as_double(u64 x) { return __longlong_as_double(static_cast<long long>(x)); }
DEVICE u64 as_word(double x) { return static_cast<u64>(__double_as_longlong(x)); }
DEVICE double double_of(u32 high, u32 low) { return __hiloint2double(static_cast<int>(high), static_cast<int>(low)); }
DEVICE u32 low_word(double x) { return static_cast<u32>(__double2loint(x)); }
DEVICE u32 shuffle_xor(u32 value, u32 lanes) { return __shfl_xor_sync(0xffffffffu, value, lanes); }

// Blocks of a cluster see each other's shared memory. All threads arrive, and none goes on behind its wait before all
// have: first of all, so that every block is there; and once more before one ends that others may still write to.
#if __CUDA_ARCH__ >= 900
DEVICE u32 cluster_rank() {
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
// Writes where `at` is in the shared memory of another block of the cluster.
template <class T>
DEVICE void store_in_block(T* at, u32 rank, T value) {
    u32 here = static_cast<u32>(__cvta_generic_to_shared(at)), there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    if constexpr (sizeof(T) == 8)
        asm volatile("st.shared::cluster.b64 [%0], %1;" ::"r"(there), "l"(__builtin_bit_cast(u64, value)) : "memory");
    else asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(there), "r"(__builtin_bit_cast(u32, value)) : "memory");
}
#else
// Devices without clusters are never given such a kernel; its text compiles for them nevertheless.
DEVICE u32 cluster_rank() { return 0; }
DEVICE void cluster_arrive() {}
DEVICE void cluster_wait() { sync_block(); }
template <class T>
DEVICE void store_in_block(T* at, u32, T value) {
    *at = value;
}
#endif

// A kernel that was launched early waits for the launch before; and lets the next one start.
DEVICE void wait_for_launch_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
DEVICE void release_launch_after() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Reads what no kernel writes while this one runs.
template <class T>
DEVICE T load_constant(const T* at) {
    union {
        T value;
        uint4 four;
        uint2 two;
        u32 one;
    } x;
    if constexpr (sizeof(T) == 16) x.four = __ldg(reinterpret_cast<const uint4*>(at));
    else if constexpr (sizeof(T) == 8) x.two = __ldg(reinterpret_cast<const uint2*>(at));
    else x.one = __ldg(reinterpret_cast<const u32*>(at));
    return x.value;
}

#else

#include "emulation.h"

#endif
