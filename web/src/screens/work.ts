// work.ts - instances and jobs one by one: loaded together, since they share most parts.
//
// SPDX-License-Identifier: Apache-2.0
export { default as Instance } from "./instance";
export { default as Jobs, Job } from "./jobs";
