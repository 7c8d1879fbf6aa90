package mem

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A cgroupVersion says how to read one of the two versions of control groups. A machine may
// have both mounted, with the memory controller in one of them.
type cgroupVersion struct {
	kind   string   // the type of its file system
	place  string   // where it is mounted by default
	limits []string // files with a limit
	used   string   // the file with the memory in use
	idle   string   // the line of memory.stat with pages of files that are not in use
}

var cgroupVersions = []cgroupVersion{
	{"cgroup2", "sys/fs/cgroup", []string{"memory.max", "memory.high"}, "memory.current", "inactive_file"},
	{"cgroup", "sys/fs/cgroup/memory", []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_inactive_file"},
}

// controlGroupsLeft returns how much memory the control group of this process and those
// above it leave, the least of them.
func controlGroupsLeft(root fs.FS) int64 {
	least := int64(unlimited)
	membership, _ := fs.ReadFile(root, "proc/self/cgroup")
	mounts := readMounts(root)
	for _, v := range cgroupVersions {
		for _, dir := range v.folders(mounts, v.group(membership)) {
			least = min(least, v.left(root, dir))
		}
	}
	return least
}

// group returns the group of this process, from the line "ID:CONTROLLERS:GROUP" whose
// controllers include memory, or are empty in version 2.
func (v *cgroupVersion) group(membership []byte) string {
	for line := range strings.Lines(string(membership)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) < 3 {
			continue
		}
		if v.kind == "cgroup2" && parts[0] == "0" && parts[1] == "" ||
			v.kind == "cgroup" && slices.Contains(strings.Split(parts[1], ","), "memory") {
			return parts[2]
		}
	}
	return "/"
}

// folders returns the folders of a group and of the groups above it, if they are mounted. A
// mount may show only a part of the groups. Inside a container the group may have its name
// from outside; the mounted group is then the container's own.
func (v *cgroupVersion) folders(mounts []mount, group string) (out []string) {
	var own []mount
	for _, m := range mounts {
		if m.kind == v.kind && (v.kind == "cgroup2" || slices.Contains(m.options, "memory")) {
			own = append(own, m)
		}
	}
	if own == nil {
		own = []mount{{kind: v.kind, root: "/", place: v.place}}
	}
	for _, m := range own {
		below, ok := within(m.root, group)
		for ; ok && below != "."; below = path.Dir(below) {
			out = append(out, path.Join(m.place, below))
		}
		if ok {
			out = append(out, m.place)
		}
	}
	if out == nil {
		out = []string{own[0].place}
	}
	return out
}

// within returns the path of a group below another, "." for the same one.
func within(above, group string) (below string, ok bool) {
	if strings.Contains(above+"/"+group+"/", "/../") { // outside of the name space of this process
		return "", false
	}
	above, group = strings.Trim(path.Clean("/"+above), "/"), strings.Trim(path.Clean("/"+group), "/")
	if above == "" {
		return path.Clean(group), true
	}
	rest, ok := strings.CutPrefix(group+"/", above+"/")
	return path.Clean(strings.Trim(rest, "/")), ok
}

// left returns how much the group of a folder leaves. Pages of files that are not in use
// count as taken, but the kernel can drop them.
func (v *cgroupVersion) left(root fs.FS, dir string) int64 {
	limit := int64(unlimited)
	for _, name := range v.limits {
		if n, ok := readNumber(root, path.Join(dir, name)); ok {
			limit = min(limit, n)
		}
	}
	stat, _ := fs.ReadFile(root, path.Join(dir, "memory.stat"))
	// Version 1 shows the least limit of the groups above, mounted or not.
	if n, ok := field(stat, "hierarchical_memory_limit"); ok {
		limit = min(limit, n)
	}
	if limit == unlimited {
		return unlimited
	}
	used, _ := readNumber(root, path.Join(dir, v.used))
	idle, _ := field(stat, v.idle)
	return max(limit-max(used-idle, 0), 0)
}

// readNumber reads a file with one number. "max", which means no limit, does not count as one.
func readNumber(root fs.FS, name string) (int64, bool) {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	return number(strings.TrimSpace(string(b)))
}
