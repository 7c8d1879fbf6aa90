package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
)

// distrust says in plain words why the two sides of a connection do not come together over TLS,
// nil where that is not so. No further try changes it.
func distrust(err error) error {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Errorf("%w: %s", ErrCertificate, whyNot(err))
	}
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" && aboutTrust(alert.Err.Error()) {
		return fmt.Errorf("%w: it ends the connection with the words %q; it may ask for a certificate of the client, or not trust the one that it got", ErrRefused, oneLine(alert.Err.Error()))
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return fmt.Errorf("%w over TLS: it may serve http:// and not https://", ErrUnreachable)
	}
	return nil
}

// aboutTrust reports whether an alert of the server says that it will not talk to this client. Other
// alerts may not come again.
func aboutTrust(alert string) bool {
	return slices.ContainsFunc([]string{"certificate", "access denied", "handshake failure", "protocol version"}, func(word string) bool {
		return strings.Contains(alert, word)
	})
}

// whyNot says what is wrong with a certificate. Texts of the server are not repeated.
func whyNot(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "none of the authorities that are trusted here has signed it"
	}
	if host, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("it is not for the name %s", oneLine(host.Host))
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return "it has expired, or is not valid yet; is the clock of this machine right?"
		}
		return "it, or one of those that signed it, must not be used for this"
	}
	return oneLine(err.Error())
}
