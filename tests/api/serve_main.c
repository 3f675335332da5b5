/* tests/api/serve_main.c - cairn serve as a program of its own, for tests that talk to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server/server.h"

int main(int argc, char **argv)
{
    return cmd_serve(argc, argv);
}
