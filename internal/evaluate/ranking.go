package evaluate

// Ranking holds the answers to queries, best first, such as package nearest finds them.
type Ranking struct {
	// K is the number of answers to a query.
	K int
	// Index holds the row numbers of the answers, K for each query in turn. A
	// negative number means that no row came back.
	Index []int
}

// Queries returns the number of queries answered.
func (r *Ranking) Queries() int {
	if r.K < 1 {
		return 0
	}
	return len(r.Index) / r.K
}

// Row returns the answers to query q, nearest first. The slice belongs to r.
func (r *Ranking) Row(q int) []int {
	return r.Index[q*r.K : (q+1)*r.K]
}
