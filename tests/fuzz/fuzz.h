/* tests/fuzz/fuzz.h - what the fuzz targets share.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each target is one file that defines LLVMFuzzerTestOneInput().  With -Dfuzz=true (clang) it is
 * linked with libFuzzer, which invents inputs; otherwise with replay.c, which runs the target on
 * the files of its corpus.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* What must hold for every input.  abort() makes libFuzzer keep the input. */
#define MUST(claim)                                                                    \
    do {                                                                               \
        if (!(claim)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #claim); \
            abort();                                                                   \
        }                                                                              \
    } while (0)

#endif
