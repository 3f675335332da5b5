/* remote/encode.h - the pieces that requests are written with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef REMOTE_ENCODE_H
#define REMOTE_ENCODE_H

#include "base/json.h"
#include "remote/remote.h"

/* Method and path: "/v1/jobs/", a name that is escaped, and what follows it. */
void aim(struct transfer *transfer, const char *method, const char *path);
void aim_at(struct transfer *transfer, const char *method, const char *path, const char *name,
            const char *rest);

void aim_more(struct transfer *transfer, const char *name, const char *rest); /* behind it */

/* Query parameters; NULL is left out. */
void aim_query(struct transfer *transfer, const char *name, const char *value);
void aim_page(struct transfer *transfer, const char *cursor, uint32_t limit);

/* Fields of a body; NULL, and an instant of 0, are left out.  An instant has all six decimals:
 * cut to milliseconds, something would be due before its time. */
void put_text(struct json_out *out, const char *key, const char *text);
void put_json(struct json_out *out, const char *key, const char *json);
void put_int(struct json_out *out, const char *key, int64_t value);
void put_instant(struct json_out *out, const char *key, int64_t us);

/* Fields of a job and of an instance to be started, without the outer brackets. */
void put_job_spec(struct json_out *out, const cairn_job_spec *spec);
void put_start_spec(struct json_out *out, const cairn_start_options *options);

/* "claim": {...} and "outbound": [...]; no events: nothing. */
void put_claim(struct json_out *out, const cairn_claim_options *claim,
               struct transfer *transfer);
void put_outbound(struct json_out *out, const cairn_outbound *events, size_t count);

/* encode_commit.c: what a passage of a function has done. */
void encode_commit(const struct commit_input *in, struct transfer *transfer,
                   struct json_out *out);

/* encode_flow.c: requests about workflows and their instances. */
void encode_flow(const struct request *request, struct transfer *transfer);

#endif
