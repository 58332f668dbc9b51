// What the GPU computes beside matrix products. Compiled when a GPU is opened.
//
// Matrices lie column after column, and a row of data is a column here: the numbers of a row lie together. Nothing depends on
// the order in which threads run: sums are added in a fixed order, and only whole numbers are added atomically.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#define EACH(i, n) for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (u64)gridDim.x * blockDim.x)

// A matrix: rows across the blocks and their threads, columns down.
#define CELLS(r, c, rows, columns)                                                                                             \
    for (u64 c = blockIdx.y; c < (columns); c += gridDim.y)                                                                    \
        for (u32 r = blockIdx.x * blockDim.x + threadIdx.x; r < (rows); r += gridDim.x * blockDim.x)

// A block of 256 threads takes 8 rows at a time, 32 threads each.
#define LANES 32
#define EIGHT_ROWS(i, n) for (u64 first = (u64)blockIdx.x * 8, i = first + threadIdx.x / LANES; first < (n); first += (u64)gridDim.x * 8, i = first + threadIdx.x / LANES)

// A block of 256 threads takes 1024 numbers, 4 each.
#define PIECE 1024

// The sum of what the 32 threads of a row have, in their order; all of the block must call it.
__device__ inline double row_sum(double own, double *shared) {
    u32 row = threadIdx.x / LANES;
    shared[threadIdx.x] = own;
    __syncthreads();
    double sum = 0.0;
    for (u32 lane = 0; lane < LANES; lane++) sum += shared[row * LANES + lane];
    __syncthreads();
    return sum;
}

extern "C" __global__ void widen(const float *x, double *out, u64 n) {
    EACH(i, n) out[i] = (double)x[i];
}

extern "C" __global__ void narrow(const double *x, float *out, u64 n) {
    EACH(i, n) out[i] = (float)x[i];
}

extern "C" __global__ void fill(double *x, double value, u64 n) {
    EACH(i, n) x[i] = value;
}

extern "C" __global__ void identity(double *x, u32 m) {
    EACH(i, (u64)m * m) x[i] = i % m == i / m ? 1.0 : 0.0;
}

// The place of the first number that is not finite.
extern "C" __global__ void first_not_finite(const double *x, u64 n, u64 *place) {
    EACH(i, n) {
        double v = x[i];
        if (!(v - v == 0.0)) atomicMin(place, i);
    }
}

// A number for each row's bits, in which other rows most likely differ.
extern "C" __global__ void hashes(const double *x, u64 n, u32 p, u64 *out) {
    __shared__ u64 shared[256];
    EIGHT_ROWS(i, n) {
        u64 own = 0;
        if (i < n)
            for (u32 j = threadIdx.x % LANES; j < p; j += LANES) {
                u64 z = (u64)__double_as_longlong(x[i * p + j]) + 0x9E3779B97F4A7C15ull * (j + 1);
                z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
                z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
                own += z ^ (z >> 31);
            }
        shared[threadIdx.x] = own;
        __syncthreads();
        if (threadIdx.x % LANES == 0 && i < n) {
            u64 sum = 0;
            for (u32 lane = 0; lane < LANES; lane++) sum += shared[threadIdx.x + lane];
            out[i] = sum;
        }
        __syncthreads();
    }
}

// ‖x‖².
extern "C" __global__ void squared_norms(const double *x, u64 n, u32 p, double *out) {
    __shared__ double shared[256];
    EIGHT_ROWS(i, n) {
        double own = 0.0;
        if (i < n)
            for (u32 j = threadIdx.x % LANES; j < p; j += LANES) own += x[i * p + j] * x[i * p + j];
        double sum = row_sum(own, shared);
        if (threadIdx.x % LANES == 0 && i < n) out[i] = sum;
    }
}

// u = root·(x − shift), and ‖u‖².
extern "C" __global__ void shifted(const double *x, const double *shift, double root, u64 n, u32 p, double *u, double *norms) {
    __shared__ double shared[256];
    EIGHT_ROWS(i, n) {
        double own = 0.0;
        if (i < n)
            for (u32 j = threadIdx.x % LANES; j < p; j += LANES) {
                double v = root * (x[i * p + j] - shift[j]);
                u[i * p + j] = v;
                own += v * v;
            }
        double sum = row_sum(own, shared);
        if (threadIdx.x % LANES == 0 && i < n) norms[i] = sum;
    }
}

