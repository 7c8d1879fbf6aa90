package clibrary

import (
	"errors"
	"slices"
	"testing"
)

const small = `/* pm_comment( is none */
#define PM_ABI_MAJOR 3
#define PM_VERSION "1.2.3"
typedef void (*pm_progress)(int);
pm_status pm_two(pm_engine *engine); /* pm_more(x) */
const char *pm_one (void);
int32_t pm_two(
    int x);
`

func TestHeader(t *testing.T) {
	h, err := readHeader([]byte(small))
	if err != nil || !slices.Equal(h.functions, []string{"pm_one", "pm_two"}) || h.version != "1.2.3" || h.major != "3" {
		t.Errorf("%+v, %v", h, err)
	}
	for name, text := range map[string]string{
		"empty":        "",
		"no functions": "#define PM_ABI_MAJOR 3\n#define PM_VERSION \"1.2.3\"\n",
		"no version":   "#define PM_ABI_MAJOR 3\nint pm_x(void);\n",
		"no major":     "#define PM_VERSION \"1.2.3\"\nint pm_x(void);\n",
	} {
		if _, err := readHeader([]byte(text)); !errors.Is(err, errHeader) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
