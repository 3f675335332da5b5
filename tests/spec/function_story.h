/* tests/spec/function_story.h - one story of functions that uses every field of a commit, told as a
 * text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPEC_FUNCTION_STORY_H
#define SPEC_FUNCTION_STORY_H

#include "cairn.h"

/* Plays it on an engine with a virtual clock and an empty store.  What is told does not depend on
 * ids that the engine makes; free() it. */
char *function_story_play(cairn_engine *engine);

#endif
