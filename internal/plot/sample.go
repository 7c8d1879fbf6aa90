package plot

// MostRows is the most rows that a plot draws: more would hide each other and make
// files of many megabytes.
const MostRows = 10000

// Rows returns which of n rows to draw, ascending: all of them, or MostRows. Those are one
// of each n/MostRows consecutive rows, so that they are spread evenly over the file. A
// hash of the place picks the one, instead of equal distances, so that a period in the
// file does no harm. The same n gives the same rows.
func Rows(n int) []int {
	m := min(n, MostRows)
	rows := make([]int, m)
	for i := range rows {
		lo, hi := share(i, n, m), share(i+1, n, m)
		rows[i] = lo + int(scramble(uint64(i))%uint64(hi-lo))
	}
	return rows
}

// share returns i n / m without overflow.
func share(i, n, m int) int { return n/m*i + n%m*i/m }

// scramble is the finaliser of splitmix64 (Steele, Lea, Flood 2014).
func scramble(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
