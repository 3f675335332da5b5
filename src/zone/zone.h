/* zone/zone.h - IANA time zones, from the system's zone data.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The only room that knows GLib, whose GTimeZone reads the data.
 */
#ifndef ZONE_ZONE_H
#define ZONE_ZONE_H

#include "cairn.h"

#include <stdbool.h>
#include <stdint.h>

/* Longer than any name. */
enum { ZONE_NAME_MAX = 64 };

struct zone;

/* Such as "Europe/Berlin"; "UTC" needs no zone data.  CAIRN_E_BAD_INPUT: there is no such zone. */
cairn_code zone_open(const char *name, struct zone **ret_zone, cairn_error *reterr);
void zone_close(struct zone *zone);   /* may be NULL */
void zone_closep(struct zone **zone); /* for cleanup() */

/* How many seconds local time is ahead of UTC at an instant, which is in seconds since 1970. */
int64_t zone_offset_s(const void *zone, int64_t at_s);

#endif
