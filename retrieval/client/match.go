package client

// A Match is a row of the server's gallery.
type Match struct {
	ID int64
	// Distance in the space that was searched.
	Distance float64
}
