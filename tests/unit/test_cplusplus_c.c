/* tests/unit/test_cplusplus_c.c - defaults as C makes them, for test_cplusplus.cpp.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

extern const cairn_open_options c_open;
extern const cairn_job_spec c_job;
extern const cairn_report c_report;
extern const cairn_step_options c_step;

const cairn_open_options c_open = CAIRN_OPEN_DEFAULTS;
const cairn_job_spec c_job = CAIRN_JOB_DEFAULTS;
const cairn_report c_report = CAIRN_REPORT_DEFAULTS;
const cairn_step_options c_step = CAIRN_STEP_DEFAULTS;
