package codes

// Seconds of the machine that the costs of package kernel were measured on, for short rows.
// They are compared with those of package cells and with nothing else.
const (
	beginSeconds   = 2.4e-3  // the survey and the leaders
	rowSeconds     = 1.8e-6  // a point, until it is in its tile
	nearSeconds    = 1.5e-9  // a point and a ball
	compareSeconds = 0.53e-9 // a pair of codes
	measureSeconds = 8e-9    // a distance
	storeSeconds   = 24e-9   // a pair that is found
	usualTile      = 55      // points of a tile with a ball
)

// LeastSeconds estimates the time that a search of n points takes with one worker where
// balls leave next to nothing to compare, the time of the weights apart.
func LeastSeconds(n int) float64 {
	return beginSeconds + float64(n)*rowSeconds + pairs(n)/usualTile*nearSeconds
}

// Seconds estimates the time of Find with one worker.
func (p *Prepared) Seconds() float64 {
	all := pairs(p.s.n)
	sum := all * (p.s.share*compareSeconds + p.survey.near*measureSeconds + p.survey.found*storeSeconds)
	if p.s.tiles.balls != nil {
		sum += float64(p.s.n) * float64(p.s.tiles.count()) / 2 * nearSeconds
	}
	return sum
}

// Found estimates how many pairs Find will find.
func (p *Prepared) Found() float64 { return pairs(p.s.n) * p.survey.found }

// pairs returns the number of pairs of n points.
func pairs(n int) float64 { return float64(n) * float64(n-1) / 2 }
