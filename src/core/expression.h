/* core/expression.h - what expressions may name: "{{ $.steps.charge.output.card }}".
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Expressions stand in conditions (core/condition.h) and in templates (core/template.h).  The
 * language is that of Go's templates, without anything that repeats:
 *
 *     .user.age      a field of the data that arrives; "." is all of it
 *     $.input        the instance's input; $.input.user.age is a field of it
 *     $.steps.charge.output
 *                    the output of a step that has finished; null until then.  A name that is no
 *                    word: (index $.steps "charge-card").output
 *     $.instance_id  $.key  $.tags
 *     (f x).field    a field of a call's value
 *     "a\n" `raw`    strings, as in Go
 *     5 -1.5 1e3     numbers, as in JSON
 *     true false
 *     x | f a        f a x: the value before a pipe is the last argument
 *
 *     eq a b ...     a equals b, or any of the others
 *     ne gt lt ge le two arguments
 *     and or         two or more booleans; the rest is not looked at once the answer is known
 *     not            one boolean
 *     len x          bytes of a string, elements of an array, members of an object
 *     index x k ...  the element number k (from 0) of an array, the member k of an object
 *     contains a x   whether string a stands in string x, or value a in array x
 *     hasPrefix a x, hasSuffix a x
 *                    whether string x begins or ends with a
 *     default a x    a if x is missing, else x
 *     json x         x as the text of JSON, with sorted keys
 *
 * A field that is absent or null is missing; so is any field of what is no object, and an element
 * beyond an array's end.  What is missing is the zero of what it is compared with (0, "", false),
 * false by itself, "" or empty as an argument, and null as a value.
 *
 * Numbers compare as decimals, exactly; strings compare byte by byte.  A string that is a
 * JSON number compares with a number as that number; any other string is not equal to a number,
 * and has no order with it.  Booleans are equal or not, but have no order.  Objects and arrays
 * cannot be compared, nor values of any other two types.
 *
 * An expression has at most 4096 bytes, 64 parentheses inside each other and 64 pipes.  Variables,
 * nil and all other actions and functions of Go are refused.
 */
#ifndef CORE_EXPRESSION_H
#define CORE_EXPRESSION_H

#include "base/arena.h"
#include "cairn.h"

#include <stdbool.h>
#include <stddef.h>

struct expression_output {
    const char *step;   /* its name */
    const char *output; /* JSON; NULL: it has not finished */
};

/* What expressions see.  Texts are JSON except where said; NULL is as good as null. */
struct expression_scope {
    const char *data;        /* . */
    const char *input;       /* $.input */
    const char *instance_id; /* plain text */
    const char *key;         /* plain text */
    const char *tags;        /* an object */
    const char *step_name;   /* plain text; .step_name of a condition */
    /* Those that condition_steps() or template_steps() name; others count as not finished. */
    const struct expression_output *outputs;
    size_t output_count;
};

/* Names of steps, each once. */
struct expression_steps {
    const char **items;
    size_t count, room;
};

#endif
