package mem

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// files are the files of a machine, by their names.
type files map[string]string

// process are the files that say which groups a process is in, and where they are mounted.
func process(groups, mounts string) files {
	return files{"proc/self/cgroup": groups, "proc/self/mountinfo": mounts}
}

// v2 adds the files of a group in version 2.
func (f files) v2(dir, limit, high string, used, idle int) files {
	f[dir+"/memory.max"] = limit + "\n"
	f[dir+"/memory.high"] = high + "\n"
	f[dir+"/memory.current"] = fmt.Sprintln(used)
	f[dir+"/memory.stat"] = fmt.Sprintf("anon %d\nfile %d\ninactive_file %d\nactive_file 7\n", used-idle, idle, idle)
	return f
}

// v1 adds the files of a group in version 1.
func (f files) v1(dir, limit, above string, used, idle int) files {
	f[dir+"/memory.limit_in_bytes"] = limit + "\n"
	f[dir+"/memory.usage_in_bytes"] = fmt.Sprintln(used)
	f[dir+"/memory.stat"] = fmt.Sprintf("cache 1\ninactive_file 1\nhierarchical_memory_limit %s\ntotal_cache %d\ntotal_inactive_file %d\n", above, idle, idle)
	return f
}

// with adds a file.
func (f files) with(name, text string) files {
	f[name] = text
	return f
}

