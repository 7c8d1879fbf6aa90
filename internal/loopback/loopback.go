// Package loopback recognises this machine among addresses.
package loopback

import "net/netip"

// Host reports whether a host is this machine for certain: the word localhost, or an address of the
// loopback.
func Host(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
