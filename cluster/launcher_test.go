package cluster

import "testing"

func TestReadLaunch(t *testing.T) {
	for _, c := range []struct {
		environment map[string]string
		want        launch
	}{
		{nil, launch{}},
		{map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "0"}, launch{"OMPI_COMM_WORLD_SIZE", 4}},
		{map[string]string{"PMI_SIZE": "2", "PMI_RANK": "1"}, launch{"PMI_SIZE", 2}},
		{map[string]string{"PMI_SIZE": "1"}, launch{"PMI_SIZE", 1}},
		{map[string]string{"MV2_COMM_WORLD_SIZE": "3"}, launch{"MV2_COMM_WORLD_SIZE", 3}},
		// A script of a job is one process, and so is each copy that srun --mpi=none starts.
		{map[string]string{"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, launch{}},
		{map[string]string{"SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "8"}, launch{}},
		{map[string]string{"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "8"}, launch{"SLURM_STEP_NUM_TASKS", 8}},
		{map[string]string{"PMIX_RANK": "3"}, launch{"PMIX_RANK", 4}},
		{map[string]string{"PMIX_RANK": "0"}, launch{"PMIX_RANK", 0}},
		{map[string]string{"PMI_SIZE": "many", "PMIX_RANK": "-1"}, launch{}},
		{map[string]string{"PMI_SIZE": "-2", "OMPI_COMM_WORLD_SIZE": "99999999999999999999"}, launch{}},
	} {
		if got := readLaunch(func(name string) string { return c.environment[name] }); got != c.want {
			t.Errorf("%v: %v, want %v", c.environment, got, c.want)
		}
	}
}
