package service

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// profileTime is the longest that a profile takes.
const profileTime = 5 * time.Minute

// Admin returns the handler of the admin listener: /metrics, /livez, /readyz, /debug/pprof/
// and the status page. It lets everyone in who reaches it, but for pages of other hosts: on a
// loopback address the name in a request is that of this machine.
func (s *Service) Admin() http.Handler {
	routes := within(profileTime, s.adminRoutes())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		w.Header().Set("Cache-Control", "no-store")
		if !ownHost(r) {
			// A page whose name was made to mean a loopback address would read our answers.
			http.Error(w, "this address belongs to this machine, and the request names another host", http.StatusMisdirectedRequest)
			return
		}
		routes.ServeHTTP(w, r)
	})
}

// within ends the context of requests after a time. A profile ends with it; package pprof would let
// it go on for as long as the request says.
func within(most time.Duration, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), most)
		defer cancel()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// ownHost reports whether a request names a host that can be meant: any on an address that others can
// reach; on a loopback address localhost, or a number.
func ownHost(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if ok && !local.IP.IsLoopback() {
		return true
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	_, err := netip.ParseAddr(host)
	return err == nil || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// adminRoutes are the paths of the admin listener.
func (s *Service) adminRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		word := "ok"
		err := s.Ready()
		if err != nil {
			word = err.Error()
		}
		for i, state := range s.shards() {
			word += fmt.Sprintf("\nshard %d, %s: %s for %s", i+1, state.Address, state.word(), ago(time.Since(state.Since)))
		}
		if err != nil {
			http.Error(w, word, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, word)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.writeMetrics(series{w})
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		if p := s.writeStatus(s.newAnswer(w, r), true); p != nil {
			p.write(w)
		}
	})
	return mux
}

// writeMetrics writes the metrics of the service, of its gallery and of the process.
func (s *Service) writeMetrics(out series) {
	s.metrics.write(out)
	ready := 0.0
	if s.Ready() == nil {
		ready = 1
	}
	out.one("privatemail_ready", "gauge", "1 when requests are answered.", ready)
	if states := s.shards(); states != nil {
		out.head("privatemail_shard_ready", "gauge", "1 for a shard that answers with the gallery that is served.")
		for i, state := range states {
			up := 0.0
			if state.Ready {
				up = 1
			}
			out.value("privatemail_shard_ready", label("shard", strconv.Itoa(i+1)), up)
		}
	}
	var newest servedVersion
	served := s.served()
	if len(served) > 0 {
		newest = served[0]
	}
	out.one("privatemail_gallery_versions", "gauge", "Versions of the gallery that are answered from.", float64(len(served)))
	out.one("privatemail_gallery_version", "gauge", "Number of the newest version.", float64(newest.Version))
	out.one("privatemail_gallery_rows", "gauge", "Rows of the newest version.", float64(newest.Rows))
	out.one("privatemail_sealed_version", "gauge", "Version of the sealed gallery within its epoch.", float64(newest.SealedVersion))
	var failed, refused, open int64
	if g := s.public.Load(); g != nil {
		failed, refused = g.failed.Load(), g.refused.Load()
		open, _ = g.room.load()
	}
	out.one("privatemail_accept_failures_total", "counter", "Connections of the public listener that could not be accepted.", float64(failed))
	out.one("privatemail_connections_refused_total", "counter", "Connections of the public listener that were closed because there are too many, or too many of one client.", float64(refused))
	out.one("privatemail_connections", "gauge", "Connections of the public listener.", float64(open))
	out.one("privatemail_connections_limit", "gauge", "Connections that the public listener may have at a time.", float64(s.settings.MaxConnections))
	_, waiting := s.places.load()
	out.one("privatemail_requests_waiting", "gauge", "Requests of the public listener that wait for a place.", float64(waiting))
	out.one("privatemail_requests_limit", "gauge", "Requests of the public listener that may run at a time.", float64(s.settings.MaxRequests))
	out.head("privatemail_build_info", "gauge", "1, with the release of the program.")
	out.value("privatemail_build_info", label("version", s.settings.Release)+","+label("go", runtime.Version()), 1)

	out.one("go_goroutines", "gauge", "Goroutines.", float64(runtime.NumGoroutine()))
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	out.one("go_memstats_heap_alloc_bytes", "gauge", "Bytes of the heap in use.", float64(memory.HeapAlloc))
	out.one("go_memstats_sys_bytes", "gauge", "Bytes taken from the system.", float64(memory.Sys))
	out.one("go_memstats_mallocs_total", "counter", "Allocations.", float64(memory.Mallocs))
	var collections debug.GCStats
	debug.ReadGCStats(&collections)
	out.one("go_gc_cycles_total", "counter", "Garbage collections.", float64(collections.NumGC))
	if resident, ok := residentBytes(); ok {
		out.one("process_resident_memory_bytes", "gauge", "Resident memory, galleries among it.", resident)
	}
}
