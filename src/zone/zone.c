/* zone/zone.c - time zones by GLib.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "zone/zone.h"

#include "base/error.h"

#include <glib.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Only names of zones: GLib also takes offsets, rules such as EST5 and paths, which are no zones. */
static bool is_name(const char *name)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_+-";
    size_t len = strlen(name);
    return len > 0 && len <= ZONE_NAME_MAX && strspn(name, letters) == len &&
           g_ascii_isalpha(name[0]) && name[len - 1] != '/';
}

static bool is_in_data(const char *name)
{
    char path[512];
    const char *folder = getenv("TZDIR"); /* as GLib does */
    FILE *file = NULL;
    char magic[4] = "";
    int len =
        snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/share/zoneinfo", name);
    if (len > 0 && (size_t)len < sizeof path)
        file = fopen(path, "rbe");
    if (!file)
        return false;
    size_t count = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return count == sizeof magic && memcmp(magic, "TZif", sizeof magic) == 0;
}

static bool is_known(const char *name)
{
    return strcmp(name, "UTC") == 0 || (is_name(name) && is_in_data(name));
}

cairn_code zone_open(const char *name, struct zone **ret_zone, cairn_error *reterr)
{
    GTimeZone *zone = is_known(name) ? g_time_zone_new_identifier(name) : NULL;
    if (zone) {
        *ret_zone = (struct zone *)zone;
        return CAIRN_OK;
    }
    bool has_data = is_in_data("Europe/Berlin");
    cairn_code code =
        fail(reterr, CAIRN_E_BAD_INPUT, "time zone \"%.64s\" does not exist", name);
    if (has_data)
        return fail_hint(reterr, code, "give an IANA name such as Europe/Berlin, or UTC");
    return fail_hint(
        reterr, code,
        "this machine has no zone data, so that only UTC is known: install tzdata");
}

void zone_close(struct zone *zone)
{
    if (zone)
        g_time_zone_unref((GTimeZone *)zone);
}

void zone_closep(struct zone **zone)
{
    zone_close(*zone);
}

int64_t zone_offset_s(const void *zone, int64_t at_s)
{
    GTimeZone *data = (GTimeZone *)zone;
    int interval = g_time_zone_find_interval(data, G_TIME_TYPE_UNIVERSAL, at_s);
    return g_time_zone_get_offset(data, interval);
}
