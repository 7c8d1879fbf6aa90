// Package server is the half of mode sealed that has the gallery. It scores queries that it
// cannot read.
package server
