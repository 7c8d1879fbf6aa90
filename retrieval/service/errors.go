package service

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
)

// Sentinels, matched with errors.Is.
var (
	// ErrSettings reports settings that cannot be used, or files of tokens or certificates.
	ErrSettings = errors.New("settings not usable")
	// ErrGallery reports a gallery that cannot be published.
	ErrGallery = errors.New("gallery not publishable")
)

// Kinds of ErrSettings.
var (
	errTokens       = errkind.Of(ErrSettings, "tokens not usable")
	errCertificates = errkind.Of(ErrSettings, "certificates not usable")
)
