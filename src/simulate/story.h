/* simulate/story.h - the words in which runs are told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMULATE_STORY_H
#define SIMULATE_STORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORY_TIME_TEXT = 40 };

/* "00:00:31.6" since the start, "3d 00:00:00.0" after days. */
void story_time(char text[STORY_TIME_TEXT], int64_t us);

/* What an event of the engine says; false: nothing that people need to know.  has_calls: also calls of handlers
 * and how they end, which are otherwise told by who makes them. */
bool story_sentence(char *line, size_t room, const char *type, const char *step,
                    bool has_calls);

#endif
