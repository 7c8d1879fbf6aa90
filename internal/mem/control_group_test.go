package mem

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// tree makes a file system of files and what is in them.
func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// memory2 and memory1 add the files of a group in version 2 and 1.
func memory2(files map[string]string, dir, limit, high string, used, idle int) {
	files[dir+"/memory.max"] = limit + "\n"
	files[dir+"/memory.high"] = high + "\n"
	files[dir+"/memory.current"] = fmt.Sprintln(used)
	files[dir+"/memory.stat"] = fmt.Sprintf("anon %d\nfile %d\ninactive_file %d\nactive_file 7\n", used-idle, idle, idle)
}

func memory1(files map[string]string, dir, limit, above string, used, idle int) {
	files[dir+"/memory.limit_in_bytes"] = limit + "\n"
	files[dir+"/memory.usage_in_bytes"] = fmt.Sprintln(used)
	files[dir+"/memory.stat"] = fmt.Sprintf("cache 1\ninactive_file 1\nhierarchical_memory_limit %s\ntotal_cache %d\ntotal_inactive_file %d\n", above, idle, idle)
}

const (
	// none1 is how version 1 says that there is no limit.
	none1  = "9223372036854771712"
	mount2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
	others = "22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw\n23 22 0:21 / /sys rw shared:7 - sysfs sysfs rw\n"
)

// rootOf1 is the limit that groups without a limit leave, less what is used.
func rootOf1(used int64) int64 { return 9223372036854771712 - used }

func TestControlGroupsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		files func() map[string]string
		want  int64
	}{
		"nothing": {func() map[string]string { return map[string]string{} }, unlimited},
		// The root group of version 2 has no memory.max.
		"v2, root": {func() map[string]string {
			return map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": others + mount2, "sys/fs/cgroup/memory.stat": "inactive_file 5\n"}
		}, unlimited},
		"v2, container with a name space of its own": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": others + mount2}
			memory2(f, "sys/fs/cgroup", "1000", "max", 400, 100)
			return f
		}, 700},
		"v2, MemoryMax= of a systemd unit": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/system.slice/my\\x2dunit.service\n", "proc/self/mountinfo": others + mount2}
			memory2(f, "sys/fs/cgroup/system.slice", "max", "max", 5000, 0)
			memory2(f, "sys/fs/cgroup/system.slice/my\\x2dunit.service", "1000", "max", 300, 0)
			return f
		}, 700},
		"v2, a limit above": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/user.slice/user-1000.slice/session-2.scope\n", "proc/self/mountinfo": others + mount2}
			memory2(f, "sys/fs/cgroup/user.slice", "9000", "max", 8800, 100)
			memory2(f, "sys/fs/cgroup/user.slice/user-1000.slice", "max", "max", 2000, 0)
			memory2(f, "sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope", "1000", "max", 100, 0)
			return f
		}, 300},
		"v2, memory.high below memory.max": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": others + mount2}
			memory2(f, "sys/fs/cgroup/a", "1000", "600", 100, 0)
			return f
		}, 500},
		"v2, memory.high alone": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": others + mount2}
			memory2(f, "sys/fs/cgroup/a", "max", "600", 100, 0)
			return f
		}, 500},
		"v2, max everywhere": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": others + mount2}
			memory2(f, "sys/fs/cgroup/a", "max", "max", 100, 0)
			return f
		}, unlimited},
		"v2, over its limit": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": others + mount2}
			memory2(f, "sys/fs/cgroup/a", "max", "600", 700, 10)
			return f
		}, 0},
		"v2, a group beside it": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/ab\n", "proc/self/mountinfo": others + mount2 +
				"50 30 0:26 /a /srv/a rw - cgroup2 cgroup2 rw\n"}
			memory2(f, "sys/fs/cgroup/ab", "1000", "max", 0, 0)
			memory2(f, "sys/fs/cgroup/a", "10", "max", 0, 0)
			memory2(f, "srv/a", "10", "max", 0, 0)
			return f
		}, 1000},
		"v2, mounted at an odd place": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/a b\n", "proc/self/mountinfo": others + "30 23 0:26 / /mnt/c\\040d rw - cgroup2 none rw\n"}
			memory2(f, "mnt/c d/a b", "1000", "max", 0, 0)
			return f
		}, 1000},
		// Podman and Docker with the name space of the host: the mount shows the container's own group.
		"v2, a part of the groups is mounted": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/machine.slice/pod-1.scope/inner\n", "proc/self/mountinfo": others +
				"30 23 0:26 /machine.slice/pod-1.scope /sys/fs/cgroup ro - cgroup2 cgroup rw\n"}
			memory2(f, "sys/fs/cgroup", "900", "max", 0, 0)
			memory2(f, "sys/fs/cgroup/inner", "1000", "max", 0, 0)
			return f
		}, 900},
		"v2, mounted from outside of the name space": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": others + "30 23 0:26 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n"}
			memory2(f, "sys/fs/cgroup", "900", "max", 0, 0)
			return f
		}, 900},
		"v2, moved out of the name space": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/../sibling\n", "proc/self/mountinfo": others + mount2}
			memory2(f, "sys/fs/cgroup", "900", "max", 0, 0)
			memory2(f, "sys/fs/cgroup/sibling", "1", "max", 0, 0)
			return f
		}, 900},
		"v1, Docker": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "11:cpuset:/docker/0123abcd\n6:memory:/docker/0123abcd\n1:name=systemd:/docker/0123abcd\n",
				"proc/self/mountinfo": others + "40 23 0:30 /docker/0123abcd /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n" +
					"41 23 0:31 /docker/0123abcd /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\n"}
			memory1(f, "sys/fs/cgroup/memory", "1000", "1000", 500, 200)
			return f
		}, 700},
		// The limit of the pod is above the mount; the kernel tells it in memory.stat.
		"v1, Kubernetes": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "9:cpu,cpuacct:/kubepods/burstable/pod12/34\n4:memory,hugetlb:/kubepods/burstable/pod12/34\n",
				"proc/self/mountinfo": others + "41 23 0:31 /kubepods/burstable/pod12/34 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory,hugetlb\n"}
			memory1(f, "sys/fs/cgroup/memory", none1, "800", 100, 0)
			return f
		}, 700},
		"v1, on the host": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "6:memory:/a/b\n", "proc/self/mountinfo": others + "41 23 0:31 / /sys/fs/cgroup/memory rw shared:3 - cgroup cgroup rw,memory\n"}
			memory1(f, "sys/fs/cgroup/memory", none1, none1, 90000, 0)
			memory1(f, "sys/fs/cgroup/memory/a", "1000", "1000", 800, 0)
			memory1(f, "sys/fs/cgroup/memory/a/b", "500", "500", 100, 0)
			return f
		}, 200},
		"v1, no limit": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "6:memory:/\n", "proc/self/mountinfo": others + "41 23 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"}
			memory1(f, "sys/fs/cgroup/memory", none1, none1, 100, 0)
			return f
		}, rootOf1(100)},
		// The name is that of the outside, and nothing of that name is mounted.
		"v1, a group that is not mounted": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "6:memory:/docker/0123/4567\n", "proc/self/mountinfo": others + "41 23 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"}
			memory1(f, "sys/fs/cgroup/memory", "1000", "1000", 0, 0)
			return f
		}, 1000},
		"hybrid, memory in v1": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "4:memory:/jobs/17\n1:name=systemd:/\n0::/jobs\n", "proc/self/mountinfo": others +
				"35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n" +
				"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"}
			memory1(f, "sys/fs/cgroup/memory/jobs/17", "1000", "1000", 100, 0)
			f["sys/fs/cgroup/unified/jobs/cgroup.procs"] = "1\n"
			return f
		}, 900},
		"hybrid, memory in v2": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "1:name=systemd:/jobs\n0::/jobs\n", "proc/self/mountinfo": others +
				"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"}
			memory2(f, "sys/fs/cgroup/unified/jobs", "1000", "max", 100, 0)
			return f
		}, 900},
		"no mountinfo": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "0::/a\n"}
			memory2(f, "sys/fs/cgroup/a", "1000", "max", 100, 0)
			return f
		}, 900},
		"no mountinfo, v1": {func() map[string]string {
			f := map[string]string{"proc/self/cgroup": "3:memory:/a\n"}
			memory1(f, "sys/fs/cgroup/memory/a", "1000", "1000", 100, 0)
			return f
		}, 900},
		"nothing but the limit": {func() map[string]string { return map[string]string{"sys/fs/cgroup/memory.max": "1000\n"} }, 1000},
		"garbage": {func() map[string]string {
			return map[string]string{
				"proc/self/cgroup": "0\n:::::\n\x00\n0::relative/../..\n", "proc/self/mountinfo": " - \n- cgroup2\n1 2 3 4 5 6 - cgroup2\n1 2 3 / /../x rw - cgroup2 a b\n",
				"sys/fs/cgroup/memory.max": "-1\n", "sys/fs/cgroup/memory.high": "1e9\n", "sys/fs/cgroup/memory.current": "", "sys/fs/cgroup/memory.stat": "inactive_file\nhierarchical_memory_limit -7\n",
			}
		}, unlimited},
		"garbage beside a limit": {func() map[string]string {
			return map[string]string{
				"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mount2, "sys/fs/cgroup/memory.max": "1000",
				"sys/fs/cgroup/memory.current": "-50", "sys/fs/cgroup/memory.stat": "inactive_file -900\n",
			}
		}, 1000},
		"a limit beyond 64 bits": {func() map[string]string {
			return map[string]string{"sys/fs/cgroup/memory.max": "18446744073709551615\n", "sys/fs/cgroup/memory.current": "5\n"}
		}, unlimited},
	} {
		if got := controlGroupsLeft(tree(c.files())); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
