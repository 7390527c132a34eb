package fabric

import (
	"testing"
	"unsafe"
)

// What an arrival needs of an output lies in one cache line, and outputs do not share any.
func TestOutletsFillCacheLines(t *testing.T) {
	var o outlet
	if at, end := unsafe.Offsetof(o.ring), unsafe.Sizeof(o.port); at%64 != 0 || end-at > 64 || unsafe.Sizeof(o)%64 != 0 {
		t.Errorf("[%d, %d) of %d B", at, end, unsafe.Sizeof(o))
	}
}
