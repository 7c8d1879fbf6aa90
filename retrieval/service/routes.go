package service

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A route is a path of the public listener with its method.
type route struct {
	method, path string
	name         string // in logs and metrics
	serve        func(s *Service, w *answer, r *http.Request) *problem
	parameters   []string
	statuses     []int    // of answers that are no problems
	problems     []int    // of its own, in addition to those of every route
	headers      []string // of answers that are no problems
}

// Statuses and headers that several routes have.
var (
	frameStatuses = []int{http.StatusOK, http.StatusPartialContent, http.StatusNotModified}
	frameHeaders  = []string{"Accept-Ranges", "Cache-Control", "Content-Length", "Content-Range", "ETag"}
	answerHeaders = []string{"Cache-Control", "Content-Length"}
	// messageProblems and questionProblems are those of what a GET fetches and of what a POST
	// asks, where a version of the gallery can be named.
	messageProblems  = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestedRangeNotSatisfiable}
	questionProblems = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}
	// commonProblems are what any route may answer.
	commonProblems = []int{http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
)

// routes returns all routes of the public listener. docs/openapi.json says the same, and a
// test holds the two against each other.
func routes() []route {
	const get, post = http.MethodGet, http.MethodPost
	epoch := []string{"epoch"}
	return []route{
		{get, "/v1/gallery", "gallery", (*Service).serveGallery, []string{"codebook", "epoch"}, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/codebook", "codebook", (*Service).serveCodebook, []string{"codebook"}, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/base", "base", (*Service).serveBase, []string{"encoding", "codebook"}, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/rows", "rows", (*Service).serveRows, []string{"codebook"}, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/map", "map", (*Service).serveMap, []string{"codebook", "epoch"}, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/labels", "labels", (*Service).serveLabels, []string{"codebook", "epoch"}, frameStatuses, messageProblems, frameHeaders},
		{post, "/v1/cells", "cells", (*Service).serveCells, []string{"encoding"}, []int{200}, questionProblems, answerHeaders},
		{post, "/v1/shard/cells", "shard-cells", (*Service).serveShardCells, []string{"encoding"}, []int{200}, questionProblems, answerHeaders},
		{get, "/v1/shard/rows", "shard-rows", (*Service).serveShardRows, []string{"codebook"}, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/sealed/manifest", "sealed-manifest", (*Service).serveManifest, epoch, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/sealed/hint", "sealed-hint", (*Service).serveHint, epoch, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/sealed/ids", "sealed-ids", (*Service).serveIDs, epoch, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/sealed/changes", "sealed-changes", (*Service).serveChanges, []string{"epoch", "since", "to"}, []int{200}, []int{400, 404, 409, 410}, answerHeaders},
		{post, "/v1/sealed/ask", "sealed-ask", (*Service).serveAsk, nil, []int{200}, questionProblems, answerHeaders},
		{get, "/v1/sealed/records/manifest", "records-manifest", (*Service).serveRecordsManifest, epoch, frameStatuses, messageProblems, frameHeaders},
		{get, "/v1/sealed/records/hint", "records-hint", (*Service).serveRecordsHint, epoch, frameStatuses, messageProblems, frameHeaders},
		{post, "/v1/sealed/records/fetch", "records-fetch", (*Service).serveFetch, nil, []int{200}, questionProblems, answerHeaders},
		{get, "/", "status", (*Service).serveStatus, nil, []int{200}, []int{400}, []string{"Cache-Control", "Content-Length", "Content-Security-Policy"}},
	}
}

// Public returns the handler of the public listener. Deadlines of requests and of idle
// connections are those of the http.Server that it belongs to, as Run has one.
func (s *Service) Public() http.Handler {
	p := &paths{known: map[string]*path{}, other: s.guard(otherRoute, func(*Service, *answer, *http.Request) *problem { return notFound() })}
	for _, r := range routes() {
		allow := r.method
		if r.method == http.MethodGet {
			allow = "GET, HEAD"
		}
		p.known[r.path] = &path{r.method, s.guard(r.name, r.checked), s.guard(r.name, func(_ *Service, w *answer, _ *http.Request) *problem {
			w.Header().Set("Allow", allow)
			return wrongMethod()
		})}
	}
	return p
}

// paths send each request to its route. A path has one spelling: others are not found. An
// http.ServeMux would send them elsewhere without asking the guard.
type paths struct {
	known map[string]*path
	other http.Handler
}

// A path has one method.
type path struct {
	method       string
	serve, wrong http.Handler
}

// ServeHTTP implements http.Handler.
func (p *paths) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := p.known[r.URL.EscapedPath()]
	switch {
	case to == nil:
		p.other.ServeHTTP(w, r)
	case to.method == r.Method || to.method == http.MethodGet && r.Method == http.MethodHead:
		to.serve.ServeHTTP(w, r)
	default:
		to.wrong.ServeHTTP(w, r)
	}
}

// checked serves a request whose parameters can be used. Whoever names a version in a way that
// cannot be read must not get another one.
func (r route) checked(s *Service, w *answer, request *http.Request) *problem {
	values, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		return badParameter("the query cannot be read")
	}
	for name, all := range values {
		switch {
		case !slices.Contains(r.parameters, name) && len(r.parameters) == 0:
			return badParameter("this path has no parameters")
		case !slices.Contains(r.parameters, name):
			return badParameter("this path has no parameters but " + strings.Join(r.parameters, ", "))
		case len(all) != 1 || all[0] == "":
			return badParameter("a parameter has one value")
		}
	}
	return r.serve(s, w, request)
}

// otherRoute is the name of requests for paths that do not exist.
const otherRoute = "other"
