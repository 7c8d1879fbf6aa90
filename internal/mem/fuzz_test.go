package mem

import "testing"

// For any contents of the files the result is 0 or more, without a panic.
func FuzzControlGroups(f *testing.F) {
	f.Add("0::/a/b\n4:memory:/x\n", others+mount2, "1000\n", "inactive_file 5\nhierarchical_memory_limit 7\n", "MemAvailable: 12 kB\n")
	f.Add("0::/../a\n", "1 2 3 /.. /sys rw - cgroup2 a b\n41 23 0:31 /\\040 /sys/fs/cgroup/memory rw - cgroup c rw,memory\n", "max", "", "")
	f.Fuzz(func(t *testing.T, group, mounts, number, stat, meminfo string) {
		files := files{"proc/self/cgroup": group, "proc/self/mountinfo": mounts, "proc/meminfo": meminfo}
		for _, dir := range []string{"sys/fs/cgroup", "sys/fs/cgroup/a", "sys/fs/cgroup/memory/x"} {
			for _, name := range []string{"memory.max", "memory.high", "memory.current", "memory.limit_in_bytes", "memory.usage_in_bytes"} {
				files[dir+"/"+name] = number
			}
			files[dir+"/memory.stat"] = stat
		}
		root := files.tree()
		if left, err := filesLeft(root); left < 0 || err != nil {
			t.Errorf("%d bytes are left", left)
		}
	})
}
