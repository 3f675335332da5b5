package cairntest

import "cairn.invalid/cairn/internal/hook"

// VerdictOf is for tests of environments without faults.
func VerdictOf(v *Env, id string) ([]byte, error) { return hook.Verdict(v.Engine, id, nil) }
