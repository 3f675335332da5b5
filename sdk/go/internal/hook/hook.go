// Package hook lets cairntest look into an engine without exported names.
package hook

// Goroutines tells how many goroutines an engine has running; the package cairn sets it.
var Goroutines func(engine any) int

// Trial says what goes wrong: the members of cairn_trial_options.
type Trial struct {
	Fail, Crash, Timeout, Late, Twice, Restart float64
	FailOf                                     string
}

// OpenTrial opens an engine with faults. The config is a cairn.Config, the engine a *cairn.Engine.
var OpenTrial func(config any, trial *Trial) (engine any, err error)

// Verdict answers what cairn_trial_check says, as JSON. id "": only the story.
var Verdict func(engine any, id string, laws []string) ([]byte, error)