// Rows divided by their length, by their largest number first, so that no square overflows; rows of zeros stay.
extern "C" __global__ void unit_length(const double *x, u64 n, u32 p, double *u) {
    __shared__ double shared[256];
    EIGHT_ROWS(i, n) {
        u32 lane = threadIdx.x % LANES, row = threadIdx.x / LANES;
        double most = 0.0;
        if (i < n)
            for (u32 j = lane; j < p; j += LANES) most = fmax(most, fabs(x[i * p + j]));
        shared[threadIdx.x] = most;
        __syncthreads();
        for (u32 other = 0; other < LANES; other++) most = fmax(most, shared[row * LANES + other]);
        __syncthreads();
        double unit = most > 0.0 ? most : 1.0, own = 0.0;
        if (i < n)
            for (u32 j = lane; j < p; j += LANES) {
                double v = x[i * p + j] / unit;
                own += v * v;
            }
        double norm = sqrt(row_sum(own, shared));
        norm = norm > 0.0 ? norm : 1.0;
        if (i < n)
            for (u32 j = lane; j < p; j += LANES) u[i * p + j] = x[i * p + j] / unit / norm;
    }
}

// Shapes of kernels, as in kernel/kernel.rs.
enum { RBF, LAPLACIAN, LINEAR, POLY, SIGMOID, COSINE, MATERN12, MATERN32, MATERN52, RQ };

// A kernel as a function of its statistic: products, or distances multiplied by gamma. That of `Kernel::finish`.
__device__ inline double value(double s, u32 shape, double gamma, double parameter, u32 degree) {
    switch (shape) {
    case RBF:
    case LAPLACIAN:
        return exp(-s);
    case POLY: {
        double base = gamma * s + parameter, power = 1.0;
        for (u32 left = degree; left > 0; left >>= 1) {
            if (left & 1) power *= base;
            base *= base;
        }
        return power;
    }
    case SIGMOID:
        return tanh(gamma * s + parameter);
    case MATERN12:
        return exp(-sqrt(2.0 * fmin(s, 1e6)));
    case MATERN32: {
        double t = sqrt(6.0 * fmin(s, 1e6));
        return (1.0 + t) * exp(-t);
    }
    case MATERN52: {
        double t = sqrt(10.0 * fmin(s, 1e6));
        return (1.0 + t + t * t / 3.0) * exp(-t);
    }
    case RQ:
        return pow(1.0 + s / parameter, -parameter);
    default:
        return s;
    }
}

// s holds −2⟨u,v⟩ of landmarks (down) and rows (across); it becomes kernel values. Where the distance has cancelled it is found
// from the differences, as in kernel/products.rs.
extern "C" __global__ void from_distances(double *s, u64 stride, const double *landmark_norms, const double *row_norms,
                                          const double *landmarks, const double *rows, u32 l, u64 n, u32 p, double root,
                                          u32 shape, double parameter) {
    for (u64 c = blockIdx.y; c < n; c += gridDim.y) {
        double own = row_norms[c];
        for (u32 r = blockIdx.x * blockDim.x + threadIdx.x; r < l; r += gridDim.x * blockDim.x) {
            double terms = own + landmark_norms[r];
            double d = s[c * stride + r] + terms;
            if (!(d >= 1e-3 * terms && d < 1.0 / 0.0)) {
                d = 0.0;
                for (u32 j = 0; j < p; j++) {
                    double apart = root * (rows[c * p + j] - landmarks[(u64)r * p + j]);
                    d += apart * apart;
                }
            }
            s[c * stride + r] = value(d, shape, 1.0, parameter, 0);
        }
    }
}

// s holds products; it becomes kernel values.
extern "C" __global__ void from_products(double *s, u64 stride, u32 l, u64 n, u32 shape, double gamma, double parameter,
                                         u32 degree) {
    CELLS(r, c, l, n) s[c * stride + r] = value(s[c * stride + r], shape, gamma, parameter, degree);
}

