/* core/histogram.c - how long things took, counted in steps of two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/histogram.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bucket_of(int64_t us)
{
    int bucket = 0;
    while (us > 1 && bucket < HISTOGRAM_BUCKETS - 1) {
        us >>= 1;
        bucket++;
    }
    return bucket;
}

void histogram_add(struct histogram *histogram, int64_t us)
{
    histogram->n[bucket_of(us)]++;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        to->n[i] += from->n[i];
}

int64_t histogram_quantile(const struct histogram *histogram, double share)
{
    int64_t total = 0, before = 0;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        total += histogram->n[i];
    double rank = share * (double)total;
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        int64_t n = histogram->n[i];
        if (n && (double)(before + n) >= rank) {
            double low = i ? ldexp(1, i) : 0, high = ldexp(1, i + 1);
            return (int64_t)(low + (high - low) * (rank - (double)before) / (double)n);
        }
        before += n;
    }
    return -1;
}

void numbers_write(const int64_t *numbers, int count, char text[HISTOGRAM_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        if (numbers[i])
            used += (size_t)snprintf(text + used, HISTOGRAM_TEXT - used, "%s%d:%lld",
                                     used ? "," : "", i, (long long)numbers[i]);
}

void numbers_read(const char *text, int64_t *ret_numbers, int count)
{
    memset(ret_numbers, 0, (size_t)count * sizeof *ret_numbers);
    while (text && *text) {
        char *end;
        long number = strtol(text, &end, 10);
        long long n = *end == ':' ? strtoll(end + 1, &end, 10) : 0;
        if (number >= 0 && number < count && n > 0)
            ret_numbers[number] += n;
        text = *end == ',' ? end + 1 : NULL;
    }
}

void histogram_write(const struct histogram *histogram, char text[HISTOGRAM_TEXT])
{
    numbers_write(histogram->n, HISTOGRAM_BUCKETS, text);
}

void histogram_read(const char *text, struct histogram *ret_histogram)
{
    numbers_read(text, ret_histogram->n, HISTOGRAM_BUCKETS);
}
