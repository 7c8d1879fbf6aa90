package mem

import "runtime"

// reclaimed is how many bytes are worth a collection of their own. To fill so many takes
// longer than to look at a heap of a few large arrays.
const reclaimed = 16 << 20

// Reclaim makes memory that was given up just now, so many bytes of it, ready to be taken
// again. Without it Go lets the heap grow to twice of what is in use before it looks: what
// comes next would stand beside what nobody needs any more. Less than 16 MiB are left to Go.
func Reclaim(bytes int64) {
	if bytes >= reclaimed {
		runtime.GC()
	}
}
