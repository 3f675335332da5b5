package cairn

import (
	"testing"
	"time"
)

// The loop looks at a rest twice: before it sends, and before it sleeps. A rest that ends in between
// must not make it sleep as if nothing were left to send.
func TestARestThatEndsBetweenTwoLooks(t *testing.T) {
	w := &Worker{now: time.Now()}
	w.reportRest.until = w.now.Add(time.Nanosecond)
	if !w.reportRest.isOn(w.now) {
		t.Fatal("the rest has not ended yet")
	}
	for !time.Now().After(w.reportRest.until) {
	}
	if sleep := w.untilRestOver(); sleep > longestRest {
		t.Fatalf("it would sleep %s", sleep)
	}
}