// ‖x−y‖₁ of 64 rows of one kind (down) and 64 of another (across) at a time, 16 sums a thread; `finish` makes values of them.
#define SIDE 64
#define DEPTH 16
template <class T, class Finish>
__device__ inline void manhattan(T *s, u64 stride, const T *left, const T *right, u32 l, u64 n, u32 p, Finish finish) {
    __shared__ T a[DEPTH][SIDE + 1];
    __shared__ T b[DEPTH][SIDE + 1];
    u32 down = threadIdx.x % 16, across = threadIdx.x / 16;
    u64 r0 = (u64)blockIdx.x * SIDE;
    for (u64 c0 = (u64)blockIdx.y * SIDE; c0 < n; c0 += (u64)gridDim.y * SIDE) {
        T sum[4][4];
        for (u32 i = 0; i < 4; i++)
            for (u32 j = 0; j < 4; j++) sum[i][j] = 0;
        for (u32 k0 = 0; k0 < p; k0 += DEPTH) {
            for (u32 e = threadIdx.x; e < SIDE * DEPTH; e += 256) {
                u32 k = e % DEPTH, at = e / DEPTH;
                bool inside = k0 + k < p;
                a[k][at] = inside && r0 + at < l ? left[(r0 + at) * p + k0 + k] : (T)0;
                b[k][at] = inside && c0 + at < n ? right[(c0 + at) * p + k0 + k] : (T)0;
            }
            __syncthreads();
            for (u32 k = 0; k < DEPTH; k++)
                for (u32 i = 0; i < 4; i++)
                    for (u32 j = 0; j < 4; j++) sum[i][j] += fabs(a[k][i * 16 + down] - b[k][j * 16 + across]);
            __syncthreads();
        }
        for (u32 i = 0; i < 4; i++)
            for (u32 j = 0; j < 4; j++) {
                u64 r = r0 + i * 16 + down, c = c0 + j * 16 + across;
                if (r < l && c < n) s[c * stride + r] = finish(sum[i][j]);
            }
    }
}

// exp(−γ‖x−y‖₁) of landmarks and rows.
extern "C" __global__ void from_differences(double *s, u64 stride, const double *landmarks, const double *rows, u32 l, u64 n,
                                            u32 p, double gamma) {
    manhattan(s, stride, landmarks, rows, l, n, p, [gamma](double sum) { return exp(-gamma * sum); });
}

// What new columns of G leave of each row. Below the limit it is no rounding: the first such row is told.
extern "C" __global__ void take(const double *g, u64 stride, u32 b, double *residual, u64 n, double limit, u64 *bad, u64 at) {
    __shared__ double shared[256];
    EIGHT_ROWS(i, n) {
        double own = 0.0;
        if (i < n)
            for (u32 j = threadIdx.x % LANES; j < b; j += LANES) own += g[i * stride + j] * g[i * stride + j];
        double sum = row_sum(own, shared);
        if (threadIdx.x % LANES == 0 && i < n) {
            double left = residual[i] - sum;
            if (!(left >= limit)) atomicMin(bad, at + i);
            residual[i] = left > 0.0 ? left : 0.0;
        }
    }
}

// Rows by their indices: columns of a matrix, or numbers of a vector (p = 1).
extern "C" __global__ void gather(const double *x, u64 stride, const u32 *index, u32 h, u32 p, double *out) {
    CELLS(r, c, p, h) out[c * p + r] = x[(u64)index[c] * stride + r];
}

// Columns to their places.
extern "C" __global__ void spread(const double *from, const u32 *index, u32 h, u32 p, double *x, u64 stride) {
    EACH(i, (u64)h * p) x[(u64)index[i / p] * stride + i % p] = from[i];
}

extern "C" __global__ void put(double *x, const u32 *index, u32 h, double number) {
    EACH(i, h) x[index[i]] = number;
}

extern "C" __global__ void set_flag(u8 *flags, const u32 *index, u32 h, u32 flag, u32 on) {
    // No row is named twice.
    EACH(i, h) flags[index[i]] = on ? flags[index[i]] | (u8)flag : flags[index[i]] & (u8)~flag;
}

// How many rows have each digit, of those whose earlier digits are these. Numbers above 0 are ordered as their bits are.
extern "C" __global__ void digits(const double *x, const u8 *flags, u32 closed, double floor, u64 n, u64 earlier, u32 shift,
                                  u32 bits, u32 *counts) {
    __shared__ u32 own[2048];
    u32 many = 1u << bits;
    for (u32 i = threadIdx.x; i < many; i += blockDim.x) own[i] = 0;
    __syncthreads();
    EACH(i, n) {
        double v = x[i];
        if ((flags[i] & closed) || !(v > floor)) continue;
        u64 key = (u64)__double_as_longlong(v);
        if (shift + bits < 64 && (key >> (shift + bits)) != earlier) continue;
        atomicAdd(&own[(key >> shift) & (many - 1)], 1u);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < many; i += blockDim.x)
        if (own[i] > 0) atomicAdd(&counts[i], own[i]);
}

