/* tests/unit/test_error.c - codes, messages, and where they are cut.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/json.h"
#include "test.h"

TEST(an_error_says_what_it_was_told)
{
    cairn_error error;
    CHECK_INT(fail(&error, CAIRN_E_NOT_FOUND, "job \"%s\" does not exist", "x"),
              CAIRN_E_NOT_FOUND);
    CHECK_INT(error.code, CAIRN_E_NOT_FOUND);
    CHECK_STR(error.message, "job \"x\" does not exist");
    CHECK_STR(error.detail, "");
    CHECK_STR(error.hint, "");
    CHECK_INT(fail_detail(&error, CAIRN_E_NOT_FOUND, "fact %d", 1), CAIRN_E_NOT_FOUND);
    CHECK_INT(fail_hint(&error, CAIRN_E_NOT_FOUND, "do %d", 2), CAIRN_E_NOT_FOUND);
    CHECK_STR(error.detail, "fact 1");
    CHECK_STR(error.hint, "do 2");
    CHECK_INT(fail_memory(&error), CAIRN_E_OUT_OF_MEMORY);
    CHECK_STR(error.detail, "");
    CHECK_STR(error.hint, "");
    error_clear(&error);
    CHECK_INT(error.code, CAIRN_OK);
    CHECK_STR(error.message, "");
}

TEST(nobody_need_listen)
{
    CHECK_INT(fail(NULL, CAIRN_E_BUSY, "x"), CAIRN_E_BUSY);
    CHECK_INT(fail_detail(NULL, CAIRN_E_BUSY, "x"), CAIRN_E_BUSY);
    CHECK_INT(fail_hint(NULL, CAIRN_E_BUSY, "x"), CAIRN_E_BUSY);
    CHECK_INT(fail_memory(NULL), CAIRN_E_OUT_OF_MEMORY);
    error_clear(NULL);
}

/* Fills to every offset around the end with characters of 1 to 4 bytes. */
TEST(a_text_that_is_too_long_is_cut_between_characters)
{
    static const char *const characters[] = {"x", "\xc3\xa4", "\xe2\x82\xac",
                                             "\xf0\x9f\x98\x80"};
    for (size_t kind = 0; kind < 4; kind++) {
        for (size_t lead = 0; lead < 8; lead++) {
            char text[1024] = "", *at = text;
            for (size_t i = 0; i < lead; i++)
                *at++ = '.';
            while (at < text + 900)
                at = stpcpy(at, characters[kind]);

            cairn_error error;
            fail(&error, CAIRN_E_STORE, "%s", text);
            fail_detail(&error, CAIRN_E_STORE, "%s", text);
            fail_hint(&error, CAIRN_E_STORE, "%s", text);
            const char *cuts[] = {error.message, error.detail, error.hint};
            size_t rooms[] = {sizeof error.message, sizeof error.detail, sizeof error.hint};
            for (size_t i = 0; i < 3; i++) {
                size_t len = strlen(cuts[i]);
                CHECK(utf8_is_valid(cuts[i], len), "kind %zu, lead %zu: half a character", kind,
                      lead);
                CHECK(len + 1 + kind >= rooms[i], "kind %zu, lead %zu: %zu of %zu bytes used",
                      kind, lead, len, rooms[i]);
                CHECK(strncmp(cuts[i], text, len) == 0, "another text");
            }
        }
    }
}

TEST(a_text_that_just_fits_is_kept_whole)
{
    char text[256];
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    text[254] = 'x';
    text[255] = '\0';
    cairn_error error;
    fail(&error, CAIRN_E_STORE, "%s", text);
    CHECK_STR(error.message, text);
}

TEST(every_code_has_a_name_a_status_and_a_meaning)
{
    CHECK_STR(cairn_code_name(CAIRN_OK), "ok");
    CHECK_STR(cairn_code_name(CAIRN_E_LEASE_LOST), "lease_lost");
    CHECK_INT(cairn_code_http_status(CAIRN_E_LEASE_LOST), 409);
    CHECK_STR(cairn_code_name(CAIRN_E_INTERNAL), "internal");
    for (int code = CAIRN_OK; code <= CAIRN_E_INTERNAL; code++) {
        CHECK(cairn_code_name((cairn_code)code)[0], "code %d has no name", code);
        CHECK(cairn_code_meaning((cairn_code)code)[0], "code %d has no meaning", code);
        int status = cairn_code_http_status((cairn_code)code);
        CHECK(status >= 200 && status < 600, "code %d has status %d", code, status);
    }
    CHECK_STR(cairn_code_name((cairn_code)9999), "internal");
    CHECK_STR(cairn_code_name((cairn_code)-1), "internal");
}
