//go:build cgo && !cairn_http

package cairn

// #include "capi.h"
import "C"

import (
	"encoding/json"
	"strings"
	"time"
	"unsafe"
)

// An arena is C memory for the texts and arrays of one call.
type arena struct {
	base unsafe.Pointer
	size uintptr
	used uintptr
}

const alignment = 8

func room(bytes int) int { return (bytes + 1 + alignment - 1) &^ (alignment - 1) }

func newArena(size int) *arena {
	size = max(size, alignment)
	base := C.malloc(C.size_t(size))
	if base == nil {
		panic("cairn: memory ran out")
	}
	return &arena{base: base, size: uintptr(size)}
}

func (a *arena) free() { C.free(a.base) }

// take gives n bytes; the caller has counted what is needed.
func (a *arena) take(n int) unsafe.Pointer {
	n = room(n)
	if a.used+uintptr(n) > a.size {
		panic("cairn: an arena was counted wrongly")
	}
	p := unsafe.Add(a.base, a.used)
	a.used += uintptr(n)
	return p
}

// text is a C string; a NUL would end it early, so callers have refused that.
func (a *arena) text(s string) *C.char {
	p := a.take(len(s))
	copy(unsafe.Slice((*byte)(p), len(s)+1), s)
	*(*byte)(unsafe.Add(p, len(s))) = 0
	return (*C.char)(p)
}

// textOrNull is NULL for "".
func (a *arena) textOrNull(s string) *C.char {
	if s == "" {
		return nil
	}
	return a.text(s)
}

// json is NULL for nil, which is null.
func (a *arena) json(text []byte) *C.char {
	if text == nil {
		return nil
	}
	return a.text(unsafe.String(unsafe.SliceData(text), len(text)))
}

func hasNUL(texts ...string) bool {
	for _, text := range texts {
		if strings.IndexByte(text, 0) >= 0 {
			return true
		}
	}
	return false
}

func errNUL() error { return newError(ErrBadInput, "a text has a NUL character") }

// cText is a C string in Go's memory, for arguments that C does not keep.
func cText(s string) *C.char {
	text := make([]byte, len(s)+1)
	copy(text, s)
	return (*C.char)(unsafe.Pointer(&text[0]))
}

func cTextOrNull(s string) *C.char {
	if s == "" {
		return nil
	}
	return cText(s)
}

// cError is the Go error of a C one; nil if the code is CAIRN_OK.
func cError(code C.cairn_code, e *C.cairn_error) *Error {
	if code == C.CAIRN_OK {
		return nil
	}
	word := C.GoString(C.cairn_code_name(code))
	return errorOfCode(word, C.GoString(&e.message[0]), C.GoString(&e.detail[0]), C.GoString(&e.hint[0]), int(C.cairn_code_http_status(code)))
}

// asErr keeps a nil *Error from becoming an error that is not nil.
func asErr(e *Error) error {
	if e == nil {
		return nil
	}
	return e
}

// codeOf is the C code of a word.
func codeOf(word string) C.cairn_code {
	for code := C.cairn_code(0); code < 100; code++ {
		if C.GoString(C.cairn_code_name(code)) == word {
			return code
		}
	}
	return C.CAIRN_E_INTERNAL
}

func goTime(us C.int64_t) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(us)).UTC()
}

// goJSON is nil for NULL.
func goJSON(text *C.char) json.RawMessage {
	if text == nil {
		return nil
	}
	n := C.strlen(text)
	return C.GoBytes(unsafe.Pointer(text), C.int(n))
}
