package clibrary

import "fmt"

// suppressions returns a file for valgrind --suppressions. Memcheck does not know the heap and
// the stacks of Go, and reports each use of them as an error. The file suppresses errors within
// the shared library and within functions of the C library that it calls, and leaks of the
// memory of its threads, which do not end, and of the last error. Errors of the program itself,
// including its progress functions, are still reported.
func (h *header) suppressions() (text string) {
	kinds := []string{"Cond", "Jump"}
	for _, bytes := range []int{1, 2, 4, 8, 16, 32} {
		kinds = append(kinds, fmt.Sprintf("Value%d", bytes), fmt.Sprintf("Addr%d", bytes))
	}
	own := "   obj:*/" + h.soname() + "\n"
	for _, kind := range kinds {
		for _, called := range []string{"", "   obj:*/libc.so.6\n", "   obj:*/vgpreload_memcheck-*\n"} {
			text += "{\n   privatemail\n   Memcheck:" + kind + "\n" + called + own + "}\n"
		}
	}
	for _, taker := range []string{"   fun:malloc\n", "   ...\n   fun:pthread_create*\n"} {
		text += "{\n   privatemail\n   Memcheck:Leak\n   match-leak-kinds: possible,reachable\n" + taker + own + "}\n"
	}
	return text
}
