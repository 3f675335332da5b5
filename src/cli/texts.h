/* cli/texts.h - sentences that the help of several commands shares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TEXTS_H
#define CLI_TEXTS_H

#define TEXT_ID "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f"

#define TEXT_PAGES                                                                          \
    "With -o json the answer is one object, {\"items\": [...], \"next\": CURSOR or null}; " \
    "with --all it holds all pages and next is null."

#define TEXT_MANY_IDS(thing)                                                              \
    " \"-\" reads ids from standard input. If one id is rejected, the others are still "  \
    "processed, and the exit code is 1. With -o json one id gives the " thing "; several" \
    " ids, or \"-\", give {\"items\": [...], \"next\": null}, where a rejected id is "    \
    "{\"id\", \"code\", \"message\"}."

#endif