// How many numbers of each piece are above this one, and how many equal it.
extern "C" __global__ void count_above(const double *x, const u8 *flags, u32 closed, double floor, u64 n, double least,
                                       u32 *above, u32 *equal) {
    __shared__ u32 shared[512];
    u32 more = 0, same = 0;
    for (u32 w = 0; w < 4; w++) {
        u64 i = (u64)blockIdx.x * PIECE + threadIdx.x * 4 + w;
        if (i < n && !(flags[i] & closed) && x[i] > floor) {
            more += x[i] > least;
            same += x[i] == least;
        }
    }
    shared[threadIdx.x] = more;
    shared[256 + threadIdx.x] = same;
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 all = 0, all_same = 0;
        for (u32 t = 0; t < 256; t++) {
            all += shared[t];
            all_same += shared[256 + t];
        }
        above[blockIdx.x] = all;
        equal[blockIdx.x] = all_same;
    }
}

// Their indices, ascending, from these places on; of those that are equal, the first `most`.
extern "C" __global__ void list_above(const double *x, const u8 *flags, u32 closed, double floor, u64 n, double least,
                                      const u32 *above_from, const u32 *equal_from, u32 most, u32 *above, u32 *equal) {
    __shared__ u32 shared[512];
    u32 more = 0, same = 0;
    for (u32 w = 0; w < 4; w++) {
        u64 i = (u64)blockIdx.x * PIECE + threadIdx.x * 4 + w;
        if (i < n && !(flags[i] & closed) && x[i] > floor) {
            more += x[i] > least;
            same += x[i] == least;
        }
    }
    shared[threadIdx.x] = more;
    shared[256 + threadIdx.x] = same;
    __syncthreads();
    u32 to = above_from[blockIdx.x], to_equal = equal_from[blockIdx.x];
    for (u32 t = 0; t < threadIdx.x; t++) {
        to += shared[t];
        to_equal += shared[256 + t];
    }
    for (u32 w = 0; w < 4; w++) {
        u64 i = (u64)blockIdx.x * PIECE + threadIdx.x * 4 + w;
        if (i < n && !(flags[i] & closed) && x[i] > floor) {
            if (x[i] > least) above[to++] = (u32)i;
            if (x[i] == least) {
                if (to_equal < most) equal[to_equal] = (u32)i;
                to_equal++;
            }
        }
    }
}

