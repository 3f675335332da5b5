/* http/intake.c - a request's body while it comes in, and how much memory bodies may take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/intake.h"

#include "base/error.h"

void intake_drop(struct intake *intake)
{
    intake->budget->used -= intake->counted;
    intake->counted = 0;
    buf_done(&intake->body);
}

cairn_code intake_refuse_size(cairn_error *reterr)
{
    fail(reterr, CAIRN_E_TOO_LARGE, "the request body is too large");
    return fail_detail(reterr, CAIRN_E_TOO_LARGE, "%u bytes are allowed", (unsigned)BODY_MAX);
}

/* Counts a body that grows to `len` bytes against the budget. */
static bool count(struct intake *intake, size_t len)
{
    struct budget *budget = intake->budget;
    size_t wanted = len > BODY_SMALL ? len : 0;
    if (wanted <= intake->counted)
        return true;
    if (wanted - intake->counted > budget->max - budget->used)
        return false;
    budget->used += wanted - intake->counted;
    intake->counted = wanted;
    return true;
}

static cairn_code keep(struct intake *intake, const char *bytes, size_t len,
                       cairn_error *reterr)
{
    if (len > BODY_MAX - intake->body.len)
        return intake_refuse_size(reterr);
    if (!count(intake, intake->body.len + len)) {
        fail(reterr, CAIRN_E_TOO_MANY, "too many large requests at once");
        return fail_hint(reterr, CAIRN_E_TOO_MANY,
                         "try again later, or send at most %d bytes in one request",
                         (int)BODY_SMALL);
    }
    buf_add(&intake->body, bytes, len);
    return buf_failed(&intake->body) ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code intake_keep(struct intake *intake, const char *bytes, size_t len,
                       cairn_error *reterr)
{
    cairn_code code = keep(intake, bytes, len, reterr);
    if (code)
        intake_drop(intake);
    return code;
}

bool intake_discard(struct intake *intake, size_t len)
{
    intake->discarded += len;
    return intake->discarded <= DISCARD_MAX;
}
