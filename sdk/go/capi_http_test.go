//go:build !cgo || cairn_http

package cairn_test

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cairn.invalid/cairn"
)

// A certificate is checked by the authorities of CAIRN_CA_FILE, and by no others.
func TestTrust(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"now":"2026-11-15T00:00:00.000Z","virtual":false}`))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() error {
		db, err := cairn.Open(context.Background(), cairn.Config{URL: server.URL, Retry: time.Millisecond})
		if err == nil {
			_ = db.Close()
		}
		return err
	}
	t.Setenv("CAIRN_CA_FILE", "")
	if err := open(); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without its authority: %v", err)
	}
	t.Setenv("CAIRN_CA_FILE", file)
	if err := open(); err != nil {
		t.Errorf("with its authority: %v", err)
	}
	t.Setenv("CAIRN_CA_FILE", filepath.Join(t.TempDir(), "none"))
	if err := open(); err == nil || !strings.Contains(err.Error(), "CAIRN_CA_FILE") {
		t.Errorf("with a file that is not there: %v", err)
	}
}
