package cairn

import (
	"path/filepath"
	"strings"
	"sync"
)

// fileSet counts the engines that this process has open on each SQLite file.
type fileSet struct {
	lock   sync.Mutex
	counts map[string]int // of engines that were not opened with SharedSQLite
}

var openFiles = fileSet{counts: map[string]int{}}

func (f *fileSet) add(file string, isShared bool) {
	if file == "" || isShared {
		return
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	f.counts[file]++
}

func (f *fileSet) remove(file string, isShared bool) {
	if file == "" || isShared {
		return
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.counts[file]--; f.counts[file] == 0 {
		delete(f.counts, file)
	}
}

func (f *fileSet) has(file string) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.counts[canonicalFile(file)] > 0
}

// sqliteFile is the file of an sqlite: URL, in a form that can be compared; "": another URL.
func sqliteFile(url string) string {
	path, isSQLite := strings.CutPrefix(url, "sqlite:")
	if !isSQLite || path == "" {
		return ""
	}
	if i := strings.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	path = strings.TrimPrefix(path, "//")
	return canonicalFile(path)
}

// canonicalFile resolves links, so that two names of one file are one.
func canonicalFile(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		full = filepath.Join(folder, filepath.Base(full))
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	return full
}
