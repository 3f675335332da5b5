package main

import (
	"bytes"
	"os"
	"testing"
)

// errors_gen.go is committed; it must be what the list says now.
func TestErrorsAreUpToDate(t *testing.T) {
	list, err := os.ReadFile("../../../../spec/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Generate(string(list))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../errors_gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("errors_gen.go is older than spec/errors.txt: run go generate in sdk/go")
	}
}

func TestBadListIsRejected(t *testing.T) {
	if _, err := Generate("busy 14"); err == nil {
		t.Error("a line without status and meaning was accepted")
	}
}
