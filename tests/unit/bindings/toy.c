/* A library with one function for every way in which the seam passes and returns values. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int32_t toy_i32(int32_t a) { return a; }
uint32_t toy_u32(uint32_t a) { return a; }
int64_t toy_i64(int64_t a) { return a; }
uint64_t toy_u64(uint64_t a) { return a; }
size_t toy_usize(size_t a) { return a; }
void *toy_ptr(void *a) { return a; }
float toy_f32(float a) { return a * 2; }
double toy_f64(double a) { return a * 2; }
int32_t toy_char(char a) { return (signed char)a; }
const char *toy_str(const char *a) { return a; }
int64_t toy_length(const char *a) { return a ? (int64_t)strlen(a) : -1; }

int toy_status(int status) { return status; }
static int64_t counter;
void toy_void(int64_t a) { counter += a; }
int64_t toy_counter(void) { return counter; }
void toy_reset(void) { counter = 0; }

/* sums with weights, so that a swapped argument changes the result */
int64_t toy_sixteen(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h, int64_t i,
                    int64_t j, int64_t k, int64_t l, int64_t m, int64_t n, int64_t o, int64_t p)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l + 13 * m +
           14 * n + 15 * o + 16 * p;
}

#define I8(x) int32_t x##0, int32_t x##1, int32_t x##2, int32_t x##3, int32_t x##4, int32_t x##5, int32_t x##6, int32_t x##7
#define S8(x, w)                                                                                                       \
    ((w + 1) * (int64_t)x##0 + (w + 2) * (int64_t)x##1 + (w + 3) * (int64_t)x##2 + (w + 4) * (int64_t)x##3 +             \
     (w + 5) * (int64_t)x##4 + (w + 6) * (int64_t)x##5 + (w + 7) * (int64_t)x##6 + (w + 8) * (int64_t)x##7)
int64_t toy_thirty_two(I8(a), I8(b), I8(c), I8(d)) { return S8(a, 0) + S8(b, 8) + S8(c, 16) + S8(d, 24); }

double toy_mixed(int32_t a, float b, int64_t c, double d, void *e, float f, uint32_t g, double h, int64_t i, double j,
                 int64_t k, double l, int64_t m, float n, int64_t o, double p)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * (double)(intptr_t)e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k +
           12 * l + 13 * m + 14 * n + 15 * o + 16 * p;
}

float toy_many_floats(float a, float b, float c, float d, float e, float f, float g, float h)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

int toy_outs(int32_t a, int32_t *i, uint32_t *u, int64_t *q, uint64_t *uq, size_t *z, void **p, float *f, double *d,
             signed char *c, const char **s, int status)
{
    *i = -a, *u = 4000000000u, *q = -5000000000, *uq = 18000000000000000000u, *z = 7, *p = (void *)0x7fffffffffff;
    *f = 1.5f, *d = 2.5, *c = -3, *s = a ? "text" : NULL;
    return status;
}

int64_t toy_value_and_out(int64_t a, int64_t *b) { *b = a + 1; return a; }

double toy_sum(int64_t n, const int32_t *i, const int64_t *q, const float *f, const double *d)
{
    double total = 0;
    for (int64_t k = 0; k < n; k++)
        total += (i ? i[k] : 0) + (q ? q[k] : 0) + (f ? f[k] : 0) + (d ? d[k] : 0);
    return total;
}

uint64_t toy_second_u64(const uint64_t *a) { return a[1]; }
uint32_t toy_second_u32(const uint32_t *a) { return a[1]; }
void *toy_second_ptr(void **a) { return a[1]; }
int32_t toy_second_char(const signed char *a) { return a[1]; }
const char *toy_second_str(const char **a) { return a[1]; }
int toy_fill(int32_t *a, int32_t n) { for (int32_t k = 0; k < n; k++) a[k] = k + 1; return 0; }

int toy_add(double *a, const double *b, int32_t times)
{
    *a += times * *b;
    return 0;
}

/* refuses what is negative */
int toy_add_scaled(double *a, const double *b, double by, int32_t times)
{
    *a += times * by * *b;
    return *b < 0 ? 42 : 0;
}

int toy_scale(double *a, double by) { *a *= by; return 0; }
int toy_refuse_third(int64_t *seen) { return ++*seen == 3 ? 42 : 0; }

/* 0 once another thread has set the flag, 1 if none does for ten seconds */
int toy_wait(int32_t *started, const volatile int32_t *flag)
{
    struct timespec millisecond = {0, 1000000L};
    *started = 1;
    for (int32_t k = 0; k < 10000; k++) {
        if (*flag)
            return 0;
        nanosleep(&millisecond, NULL);
    }
    return 1;
}

int toy_version(int kind, int *value) { *value = kind + 1; return 0; }

/* complex numbers by value, as in the CUDA libraries: a pair of floats, and an aligned pair of doubles */
typedef struct { float x, y; } c64;
typedef struct { _Alignas(16) double x; double y; } c128;
double toy_complex(int32_t a, c64 b, double c, c128 d, c64 e, int64_t f)
{
    return a + 2 * b.x + 3 * b.y + 4 * c + 5 * d.x + 6 * d.y + 7 * e.x + 8 * e.y + 9 * (double)f;
}

int64_t toy_bytes(const unsigned char *data, size_t n)
{
    int64_t sum = data ? 0 : -1;
    for (size_t k = 0; data && k < n; k++)
        sum += data[k];
    return sum;
}
void toy_memset(void *data, int32_t value, size_t n) { memset(data, value, n); }
