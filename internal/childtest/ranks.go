package childtest

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// Ranks returns a command that runs c as the given number of processes, with mpirun of the
// MPI that PM_MPI names, openmpi or mpich, or with the system's mpirun if it is not set. The
// program must be built for that MPI. More ranks than processors and user root are allowed.
func Ranks(t testing.TB, ranks int, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	// Concurrent runs make and remove the same folder, unless each has its own. It is not the
	// test's folder, since names of sockets in it must be short.
	folder, err := os.MkdirTemp("", "ranks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	mpirun := "mpirun"
	if name := os.Getenv("PM_MPI"); name != "" {
		mpirun += "." + name
	}
	launched := exec.Command(mpirun, append([]string{"-n", strconv.Itoa(ranks), c.Path}, c.Args[1:]...)...)
	launched.Dir = c.Dir
	launched.Env = append(c.Environ(),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none",
		"OMPI_MCA_orte_tmpdir_base="+folder,
		"OMPI_MCA_btl_vader_single_copy_mechanism=none")
	return launched
}
