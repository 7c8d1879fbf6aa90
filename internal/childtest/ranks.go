package childtest

import (
	"os"
	"os/exec"
	"strconv"
)

// mpi is the ending of the commands of the MPI that tests run with: PM_MPI is openmpi or
// mpich, and where it is not set the MPI is what the system calls mpirun.
func mpi(command string) string {
	if name := os.Getenv("PM_MPI"); name != "" {
		return command + "." + name
	}
	return command
}

// MPICompiler returns the compiler (CC) that builds programs for the MPI of Ranks.
func MPICompiler() string { return mpi("mpicc") }

// Ranks returns a command that runs c as so many processes, by mpirun of the MPI that PM_MPI
// names. The program has been built for that MPI. More ranks than processors and user root
// are allowed.
func Ranks(ranks int, c *exec.Cmd) *exec.Cmd {
	launched := exec.Command(mpi("mpirun"), append([]string{"-n", strconv.Itoa(ranks), c.Path}, c.Args[1:]...)...)
	launched.Dir = c.Dir
	launched.Env = append(c.Environ(),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none",
		"OMPI_MCA_btl_vader_single_copy_mechanism=none")
	return launched
}
