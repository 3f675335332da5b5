/* tests/spec/family.h - parents and children of workflows in a world of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * fw->id is the instance that the helpers of flow_world.h speak of: a test moves between relatives.
 */
#ifndef SPEC_FAMILY_H
#define SPEC_FAMILY_H

#include "saga.h"

/* A world with the workflow "w" of these elements and one or two others, of which "w" is started. */
void fam_begin(struct flow_world *fw, const char *elements, const char *child,
               const char *grandchild);

/* A claim that finds nothing: relatives have been told by its answer. */
void fam_settle(struct flow_world *fw);

/* The number-th child of this instance, from 0, the oldest first; it must be there. */
void fam_child(struct flow_world *fw, const char *parent, size_t number, char ret_id[40]);
size_t fam_count(struct flow_world *fw, const char *parent);

/* The helpers speak of this instance from now on. */
void fam_go(struct flow_world *fw, const char *id);

/* A status and the steps of an instance, without moving to it. */
void fam_check(struct flow_world *fw, const char *id, const char *status, const char *steps);

#endif
