#include "saga.h"
TEST(nothing_yet)
{
}
