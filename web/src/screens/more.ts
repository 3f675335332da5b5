// more.ts - the smaller screens, loaded together.
//
// SPDX-License-Identifier: Apache-2.0
export { default as Approvals } from "./approvals";
export { default as Dead } from "./dead";
export { SignIn, Workers } from "./rest";
export { Schedule, Schedules } from "./schedules";
export { Settings } from "./settings";