// The largest number of each block; −1 if it has none.
extern "C" __global__ void largest(const double *x, const u8 *flags, u32 closed, u64 n, double *out) {
    __shared__ double shared[256];
    double most = -1.0;
    EACH(i, n) if (!(flags[i] & closed)) most = fmax(most, x[i]);
    shared[threadIdx.x] = most;
    __syncthreads();
    for (u32 half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] = fmax(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}

// The first place of a number of at least this.
extern "C" __global__ void first_at_least(const double *x, const u8 *flags, u32 closed, u64 n, double least, u64 *place) {
    EACH(i, n) if (!(flags[i] & closed) && x[i] >= least) atomicMin(place, i);
}

// The sum of each piece, in a fixed order.
extern "C" __global__ void sums(const double *x, const u8 *flags, u32 closed, double floor, u64 n, double *out) {
    __shared__ double shared[256];
    double own = 0.0;
    for (u32 w = 0; w < 4; w++) {
        u64 i = (u64)blockIdx.x * PIECE + threadIdx.x * 4 + w;
        if (i < n && !(flags[i] & closed) && x[i] > floor) own += x[i];
    }
    shared[threadIdx.x] = own;
    __syncthreads();
    for (u32 half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = shared[0];
}

// The place in a piece at which its running sum passes a target; the last one that counts, where rounding keeps it from that.
extern "C" __global__ void passes(const double *x, const u8 *flags, u32 closed, double floor, u64 n, const u32 *piece,
                                  const double *target, u32 h, u32 *out) {
    EACH(t, h) {
        double sum = 0.0;
        u64 first = (u64)piece[t] * PIECE, last = first + PIECE < n ? first + PIECE : n;
        u32 found = 0xFFFFFFFFu;
        for (u64 i = first; i < last; i++) {
            if ((flags[i] & closed) || !(x[i] > floor)) continue;
            found = (u32)i;
            sum += x[i];
            if (sum > target[t]) break;
        }
        out[t] = found;
    }
}

// Takes one candidate out of what is left of the others: its column is (s − Σ earlier columns)/norm. `c` has a column a pivot.
// A block takes 32 candidates, each of which 8 threads add up earlier columns for. Numbers are read from `before` and written
// to `after`, because blocks run side by side.
__device__ inline void eliminate(const double *s, u32 h, double *c, u32 k, u32 best, double square, const double *before,
                                 double *after, double *pivot, double *parts) {
    for (u32 q = threadIdx.x; q < k; q += blockDim.x) pivot[q] = c[(u64)q * h + best];
    __syncthreads();
    u32 lane = threadIdx.x % 32, slice = threadIdx.x / 32;
    u64 r = (u64)blockIdx.x * 32 + lane;
    double sum = 0.0;
    if (r < h) {
#pragma unroll 4
        for (u32 q = slice; q < k; q += 8) sum += c[(u64)q * h + r] * pivot[q];
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (slice == 0 && r < h) {
        for (u32 other = 1; other < 8; other++) sum += parts[other * 32 + lane];
        double norm = sqrt(square), v = (s[(u64)best * h + r] - sum) / norm, left = before[r];
        if (left >= 0.0) left = fmax(left - v * v, 0.0);
        c[(u64)k * h + r] = r == best ? norm : v;
        after[r] = r == best ? -1.0 : left;
    }
}

#define MOST_PIVOTS 1024

// The candidate of which most is left, the lowest row of those within `tie`, becomes the k-th pivot. Of pivots −1 is left.
extern "C" __global__ void greedy(const double *s, u32 h, double *c, u32 k, const u32 *rows, double tie, const double *before,
                                  double *after, u32 *chosen, double *squares) {
    __shared__ double most[256];
    __shared__ u32 where[256];
    __shared__ double pivot[MOST_PIVOTS];
    double own = -1.0;
    for (u32 r = threadIdx.x; r < h; r += blockDim.x) own = fmax(own, before[r]);
    most[threadIdx.x] = own;
    __syncthreads();
    for (u32 half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) most[threadIdx.x] = fmax(most[threadIdx.x], most[threadIdx.x + half]);
        __syncthreads();
    }
    double largest = most[0];
    __syncthreads();
    u32 first = 0xFFFFFFFFu;
    for (u32 r = threadIdx.x; r < h; r += blockDim.x)
        if (before[r] >= 0.0 && before[r] >= largest - tie && (first == 0xFFFFFFFFu || rows[r] < rows[first])) first = r;
    where[threadIdx.x] = first;
    __syncthreads();
    for (u32 half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            u32 a = where[threadIdx.x], b = where[threadIdx.x + half];
            if (a == 0xFFFFFFFFu || (b != 0xFFFFFFFFu && rows[b] < rows[a])) where[threadIdx.x] = b;
        }
        __syncthreads();
    }
    u32 best = where[0];
    double square = best == 0xFFFFFFFFu ? 0.0 : before[best];
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        chosen[k] = square > 0.0 ? best : 0xFFFFFFFFu;
        squares[2 * k] = square;
        squares[2 * k + 1] = largest;
    }
    if (square > 0.0) {
        eliminate(s, h, c, k, best, square, before, after, pivot, most);
    } else {
        EACH(r, h) after[r] = before[r];
    }
}

// The candidate at a place becomes a pivot if more than so much is left of it, and there are not enough yet.
extern "C" __global__ void one_by_one(const double *s, u32 h, double *c, u32 place, double least, u32 most, const u32 *count,
                                      u32 *next_count, const double *before, double *after, u32 *chosen) {
    __shared__ double pivot[MOST_PIVOTS];
    __shared__ double parts[256];
    u32 k = *count;
    double square = before[place];
    bool accepted = k < most && square > least;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *next_count = accepted ? k + 1 : k;
        if (accepted) chosen[k] = place;
    }
    if (accepted) {
        eliminate(s, h, c, k, place, square, before, after, pivot, parts);
    } else {
        EACH(r, h) after[r] = before[r];
    }
}

// Rows of new pivots in the Cholesky factor of their residuals: b×b, lower, from the candidates' columns.
extern "C" __global__ void pivots_factor(const double *c, u32 h, const u32 *chosen, u32 b, double *l) {
    EACH(i, (u64)b * b) {
        u32 row = i % b, column = i / b;
        l[i] = column <= row ? c[(u64)column * h + chosen[row]] : 0.0;
    }
}

// Σ|a| of each row of a matrix.
extern "C" __global__ void row_sizes(const double *a, u64 stride, u32 rows, u32 columns, double *out) {
    EACH(r, rows) {
        double sum = 0.0;
        for (u32 j = 0; j < columns; j++) sum += fabs(a[(u64)j * stride + r]);
        out[r] = sum;
    }
}

// A matrix into a part of another.
extern "C" __global__ void copy(const double *from, u64 from_stride, double *to, u64 to_stride, u32 rows, u64 columns,
                                double factor) {
    CELLS(r, c, rows, columns) to[c * to_stride + r] = factor * from[c * from_stride + r];
}

