package text

import "fmt"

// FormatSize writes a number of bytes for a person.
func FormatSize(bytes int64) string {
	if bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	v, unit := float64(bytes), -1
	for ; v >= 1024 && unit < 5; unit++ {
		v /= 1024
	}
	return fmt.Sprintf("%.4g %ciB", v, "KMGTPE"[unit])
}
