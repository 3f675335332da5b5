package cairn_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// Every exported name has a comment.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	for _, folder := range []string{".", "cairntest", "cairnotel"} {
		for _, without := range []string{"capi_http.go", "capi_cgo.go"} { // each build has one of them
			documented(t, folder, without)
		}
	}
}

func documented(t *testing.T, folder, without string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == without {
			continue
		}
		file, err := parser.ParseFile(set, folder+"/"+name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	found, err := doc.NewFromFiles(set, files, "cairn.invalid/"+folder)
	if err != nil {
		t.Fatal(err)
	}
	complain := func(name, text string) {
		if ast.IsExported(name) && strings.TrimSpace(text) == "" {
			t.Errorf("%s: %s has no comment", folder, name)
		}
	}
	if found.Doc == "" {
		t.Errorf("%s: the package has no comment", folder)
	}
	for _, f := range found.Funcs {
		complain(f.Name, f.Doc)
	}
	for _, kind := range found.Types {
		complain(kind.Name, kind.Doc)
		for _, f := range append(kind.Funcs, kind.Methods...) {
			if f.Name != "Error" && f.Name != "MarshalJSON" {
				complain(f.Name, f.Doc)
			}
		}
	}
}