// Copies the lower half of a square matrix to the upper one.
extern "C" __global__ void mirror(double *a, u64 stride, u32 m) {
    EACH(i, (u64)m * m) {
        u64 column = i / m, row = i % m;
        if (row < column) a[column * stride + row] = a[row * stride + column];
    }
}

// Features about a point, with targets below them: one-hot classes, or numbers.
extern "C" __global__ void with_targets(const double *z, u64 stride, const double *shift, u32 m, u64 n, const u32 *codes,
                                        const double *numbers, u32 c, double *w) {
    u32 all = m + c;
    CELLS(j, row, all, n) {
        double v = j < m ? z[row * stride + j] : numbers ? numbers[row * c + j - m] : codes[row] == j - m ? 1.0 : 0.0;
        w[row * all + j] = v - shift[j];
    }
}

// (x − y)·weight of columns, in the place of x.
extern "C" __global__ void apart(double *x, u64 stride, const double *y, u64 y_stride, const double *weights, u32 rows,
                                 u64 columns) {
    CELLS(r, c, rows, columns) x[c * stride + r] = (x[c * stride + r] - y[c * y_stride + r]) * weights[c];
}

// z − b.
extern "C" __global__ void subtract(double *z, u64 stride, const double *b, u32 q, u64 n) {
    CELLS(r, c, q, n) z[c * stride + r] -= b[r];
}

// For each feature the largest magnitude, and the first value that equals it up to rounding. A block a feature.
extern "C" __global__ void deciding(const double *z, u64 stride, u64 n, double equal, double *first, double *most) {
    __shared__ double values[256];
    __shared__ u64 places[256];
    const double *own = z + blockIdx.x;
    double best = -1.0;
    u64 at = 0;
    for (u64 i = threadIdx.x; i < n; i += 256)
        if (fabs(own[i * stride]) > best) {
            best = fabs(own[i * stride]);
            at = i;
        }
    values[threadIdx.x] = best;
    places[threadIdx.x] = at;
    __syncthreads();
    for (u32 half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            u32 o = threadIdx.x + half, t = threadIdx.x;
            if (values[o] > values[t] || (values[o] == values[t] && places[o] < places[t])) {
                values[t] = values[o];
                places[t] = places[o];
            }
        }
        __syncthreads();
    }
    double least = values[0] * (1.0 - equal);
    u64 of_most = places[0];
    __syncthreads();
    at = n;
    for (u64 i = threadIdx.x; i < n; i += 256)
        if (fabs(own[i * stride]) >= least) {
            at = i;
            break;
        }
    places[threadIdx.x] = at;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 t = 1; t < 256; t++) at = places[t] < at ? places[t] : at;
        first[blockIdx.x] = n > 0 ? own[(at < n ? at : of_most) * stride] : 0.0;
        most[blockIdx.x] = n > 0 ? own[of_most * stride] : 0.0;
    }
}

// Rows about an origin, in float32, by their order; with the size that bounds the error of their distances.
extern "C" __global__ void frame(const double *x, u32 p, const double *shift, double unit, u32 manhattan, const u32 *order,
                                 u64 n, float *out, float *sizes) {
    __shared__ double shared[256];
    EIGHT_ROWS(i, n) {
        double own = 0.0;
        if (i < n) {
            const double *row = x + (u64)order[i] * p;
            for (u32 j = threadIdx.x % LANES; j < p; j += LANES) {
                double v = row[j] * unit - shift[j] * unit;
                out[i * p + j] = (float)v;
                own += manhattan ? fabs(v) : v * v;
            }
        }
        double sum = row_sum(own, shared);
        if (threadIdx.x % LANES == 0 && i < n) sizes[i] = (float)sum;
    }
}

// ‖x−y‖₁ of rows of the base (down) and queries (across).
extern "C" __global__ void differences(float *s, u64 stride, const float *base, const float *queries, u32 l, u64 n, u32 p) {
    manhattan(s, stride, base, queries, l, n, p, [](float sum) { return sum; });
}

// A distance and a place as one number, ordered by the distance, then by the place.
__device__ inline u64 ordered(float distance, u32 place) {
    u32 bits = __float_as_uint(distance);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return ((u64)bits << 32) | place;
}

// The distance of such a number's upper half.
__device__ inline float unordered(u32 bits) { return __uint_as_float(bits & 0x80000000u ? bits & 0x7FFFFFFFu : ~bits); }

