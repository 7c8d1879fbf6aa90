package cluster

import (
	"fmt"
	"os"
	"strconv"
)

// A launch is what the environment says about how this process was started.
type launch struct {
	variable string // that says so; "" if no launcher has started this process
	size     int    // processes started together, 0 if unknown
}

// several reports whether the environment says that there are other processes.
func (l launch) several() bool { return l.size > 1 }

// Variables in which launchers put the number of processes: mpirun of Open MPI,
// launchers with PMI (MPICH, Intel MPI, srun --mpi=pmi2), and mpirun of MVAPICH.
var sizeVariables = []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"}

// readLaunch reads the environment. A Slurm job alone is not a launch: its script is one
// process, and srun without PMI starts copies that do not know each other.
func readLaunch(getenv func(string) string) launch {
	for _, name := range sizeVariables {
		if size, err := strconv.Atoi(getenv(name)); err == nil && size > 0 {
			return launch{name, size}
		}
	}
	// PMIx does not show the number of processes, but srun sets it separately.
	rank, err := strconv.Atoi(getenv("PMIX_RANK"))
	if err != nil || rank < 0 {
		return launch{}
	}
	if size, err := strconv.Atoi(getenv("SLURM_STEP_NUM_TASKS")); err == nil && size > 0 {
		return launch{"SLURM_STEP_NUM_TASKS", size}
	}
	if rank > 0 {
		return launch{"PMIX_RANK", rank + 1} // at least
	}
	return launch{"PMIX_RANK", 0}
}

// refuse returns an error that names the variable, for a program that would run alone.
func (l launch) refuse(err error) error {
	return fmt.Errorf("cluster: %s=%s says that a launcher has started several processes (unset it to run one alone): %w", l.variable, os.Getenv(l.variable), err)
}
