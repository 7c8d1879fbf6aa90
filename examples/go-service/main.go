// Go-service is a small web service that links the engine: it finds the rows of a gallery
// that are nearest to the rows of a request.
//
//	go run ./examples/go-service
//	curl -s -d '{"rows": [[1,1,0,0,0,0,0,0]], "k": 3}' http://127.0.0.1:8080/nearest
//
// It fits a model when it starts, or opens that of an earlier run, and then answers from
// memory. The sender of a request can cancel it, all requests together stay within a limit
// of memory, and SIGTERM lets running requests finish. Copy the folder and change what you need:
// it uses only public packages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed-64e14a55/privatemail"
)

// options are the values of the flags.
type options struct {
	listen, model, features, labels string
	maxMemory                       int64
}

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "127.0.0.1:8080", "the `ADDRESS` to listen on")
	flag.StringVar(&o.model, "model", "", "keep the model in `FILE`, and open it there if it exists")
	flag.StringVar(&o.features, "features", "", "the gallery, a `FILE` such as features.npy; without it a small one is generated")
	flag.StringVar(&o.labels, "labels", "", "the classes of its rows, a `FILE` such as labels.npy")
	flag.Int64Var(&o.maxMemory, "max-memory", 1<<30, "the `BYTES` that requests may take together")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", o.listen)
	if err == nil {
		err = run(ctx, o, listener)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

// patience is how long requests may continue after the service was asked to end.
const patience = 10 * time.Second

// run serves until ctx ends, and then waits for running requests. It closes the listener.
func run(ctx context.Context, o options, listener net.Listener) error {
	defer listener.Close() // the server may already have closed it
	engine, err := privatemail.New(privatemail.WithMaxMemory(o.maxMemory))
	if err != nil {
		return err
	}
	defer engine.Close()
	gallery, err := openGallery(ctx, engine, o)
	if err != nil {
		return fmt.Errorf("the gallery: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /nearest", &service{engine: engine, gallery: gallery})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		last, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		ended <- errors.Join(server.Shutdown(last), server.Close()) // Close ends requests that take longer
	})
	log.Printf("%d rows, listening on http://%s", gallery.rows().Rows, listener.Addr())
	err = server.Serve(listener)
	if stop() || !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-ended
}
