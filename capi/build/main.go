// Command build writes the library of pm.h into a folder: a shared library, an archive, the
// header, and files for pkg-config, CMake and valgrind.
//
//	go run ./capi/build -out DIR [-only shared|static]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/seed-64e14a55/privatemail/internal/clibrary"
)

func main() {
	out := flag.String("out", "", "folder `DIR` to write to; it gets lib and include")
	only := flag.String("only", clibrary.All, "`PART` to build: shared or static (default: both)")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "build: want -out DIR, and only flags")
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := clibrary.Build(ctx, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}
