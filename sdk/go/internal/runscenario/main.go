// Command runscenario executes a scenario of tests/sdk:
//
//	runscenario SCENARIO.json URL
package main

import "cairn.invalid/cairn/internal/scenario"

func main() { scenario.Main(nil) }
