package service

import "errors"

// Sentinels, matched with errors.Is.
var (
	// ErrSettings reports settings that cannot be used.
	ErrSettings = errors.New("settings not usable")
	// ErrGallery reports a gallery that cannot be published.
	ErrGallery = errors.New("gallery not publishable")
	// ErrTokens reports a file of tokens that cannot be used.
	ErrTokens = errors.New("tokens not usable")
	// ErrCertificates reports files of certificates that cannot be used.
	ErrCertificates = errors.New("certificates not usable")
)
