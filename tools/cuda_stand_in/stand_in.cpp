// A stand-in for an NVIDIA GPU, for tests on machines without one: CUDA's driver, compiler and cuBLAS in as much as mercer
// calls them, on the processor and slowly. The kernels are compiled as C++ from the same source. A thread of a block runs until
// it waits for the others. `build.py` puts it where libraries are looked for.
//
// Work is done when it is asked for. With STAND_IN_LATE=computing (copying) that of the first (second) stream is done as late as
// events allow, so that what does not wait for it shows.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// What kernels.cu is written in.
struct Three { unsigned x, y, z; };
static Three threadIdx, blockIdx, blockDim, gridDim;
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
struct float4 { float x, y, z, w; };
static unsigned long long __double_as_longlong(double v) { unsigned long long b; memcpy(&b, &v, 8); return b; }
static unsigned __float_as_uint(float v) { unsigned b; memcpy(&b, &v, 4); return b; }
static float __uint_as_float(unsigned b) { float v; memcpy(&v, &b, 4); return v; }
template <class T> static T atomicAdd(T *at, T v) { T old = *at; *at += v; return old; }
template <class T> static T atomicMin(T *at, T v) { T old = *at; if (v < old) *at = v; return old; }
static int __ffs(int v) { return __builtin_ffs(v); }
static void __syncthreads();
using std::exp; using std::fabs; using std::fmax; using std::fmin; using std::pow; using std::sqrt; using std::tanh;

#include "kernels.cu"

// Threads of a block, each with a stack of its own. A switch saves what a function must leave as it was, and the stack.
#if defined(__x86_64__)
struct Context { void *stack; };
extern "C" void switch_stacks(void **from, void *to);
__asm__(R"(
.text
.globl switch_stacks
.hidden switch_stacks
switch_stacks:
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
)");
static void change(Context &from, Context &to) { switch_stacks(&from.stack, to.stack); }
static void begin(Context &context, std::vector<char> &stack, void (*start)()) {
    uintptr_t top = ((uintptr_t)stack.data() + stack.size()) & ~(uintptr_t)15;
    void **at = (void **)(top - 16);
    *at = (void *)start;
    context.stack = at - 6;
}
#else
#include <ucontext.h>
typedef ucontext_t Context;
static void change(Context &from, Context &to) { swapcontext(&from, &to); }
static void begin(Context &context, std::vector<char> &stack, void (*start)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack.data();
    context.uc_stack.ss_size = stack.size();
    context.uc_link = nullptr;
    makecontext(&context, start, 0);
}
#endif
static std::vector<Context> contexts;
static std::vector<std::vector<char>> stacks;
static std::vector<char> done;
static Context scheduler;
static unsigned current;
static std::function<void()> *work;
static void start() {
    (*work)();
    done[current] = 1;
    change(contexts[current], scheduler);
}
static void __syncthreads() { change(contexts[current], scheduler); }
static void run_block(unsigned threads, bool waits, std::function<void()> &body) {
    if (!waits) {
        for (unsigned t = 0; t < threads; t++) {
            threadIdx = {t, 0, 0};
            body();
        }
        return;
    }
    work = &body;
    if (contexts.size() < threads) {
        contexts.resize(threads);
        stacks.resize(threads, std::vector<char>(1 << 15));
    }
    done.assign(threads, 0);
    for (unsigned t = 0; t < threads; t++) begin(contexts[t], stacks[t], start);
    for (bool open = true; open;) {
        open = false;
        for (unsigned t = 0; t < threads; t++)
            if (!done[t]) {
                current = t;
                threadIdx = {t, 0, 0};
                change(scheduler, contexts[t]);
                open = open || !done[t];
            }
    }
}
// A kernel with its arguments as they are now.
typedef std::function<std::function<void()>(void **)> Bind;
template <class... A, size_t... I> static Bind bound(void (*f)(A...), std::index_sequence<I...>) {
    return [f](void **arguments) {
        std::tuple<A...> own(*(A *)arguments[I]...);
        return [f, own] { std::apply(f, own); };
    };
}
template <class... A> static Bind kernel(void (*f)(A...)) { return bound(f, std::index_sequence_for<A...>{}); }
struct Kernel { Bind bind; bool waits; };
static std::map<std::string, Kernel> &kernels() {
    static std::map<std::string, Kernel> all = {
#define KERNEL(name, waits) {#name, {kernel(name), waits}},
#include "kernels.inc"
    };
    return all;
}

