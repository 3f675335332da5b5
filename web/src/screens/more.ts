// more.ts - the smaller screens, loaded together.
//
// SPDX-License-Identifier: Apache-2.0
export { default as Approvals } from "./approvals";
export { default as Dead } from "./dead";
export { Settings, SignIn, Workers } from "./rest";
