package main

// counterNote says whether instructions can be counted, and if not, why.
func counterNote() string {
	c, err := openCounters()
	if err != nil {
		return "none (" + err.Error() + ")"
	}
	c.close()
	return "instructions"
}
