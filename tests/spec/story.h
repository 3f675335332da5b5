/* tests/spec/story.h - one story that uses every call, told as a text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPEC_STORY_H
#define SPEC_STORY_H

#include "cairn.h"

/* Plays it on an engine with a virtual clock and an empty store.  The text leaves out what is new
 * each time (ids, tokens) and tells times from the beginning on; free() it. */
char *story_play(cairn_engine *engine);

#endif
