// Package client is what runs where the query is, in mode sealed. The server scores a query that
// it cannot read.
package client
