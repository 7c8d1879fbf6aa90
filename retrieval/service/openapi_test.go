package service

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// What a file in the form of OpenAPI says, as far as it is held against the service.
type (
	apiDocument struct {
		Paths      map[string]map[string]apiOperation
		Components struct {
			Headers   map[string]any
			Responses map[string]apiResponse
		}
	}
	apiOperation struct {
		Parameters []struct{ Name, In string }
		Responses  map[string]apiResponse
	}
	apiResponse struct {
		Ref         string `json:"$ref"`
		Description string
		Headers     map[string]struct {
			Ref string `json:"$ref"`
		}
		Content map[string]any
	}
)

func readAPI(t *testing.T) (doc apiDocument) {
	t.Helper()
	text, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// response follows a reference.
func (d *apiDocument) response(t *testing.T, r apiResponse) apiResponse {
	t.Helper()
	if r.Ref == "" {
		return r
	}
	found, ok := d.Components.Responses[strings.TrimPrefix(r.Ref, "#/components/responses/")]
	if !ok {
		t.Errorf("there is no %s", r.Ref)
	}
	return found
}

// headers returns the names of the headers of a response.
func (d *apiDocument) headers(t *testing.T, r apiResponse) (names []string) {
	t.Helper()
	for name, h := range r.Headers {
		if _, ok := d.Components.Headers[name]; !ok || h.Ref != "#/components/headers/"+name {
			t.Errorf("header %s refers to %q", name, h.Ref)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The file has the paths, methods, parameters and statuses of the routes, and no others.
func TestOpenAPIHasTheRoutes(t *testing.T) {
	doc := readAPI(t)
	left := maps.Clone(doc.Paths)
	for _, r := range routes() {
		operations := doc.Paths[r.path]
		o, ok := operations[strings.ToLower(r.method)]
		if !ok || len(operations) != 1 {
			t.Errorf("%s %s: %d operations", r.method, r.path, len(operations))
			continue
		}
		delete(left, r.path)
		var parameters []string
		for _, p := range o.Parameters {
			if p.In != "query" {
				t.Errorf("%s: %s is in %s", r.path, p.Name, p.In)
			}
			parameters = append(parameters, p.Name)
		}
		if !slices.Equal(parameters, r.parameters) {
			t.Errorf("%s: parameters %q, want %q", r.path, parameters, r.parameters)
		}
		var statuses []int
		for code, response := range o.Responses {
			status, err := strconv.Atoi(code)
			if err != nil {
				t.Errorf("%s: %v", r.path, err)
			}
			statuses = append(statuses, status)
			response = doc.response(t, response)
			if _, isProblem := response.Content["application/problem+json"]; isProblem != (status >= 400) || response.Description == "" {
				t.Errorf("%s: status %d is a problem: %v", r.path, status, isProblem)
			}
			if got := doc.headers(t, response); status < 400 && !slices.Equal(got, r.headers) {
				t.Errorf("%s, %d: headers %q, want %q", r.path, status, got, r.headers)
			}
		}
		want := slices.Concat(r.statuses, r.problems, commonProblems)
		slices.Sort(statuses)
		if slices.Sort(want); !slices.Equal(statuses, want) {
			t.Errorf("%s: statuses %v, want %v", r.path, statuses, want)
		}
	}
	if len(left) > 0 {
		t.Errorf("paths without a route: %v", slices.Collect(maps.Keys(left)))
	}
}

// Answers have the headers that the file says for them, and all of those come in some
// answer.
func TestOpenAPIHasTheHeaders(t *testing.T) {
	doc := readAPI(t)
	s, web := start(t, Settings{})
	sealed := newSealed(t, 1)
	records := newRecords(t, sealed)
	cells := newCells(t, 1)
	labels := &wire.Labels{Labels: make([]int32, cells.Codebook().Rows)}
	if err := s.Publish(Offer{Name: "birds", Cells: cells, Sealed: sealed, Records: records, Map: sealed.Map(), Labels: labels}); err != nil {
		t.Fatal(err)
	}
	_, query := ask(t, sealed, 1)
	fetch := &wire.SealedRequest{Epoch: records.Epoch(), Count: 1, Columns: records.Manifest().Columns(), Width: 4, Bytes: make([]byte, 4*records.Manifest().Columns())}
	bodies := map[string][]byte{"cells": s.frame(t, 1), "sealed-ask": frameOf(t, query.Request()), "records-fetch": frameOf(t, fetch)}
	queries := map[string]string{"sealed-changes": "?since=0&to=0"}
	shard, shardWeb := startShard(t, 2, 3)
	bodies["shard-cells"] = shard.frame(t, 1)
	webs := map[string]string{"shard-cells": shardWeb.URL, "shard-rows": shardWeb.URL}
	ofNoRoute := []string{"Content-Type", "Date", "Connection"}
	for _, p := range protections {
		ofNoRoute = append(ofNoRoute, p[0])
	}
	for _, r := range routes() {
		sent := map[string]bool{}
		etag := ""
		for _, extra := range [][]string{{}, {"Range: bytes=0-3"}, {"If-None-Match: "}, {"Range: bytes=99999999-"}, {"X-Method: wrong"}} {
			if len(extra) > 0 && strings.HasPrefix(extra[0], "If-None-Match") {
				extra[0] += etag
			}
			method := r.method
			if len(extra) > 0 && strings.HasPrefix(extra[0], "X-Method") {
				method = http.MethodPut
			}
			got := send(t, method, cmp.Or(webs[r.name], web.URL)+r.path+queries[r.name], bytes.NewReader(bodies[r.name]), extra...)
			etag = got.header.Get("ETag")
			response, ok := doc.Paths[r.path][strings.ToLower(r.method)].Responses[strconv.Itoa(got.status)]
			if !ok {
				t.Errorf("%s %s %v: status %d is not in the file", method, r.path, extra, got.status)
				continue
			}
			said := doc.headers(t, doc.response(t, response))
			for name := range got.header {
				known := func(s string) bool { return http.CanonicalHeaderKey(s) == name }
				if !slices.ContainsFunc(said, known) && !slices.Contains(ofNoRoute, name) {
					t.Errorf("%s %v: header %s of status %d is not in the file", r.path, extra, name, got.status)
				}
				sent[name] = true
			}
		}
		for _, name := range r.headers {
			if !sent[http.CanonicalHeaderKey(name)] {
				t.Errorf("%s: the header %s never comes", r.path, name)
			}
		}
	}
}
