// Command errgen writes errors_gen.go from spec/errors.txt.
//
//	errgen ERRORS.TXT OUTPUT.GO
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: errgen ERRORS.TXT OUTPUT.GO")
		os.Exit(2)
	}
	list, err := os.ReadFile(os.Args[1])
	if err == nil {
		var code []byte
		if code, err = Generate(string(list)); err == nil {
			err = os.WriteFile(os.Args[2], code, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
