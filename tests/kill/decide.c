/* tests/kill/decide.c - the human of test_saga.py: decides what it is told to decide.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     decide URL STEP
 *
 * Reads lines "INSTANCE confirmed|rejected" and answers each with "INSTANCE decided", or with the
 * word for why not: wrong_state: nobody is asked (any more); failed: standard error says why.
 */
#include <cairn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    cairn_error error = {0};
    cairn_engine *engine = NULL;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    char instance[64], word[16];
    if (argc != 3)
        return 2;
    open.url = argv[1];
    if (cairn_open(&open, &engine, &error)) {
        fprintf(stderr, "decide: %s: %s\n", error.message, error.detail);
        return 3;
    }
    while (scanf("%63s %15s", instance, word) == 2) {
        cairn_code code = cairn_decide(engine, instance, argv[2],
                                       strcmp(word, "confirmed") == 0, "test", NULL, &error);
        if (code && code != CAIRN_E_WRONG_STATE)
            fprintf(stderr, "decide: %s: %s\n", error.message, error.detail);
        printf("%s %s\n", instance,
               code == CAIRN_OK              ? "decided"
               : code == CAIRN_E_WRONG_STATE ? "wrong_state"
                                             : "failed");
        fflush(stdout);
    }
    cairn_close(engine);
    return 0;
}
