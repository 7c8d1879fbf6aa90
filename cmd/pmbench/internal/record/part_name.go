package record

import (
	"fmt"
	"hash/crc32"
	"strings"
)

// PartName is how the name of a recording ends whose flags choose a part of a suite, and
// nothing where they choose none: a part does not take the place of a recording of the
// whole. It begins with letters and digits of the flags and ends with a checksum of all of
// them, for patterns that differ can have the same letters.
func PartName(flags ...string) string {
	all := strings.Join(flags, "\n")
	if strings.Trim(all, "\n") == "" {
		return ""
	}
	const most = 40 // systems limit the length of a name
	letters := slug(all)
	return fmt.Sprintf("-part-%s-%08x", letters[:min(len(letters), most)], crc32.ChecksumIEEE([]byte(all)))
}
