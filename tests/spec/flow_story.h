/* tests/spec/flow_story.h - one story of workflows that uses every call, told as a text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPEC_FLOW_STORY_H
#define SPEC_FLOW_STORY_H

#include "cairn.h"

/* As story_play(), on an engine with a virtual clock and an empty store; free() the text. */
char *flow_story_play(cairn_engine *engine);

#endif
