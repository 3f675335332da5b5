// Package examples runs the examples and compares what they print with the comment at their end.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// comment is the last comment of a program; lines are separated by " / ".
func comment(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)// (.*)$`).FindAllStringSubmatch(string(text), -1)
	if found == nil {
		t.Fatal("no comment says what it prints")
	}
	return found[len(found)-1][1]
}

func TestThePrograms(t *testing.T) {
	folders, err := filepath.Glob("[0-9]*/main.go")
	if err != nil || len(folders) != 10 {
		t.Fatal(folders, err)
	}
	programs := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", programs+string(os.PathSeparator), "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, file := range folders {
		name := filepath.Dir(file)
		t.Run(name, func(t *testing.T) {
			program := exec.Command(filepath.Join(programs, name))
			program.Dir = t.TempDir()
			out, err := program.Output()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			for i := range lines {
				lines[i] = strings.TrimSpace(lines[i])
			}
			if got, want := strings.Join(lines, " / "), comment(t, file); err != nil || got != want {
				t.Errorf("printed %q, want %q: %v", got, want, err)
			}
		})
	}
}

func TestTheFunctionOfExample08(t *testing.T) {
	out, err := exec.Command("go", "test", "-v", "./08_function").CombinedOutput()
	if want := comment(t, "08_function/function_test.go"); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("printed %s, want %q: %v", out, want, err)
	}
}