static std::recursive_mutex one;
typedef std::lock_guard<std::recursive_mutex> Lock;

// Streams: what they were asked to do and have not done.
struct Stream {
    bool late = false;
    std::deque<std::function<void()>> waiting;
    size_t asked = 0, begun = 0;
    void run_to(size_t last) {
        while (begun < last) {
            auto next = std::move(waiting.front());
            waiting.pop_front();
            begun++;
            next();
        }
    }
    int ask(std::function<void()> work) {
        Lock lock(one);
        waiting.push_back(std::move(work));
        asked++;
        if (!late) run_to(asked);
        return 0;
    }
};
static std::deque<Stream> streams;
static void run_all() { for (auto &stream : streams) stream.run_to(stream.asked); }
struct Event { Stream *stream = nullptr; size_t last = 0; };
static Stream *blas_stream;
static std::map<uint64_t, size_t> taken;
static size_t in_use = 0;
static size_t memory() { const char *text = getenv("STAND_IN_MEMORY"); return text ? strtoull(text, nullptr, 10) : size_t(4) << 30; }

#define API extern "C" __attribute__((visibility("default"))) int
API cuInit(unsigned) { return getenv("STAND_IN_NO_GPU") ? 100 : 0; }
API cuDeviceGetCount(int *count) { *count = 1; return 0; }
API cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
API cuDeviceGetName(char *name, int, int) { strcpy(name, "stand-in"); return 0; }
API cuDeviceGetAttribute(int *value, int which, int) { *value = which == 16 ? 1 : which == 75 ? 9 : 0; return 0; }
API cuDevicePrimaryCtxRetain(void **context, int) { *context = &one; return 0; }
API cuCtxSetCurrent(void *) { return 0; }
API cuMemGetInfo_v2(size_t *free_bytes, size_t *total) { *total = memory(); *free_bytes = memory() > in_use ? memory() - in_use : 0; return 0; }
API cuMemAlloc_v2(uint64_t *address, size_t bytes) {
    Lock lock(one);
    if (in_use + bytes > memory()) return 2;
    void *at = malloc(bytes + 8);
    memset(at, 0xFF, bytes + 8); // NaN, so that what nobody wrote shows
    taken[*address = (uint64_t)at] = bytes;
    in_use += bytes;
    return 0;
}
API cuMemFree_v2(uint64_t address) {
    Lock lock(one);
    run_all();
    auto found = taken.find(address);
    if (found == taken.end()) return 1;
    for (size_t i = 0; i < 8; i++)
        if (((unsigned char *)address)[found->second + i] != 0xFF) { fprintf(stderr, "written behind a buffer\n"); abort(); }
    in_use -= found->second;
    taken.erase(found);
    free((void *)address);
    return 0;
}
API cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    return ((Stream *)stream)->ask([=] { memcpy((void *)to, from, bytes); });
}
API cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    return ((Stream *)stream)->ask([=] { memcpy(to, (void *)from, bytes); });
}
API cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, void *stream) {
    return ((Stream *)stream)->ask([=] { memset((void *)at, value, bytes); });
}
API cuMemHostAlloc(void **at, size_t bytes, unsigned) { *at = malloc(bytes); return *at ? 0 : 2; }
API cuMemFreeHost(void *at) { free(at); return 0; }
API cuStreamCreate(void **stream, unsigned) {
    Lock lock(one);
    const char *late = getenv("STAND_IN_LATE");
    const char *name = streams.empty() ? "computing" : "copying";
    streams.emplace_back();
    streams.back().late = late && !strcmp(late, name);
    *stream = &streams.back();
    return 0;
}
API cuStreamSynchronize(void *stream) {
    Lock lock(one);
    ((Stream *)stream)->run_to(((Stream *)stream)->asked);
    return 0;
}
API cuCtxSynchronize() { Lock lock(one); run_all(); return 0; }
API cuEventCreate(void **event, unsigned) { *event = new Event; return 0; }
API cuEventDestroy_v2(void *event) { delete (Event *)event; return 0; }
API cuEventRecord(void *event, void *stream) {
    Lock lock(one);
    *(Event *)event = {(Stream *)stream, ((Stream *)stream)->asked};
    return 0;
}
API cuEventSynchronize(void *event) {
    Lock lock(one);
    auto [stream, last] = *(Event *)event;
    if (stream) stream->run_to(last);
    return 0;
}
API cuStreamWaitEvent(void *stream, void *event, unsigned) {
    Event mark = *(Event *)event;
    return mark.stream ? ((Stream *)stream)->ask([=] { mark.stream->run_to(mark.last); }) : 0;
}
API cuModuleLoadData(void **module, const void *) { *module = &one; return 0; }
API cuModuleGetFunction(void **function, void *, const char *name) {
    auto found = kernels().find(name);
    if (found == kernels().end()) return 500;
    *function = &found->second;
    return 0;
}
API cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned, unsigned bx, unsigned, unsigned, unsigned, void *stream, void **arguments, void **) {
    auto &f = *(Kernel *)function;
    return ((Stream *)stream)->ask([=, body = f.bind(arguments), waits = f.waits]() mutable {
        gridDim = {gx, gy, 1};
        blockDim = {bx, 1, 1};
        for (unsigned y = 0; y < gy; y++)
            for (unsigned x = 0; x < gx; x++) {
                blockIdx = {x, y, 0};
                run_block(bx, waits, body);
            }
    });
}
API cuGetErrorName(int code, const char **text) { *text = code == 500 ? "CUDA_ERROR_NOT_FOUND" : "CUDA_ERROR"; return 0; }
API cuGetErrorString(int, const char **text) { *text = "as the stand-in says"; return 0; }