// Sorts a power of two of numbers in shared memory; all of the block must call it.
__device__ inline void sort(u64 *keys, u32 many) {
    for (u32 size = 2; size <= many; size *= 2)
        for (u32 step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            for (u32 i = threadIdx.x; i < many; i += blockDim.x) {
                u32 other = i ^ step;
                if (other > i) {
                    bool up = (i & size) == 0;
                    u64 a = keys[i], b = keys[other];
                    if ((a > b) == up) {
                        keys[i] = b;
                        keys[other] = a;
                    }
                }
            }
        }
    __syncthreads();
}

// The `room` smallest distances of a query so far, ascending, and those of another piece of the base; a block a query.
// s holds −2⟨x,y⟩ (manhattan: ‖x−y‖₁) of the piece (down) and the queries (across); what a base row adds is its size.
#define LISTED 4096
#define LOOKED_AT 2048
extern "C" __global__ void nearest(const float *s, u64 stride, u32 l, u32 first, const float *sizes, float whole,
                                   const u32 *slots, u32 room, u64 *best) {
    __shared__ u64 keys[LISTED];
    __shared__ u32 listed;
    const float *distances = s + (u64)blockIdx.x * stride;
    u64 *own = best + (u64)slots[blockIdx.x] * room;
    for (u32 i = threadIdx.x; i < room; i += blockDim.x) keys[i] = own[i];
    if (threadIdx.x == 0) listed = room;
    __syncthreads();
    u64 bound = keys[room - 1];
    float most = bound == 0xFFFFFFFFFFFFFFFFull ? 3.4e38f : unordered((u32)(bound >> 32));
    for (u32 begin = 0; begin < l; begin += LOOKED_AT) {
        float found[LOOKED_AT / 256];
#pragma unroll
        for (u32 w = 0; w < LOOKED_AT / 256; w++) {
            u32 i = begin + w * 256 + threadIdx.x;
            found[w] = i < l ? distances[i] : 3.4e38f;
        }
#pragma unroll
        for (u32 w = 0; w < LOOKED_AT / 256; w++) {
            u32 i = begin + w * 256 + threadIdx.x;
            if (i < l) found[w] += whole * sizes[i];
        }
#pragma unroll
        for (u32 w = 0; w < LOOKED_AT / 256; w++) {
            u32 i = begin + w * 256 + threadIdx.x;
            if (i < l && found[w] <= most) keys[atomicAdd(&listed, 1u)] = ordered(found[w], first + i);
        }
        __syncthreads();
        u32 many = listed;
        // As long as another look fits, what was found waits.
        if (many > room && (many + LOOKED_AT > LISTED || begin + LOOKED_AT >= l)) {
            u32 power = 2;
            while (power < many) power *= 2;
            for (u32 i = many + threadIdx.x; i < power; i += blockDim.x) keys[i] = 0xFFFFFFFFFFFFFFFFull;
            sort(keys, power);
            if (threadIdx.x == 0) listed = room;
            bound = keys[room - 1];
            most = bound == 0xFFFFFFFFFFFFFFFFull ? 3.4e38f : unordered((u32)(bound >> 32));
        }
        __syncthreads();
    }
    for (u32 i = threadIdx.x; i < room; i += blockDim.x) own[i] = keys[i];
}

