// Package hook lets cairntest look into an engine without exported names.
package hook

// Goroutines tells how many goroutines an engine has running; the package cairn sets it.
var Goroutines func(engine any) int
