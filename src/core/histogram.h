/* core/histogram.h - how long things took, counted in steps of two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_HISTOGRAM_H
#define CORE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bucket 0 counts what took less than 2 us, bucket i from 2^i us on; the last one counts all that took longer,
 * which is 12 days and more. */
enum { HISTOGRAM_BUCKETS = 40, HISTOGRAM_TEXT = HISTOGRAM_BUCKETS * 24 };

/* A zeroed struct is empty. */
struct histogram {
    int64_t n[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, int64_t us); /* below 0 counts as 0 */
void histogram_merge(struct histogram *to, const struct histogram *from);

/* Such as 0.5: a time than which this share took no longer, in microseconds; -1: nothing was counted.  Within
 * a bucket times are taken to be spread evenly. */
int64_t histogram_quantile(const struct histogram *histogram, double share);

/* Up to HISTOGRAM_BUCKETS numbers as text: "12:5,13:2", without those that are 0. */
void numbers_write(const int64_t *numbers, int count, char text[HISTOGRAM_TEXT]);
void numbers_read(const char *text, int64_t *ret_numbers,
                  int count); /* what is none is left out */

/* "12:5,13:2": bucket and count, without those that are 0. */
void histogram_write(const struct histogram *histogram, char text[HISTOGRAM_TEXT]);
void histogram_read(const char *text,
                    struct histogram *ret_histogram); /* what is none is left out */

#endif