// tree makes a file system of the files.
func (f files) tree() fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range f {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

const (
	// none1 is the number for no limit in version 1.
	none1  = "9223372036854771712"
	mount2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
	others = "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n23 22 0:21 / /sys rw shared:7 - sysfs sysfs rw\n"
)

// rootOf1 is what a group without a limit leaves in version 1.
func rootOf1(used int64) int64 { return 9223372036854771712 - used }

func TestControlGroupsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		files files
		want  int64
	}{
		"nothing": {files{}, unlimited},
		// The root group of version 2 has no memory.max.
		"v2, root":                              {process("0::/\n", others+mount2).with("sys/fs/cgroup/memory.stat", "inactive_file 5\n"), unlimited},
		"v2, container with its own name space": {process("0::/\n", others+mount2).v2("sys/fs/cgroup", "1000", "max", 400, 100), 700},
		"v2, MemoryMax= of a systemd unit": {process("0::/system.slice/my\\x2dunit.service\n", others+mount2).
			v2("sys/fs/cgroup/system.slice", "max", "max", 5000, 0).
			v2("sys/fs/cgroup/system.slice/my\\x2dunit.service", "1000", "max", 300, 0), 700},
		"v2, a limit above": {process("0::/user.slice/user-1000.slice/session-2.scope\n", others+mount2).
			v2("sys/fs/cgroup/user.slice", "9000", "max", 8800, 100).
			v2("sys/fs/cgroup/user.slice/user-1000.slice", "max", "max", 2000, 0).
			v2("sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope", "1000", "max", 100, 0), 300},
		"v2, memory.high below memory.max": {process("0::/a\n", others+mount2).v2("sys/fs/cgroup/a", "1000", "600", 100, 0), 500},
		"v2, memory.high alone":            {process("0::/a\n", others+mount2).v2("sys/fs/cgroup/a", "max", "600", 100, 0), 500},
		"v2, max everywhere":               {process("0::/a\n", others+mount2).v2("sys/fs/cgroup/a", "max", "max", 100, 0), unlimited},
		"v2, over its limit":               {process("0::/a\n", others+mount2).v2("sys/fs/cgroup/a", "max", "600", 700, 10), 0},
		"v2, a neighbouring group": {process("0::/ab\n", others+mount2+
			"50 30 0:26 /a /srv/a rw - cgroup2 cgroup2 rw\n").
			v2("sys/fs/cgroup/ab", "1000", "max", 0, 0).
			v2("sys/fs/cgroup/a", "10", "max", 0, 0).
			v2("srv/a", "10", "max", 0, 0), 1000},
		"v2, mounted at an odd place": {process("0::/a b\n", others+"30 23 0:26 / /mnt/c\\040d rw - cgroup2 none rw\n").v2("mnt/c d/a b", "1000", "max", 0, 0), 1000},
		// Podman and Docker with the name space of the host: the mount shows the container's own group.
		"v2, a part of the groups is mounted": {process("0::/machine.slice/pod-1.scope/inner\n", others+
			"30 23 0:26 /machine.slice/pod-1.scope /sys/fs/cgroup ro - cgroup2 cgroup rw\n").
			v2("sys/fs/cgroup", "900", "max", 0, 0).
			v2("sys/fs/cgroup/inner", "1000", "max", 0, 0), 900},
		"v2, mounted from outside of the name space": {process("0::/\n", others+"30 23 0:26 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n").v2("sys/fs/cgroup", "900", "max", 0, 0), 900},
		"v2, moved out of the name space": {process("0::/../sibling\n", others+mount2).
			v2("sys/fs/cgroup", "900", "max", 0, 0).
			v2("sys/fs/cgroup/sibling", "1", "max", 0, 0), 900},
		"v1, Docker": {process("11:cpuset:/docker/0123abcd\n6:memory:/docker/0123abcd\n1:name=systemd:/docker/0123abcd\n", others+"40 23 0:30 /docker/0123abcd /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n"+
			"41 23 0:31 /docker/0123abcd /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\n").v1("sys/fs/cgroup/memory", "1000", "1000", 500, 200), 700},
		// The limit of the pod is above the mount; the kernel shows it in memory.stat.
		"v1, Kubernetes": {process("9:cpu,cpuacct:/kubepods/burstable/pod12/34\n4:memory,hugetlb:/kubepods/burstable/pod12/34\n", others+"41 23 0:31 /kubepods/burstable/pod12/34 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory,hugetlb\n").v1("sys/fs/cgroup/memory", none1, "800", 100, 0), 700},
		"v1, on the host": {process("6:memory:/a/b\n", others+"41 23 0:31 / /sys/fs/cgroup/memory rw shared:3 - cgroup cgroup rw,memory\n").
			v1("sys/fs/cgroup/memory", none1, none1, 90000, 0).
			v1("sys/fs/cgroup/memory/a", "1000", "1000", 800, 0).
			v1("sys/fs/cgroup/memory/a/b", "500", "500", 100, 0), 200},
		"v1, no limit": {process("6:memory:/\n", others+"41 23 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n").v1("sys/fs/cgroup/memory", none1, none1, 100, 0), rootOf1(100)},
		// The name is the one from outside, and no group with that name is mounted.
		"v1, a group that is not mounted": {process("6:memory:/docker/0123/4567\n", others+"41 23 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n").v1("sys/fs/cgroup/memory", "1000", "1000", 0, 0), 1000},
		"hybrid, memory in v1": {process("4:memory:/jobs/17\n1:name=systemd:/\n0::/jobs\n", others+
			"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"+
			"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n").
			v1("sys/fs/cgroup/memory/jobs/17", "1000", "1000", 100, 0).
			with("sys/fs/cgroup/unified/jobs/cgroup.procs", "1\n"), 900},
		"hybrid, memory in v2": {process("1:name=systemd:/jobs\n0::/jobs\n", others+
			"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n").v2("sys/fs/cgroup/unified/jobs", "1000", "max", 100, 0), 900},
		"no mountinfo":          {files{"proc/self/cgroup": "0::/a\n"}.v2("sys/fs/cgroup/a", "1000", "max", 100, 0), 900},
		"no mountinfo, v1":      {files{"proc/self/cgroup": "3:memory:/a\n"}.v1("sys/fs/cgroup/memory/a", "1000", "1000", 100, 0), 900},
		"nothing but the limit": {files{"sys/fs/cgroup/memory.max": "1000\n"}, 1000},
		"garbage": {files{
			"proc/self/cgroup": "0\n:::::\n\x00\n0::relative/../..\n", "proc/self/mountinfo": " - \n- cgroup2\n1 2 3 4 5 6 - cgroup2\n1 2 3 / /../x rw - cgroup2 a b\n",
			"sys/fs/cgroup/memory.max": "-1\n", "sys/fs/cgroup/memory.high": "1e9\n", "sys/fs/cgroup/memory.current": "", "sys/fs/cgroup/memory.stat": "inactive_file\nhierarchical_memory_limit -7\n",
		}, unlimited},
		"garbage next to a limit": {files{
			"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mount2, "sys/fs/cgroup/memory.max": "1000",
			"sys/fs/cgroup/memory.current": "-50", "sys/fs/cgroup/memory.stat": "inactive_file -900\n",
		}, 1000},
		"a limit beyond 64 bits": {files{"sys/fs/cgroup/memory.max": "18446744073709551615\n", "sys/fs/cgroup/memory.current": "5\n"}, unlimited},
	} {
		if got := controlGroupsLeft(c.files.tree()); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
