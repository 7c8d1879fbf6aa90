package childtest

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// Ranks returns a command that runs c as so many processes, by mpirun of the MPI that PM_MPI
// names, openmpi or mpich; where it is not set, by what the system calls mpirun. The program
// has been built for that MPI. More ranks than processors and user root are allowed.
func Ranks(t testing.TB, ranks int, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	// Runs at the same time make and remove the same folder, unless each has its own. Not that
	// of the test: the names of sockets in there must be short.
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