// Rows of the base that are at most as far from a query as the farthest in its list, by tiles of 128 rows (down) and 128 queries
// (across), 64 sums a thread: distances pass through no memory. What is found is listed in any order, because it is sorted.
// Where a list is full, `full` says so, and nothing of it counts.
#define TILE 128
#define MOST_LISTED 2048
template <class Add>
__device__ inline void tiles(const float *base, u32 l, u32 first, const float *sizes, float factor, float whole, const float *queries,
                             u32 n, u32 p, const u32 *slots, u32 room, const u64 *best, u32 *counts, u64 *lists, u32 *full,
                             Add add) {
    __shared__ __align__(16) float a[DEPTH][TILE + 4];
    __shared__ __align__(16) float b[DEPTH][TILE + 4];
    u32 down = threadIdx.x % 16 * 4, across = threadIdx.x / 16 * 4, c0 = blockIdx.y * TILE;
    float most[8];
    for (u32 j = 0; j < 8; j++) {
        u32 c = c0 + j / 4 * 64 + across + j % 4;
        u64 bound = c < n ? best[(u64)slots[c] * room + room - 1] : 0;
        most[j] = c >= n ? -1.0f / 0.0f : bound == 0xFFFFFFFFFFFFFFFFull ? 3.4e38f : unordered((u32)(bound >> 32));
    }
    for (u32 r0 = blockIdx.x * TILE; r0 < l; r0 += gridDim.x * TILE) {
        float sum[8][8];
#pragma unroll
        for (u32 i = 0; i < 8; i++)
#pragma unroll
            for (u32 j = 0; j < 8; j++) sum[i][j] = 0.0f;
        for (u32 k0 = 0; k0 < p; k0 += DEPTH) {
            u32 depth = p - k0 < DEPTH ? p - k0 : DEPTH, k = threadIdx.x % DEPTH;
#pragma unroll 4
            for (u32 at = threadIdx.x / DEPTH; at < TILE; at += 256 / DEPTH) {
                a[k][at] = k < depth && r0 + at < l ? base[(u64)(r0 + at) * p + k0 + k] : 0.0f;
                b[k][at] = k < depth && c0 + at < n ? queries[(u64)(c0 + at) * p + k0 + k] : 0.0f;
            }
            __syncthreads();
#pragma unroll 2
            for (u32 k = 0; k < depth; k++) {
                float x[8], y[8];
#pragma unroll
                for (u32 half = 0; half < 2; half++) {
                    float4 left = *(const float4 *)&a[k][half * 64 + down], right = *(const float4 *)&b[k][half * 64 + across];
                    x[half * 4] = left.x, x[half * 4 + 1] = left.y, x[half * 4 + 2] = left.z, x[half * 4 + 3] = left.w;
                    y[half * 4] = right.x, y[half * 4 + 1] = right.y, y[half * 4 + 2] = right.z, y[half * 4 + 3] = right.w;
                }
#pragma unroll
                for (u32 i = 0; i < 8; i++)
#pragma unroll
                    for (u32 j = 0; j < 8; j++) sum[i][j] = add(sum[i][j], x[i], y[j]);
            }
            __syncthreads();
        }
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            u32 r = r0 + i / 4 * 64 + down + i % 4;
            float size = r < l ? whole * sizes[r] : 1.0f / 0.0f;
            u32 found = 0;
#pragma unroll
            for (u32 j = 0; j < 8; j++) {
                sum[i][j] = factor * sum[i][j] + size;
                found |= (sum[i][j] <= most[j] ? 1u : 0u) << j;
            }
            // Seldom. Written once for all columns, because it would be compiled for each of them.
            while (found) {
                u32 j = __ffs(found) - 1, c = c0 + j / 4 * 64 + across + j % 4, at = atomicAdd(&counts[c], 1u);
                float distance = sum[i][0];
#pragma unroll
                for (u32 other = 1; other < 8; other++) distance = j == other ? sum[i][other] : distance;
                if (at < MOST_LISTED) {
                    lists[(u64)c * MOST_LISTED + at] = ordered(distance, first + r);
                } else {
                    *full = 1;
                }
                found &= found - 1;
            }
        }
    }
}

// By ‖y‖² − 2⟨x,y⟩.
extern "C" __global__ void __launch_bounds__(256, 2)
    closer(const float *base, u32 l, u32 first, const float *sizes, const float *queries, u32 n, u32 p, const u32 *slots, u32 room,
           const u64 *best, u32 *counts, u64 *lists, u32 *full) {
    tiles(base, l, first, sizes, -2.0f, 1.0f, queries, n, p, slots, room, best, counts, lists, full,
          [](float sum, float x, float y) { return sum + x * y; });
}

// By ‖x−y‖₁.
extern "C" __global__ void __launch_bounds__(256, 2)
    closer_by_differences(const float *base, u32 l, u32 first, const float *sizes, const float *queries, u32 n, u32 p,
                          const u32 *slots, u32 room, const u64 *best, u32 *counts, u64 *lists, u32 *full) {
    tiles(base, l, first, sizes, 1.0f, 0.0f, queries, n, p, slots, room, best, counts, lists, full,
          [](float sum, float x, float y) { return sum + fabs(x - y); });
}

// The `room` smallest of what a query had and what was listed for it; a block a query.
extern "C" __global__ void merge_listed(const u32 *counts, const u64 *lists, const u32 *full, const u32 *slots, u32 room,
                                        u64 *best) {
    __shared__ u64 keys[LISTED];
    u32 many = counts[blockIdx.x];
    if (*full || many == 0) return;
    const u64 *found = lists + (u64)blockIdx.x * MOST_LISTED;
    u64 *own = best + (u64)slots[blockIdx.x] * room;
    u32 power = 2;
    while (power < room + many) power *= 2;
    for (u32 i = threadIdx.x; i < power; i += blockDim.x)
        keys[i] = i < room ? own[i] : i < room + many ? found[i - room] : 0xFFFFFFFFFFFFFFFFull;
    sort(keys, power);
    for (u32 i = threadIdx.x; i < room; i += blockDim.x) own[i] = keys[i];
}