API nvrtcCreateProgram(void **program, const char *, const char *, int, const char *const *, const char *const *) { *program = &one; return 0; }
API nvrtcCompileProgram(void *, int, const char *const *) { return 0; }
API nvrtcGetProgramLogSize(void *, size_t *size) { *size = 1; return 0; }
API nvrtcGetProgramLog(void *, char *log) { *log = 0; return 0; }
API nvrtcGetCUBINSize(void *, size_t *size) { *size = 1; return 0; }
API nvrtcGetCUBIN(void *, char *code) { *code = 0; return 0; }
API nvrtcDestroyProgram(void **) { return 0; }

API cublasCreate_v2(void **handle) { *handle = &one; return 0; }
API cublasSetStream_v2(void *, void *stream) { blas_stream = (Stream *)stream; return 0; }
template <class T> static void gemm(int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc) {
    std::vector<T> row(k);
    for (int i = 0; i < m; i++) {
        for (int l = 0; l < k; l++) row[l] = ta ? a[(size_t)i * lda + l] : a[(size_t)l * lda + i];
        for (int j = 0; j < n; j++) {
            T sum = 0;
            for (int l = 0; l < k; l++) sum += row[l] * (tb ? b[(size_t)l * ldb + j] : b[(size_t)j * ldb + l]);
            T &out = c[(size_t)j * ldc + i];
            out = alpha * sum + (beta == 0 ? 0 : beta * out);
        }
    }
}
API cublasDgemm_v2(void *, int ta, int tb, int m, int n, int k, const double *alpha, const double *a, int lda, const double *b, int ldb, const double *beta, double *c, int ldc) {
    return blas_stream->ask([=, alpha = *alpha, beta = *beta] { gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });
}
API cublasSgemm_v2(void *, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc) {
    return blas_stream->ask([=, alpha = *alpha, beta = *beta] { gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); });
}
API cublasDsyrk_v2(void *, int, int, int n, int k, const double *alpha, const double *a, int lda, const double *beta, double *c, int ldc) {
    return blas_stream->ask([=, alpha = *alpha, beta = *beta] {
        for (int j = 0; j < n; j++)
            for (int i = j; i < n; i++) {
                double sum = 0;
                for (int l = 0; l < k; l++) sum += a[(size_t)l * lda + i] * a[(size_t)l * lda + j];
                double &out = c[(size_t)j * ldc + i];
                out = alpha * sum + (beta == 0 ? 0 : beta * out);
            }
    });
}
API cublasDtrsm_v2(void *, int, int, int, int, int m, int n, const double *, const double *l, int ldl, double *b, int ldb) {
    return blas_stream->ask([=] {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                double v = b[(size_t)j * ldb + i];
                for (int k = 0; k < i; k++) v -= l[(size_t)k * ldl + i] * b[(size_t)j * ldb + k];
                b[(size_t)j * ldb + i] = v / l[(size_t)i * ldl + i];
            }
    });
}
