package service

import (
	"encoding/hex"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

// description is what GET /v1/gallery answers. What belongs to a mode that is not offered is
// not there.
type description struct {
	Name      string             `json:"name"`
	Version   uint64             `json:"version,omitempty"`
	Codebook  string             `json:"codebook,omitempty"` // its hash, in hexadecimal digits
	Rows      int                `json:"rows"`
	Cells     int                `json:"cells,omitempty"`
	Size      int                `json:"size,omitempty"`   // cells that a request names
	Length    int                `json:"length,omitempty"` // rows of a list, padding among them
	Space     *dimensions        `json:"dimensions,omitempty"`
	Encodings []string           `json:"encodings,omitempty"`
	Modes     []string           `json:"modes"`
	Bytes     lengths            `json:"bytes"`
	Shard     *shardDescription  `json:"shard,omitempty"`
	Sealed    *sealedDescription `json:"sealed,omitempty"`
}

// dimensions are those of the centres and of the rows that are ranked.
type dimensions struct {
	Cells int `json:"cells"`
	Rows  int `json:"rows"`
}

// lengths are the bytes of messages; those of base and answer by encoding.
type lengths struct {
	Codebook int              `json:"codebook,omitempty"`
	Base     map[string]int64 `json:"base,omitempty"`
	Answer   map[string]int64 `json:"answer,omitempty"`
	Rows     int64            `json:"rows,omitempty"`
	Map      int              `json:"map"` // 0 where there is none
	Labels   int              `json:"labels,omitempty"`
}

// sealedDescription is about mode sealed: the epoch as it began.
type sealedDescription struct {
	Epoch     string              `json:"epoch"` // its hash, in hexadecimal digits
	Rows      int                 `json:"rows"`
	Cells     int                 `json:"cells"`
	Length    int                 `json:"length"` // slots of a cell
	Probes    int                 `json:"probes"` // ciphertexts of a request
	Dimension int                 `json:"dimension"`
	Bytes     sealedLengths       `json:"bytes"`
	Records   *recordsDescription `json:"records,omitempty"`
}

// sealedLengths are the bytes of messages of mode sealed.
type sealedLengths struct {
	Manifest int   `json:"manifest"`
	Hint     int64 `json:"hint"` // at the start of the epoch
	IDs      int64 `json:"ids"`
	Request  int64 `json:"request"`
	Answer   int64 `json:"answer"`
}

// recordsDescription is about the records that are fetched.
type recordsDescription struct {
	Epoch   string         `json:"epoch"` // of the records, in hexadecimal digits
	Records int            `json:"records"`
	Length  int            `json:"length"` // bytes of a padded record
	Most    int            `json:"most"`   // records of a request
	Bytes   recordsLengths `json:"bytes"`
}

// recordsLengths are the bytes of messages about records; those of request and answer are for
// one record.
type recordsLengths struct {
	Hint    int64 `json:"hint"`
	Request int64 `json:"request"`
	Answer  int64 `json:"answer"`
}

func (v *version) describe() description {
	d := description{Name: v.gallery.Name, Bytes: lengths{Map: len(v.chart.bytes), Labels: len(v.labels.bytes)}}
	if v.sealed != nil {
		d.Rows = v.sealed.sizes.Rows
		d.Sealed = v.sealed.describe()
	}
	if v.cells != nil {
		v.cells.describe(&d)
		if d.Shard != nil {
			d.Shard.Map = v.chart.hash
		}
	}
	if v.sealed != nil {
		d.Modes = append(d.Modes, "sealed")
	}
	if v.records != nil {
		d.Sealed.Records = v.records.describe()
	}
	return d
}

// epoch returns the epoch of mode sealed, "" where that is not offered.
func (d *description) epoch() string {
	if d.Sealed == nil {
		return ""
	}
	return d.Sealed.Epoch
}

// describe adds what there is to say of cells.
func (p *cellsPart) describe(d *description) {
	book := p.book
	d.Version, d.Codebook, d.Rows = book.Version, hex.EncodeToString(p.hash[:]), book.Rows
	d.Cells, d.Size, d.Length, d.Space = book.Cells(), book.Size, book.Length, &dimensions{book.Dimension, book.Ranking}
	b := &d.Bytes
	b.Codebook, b.Rows, b.Base, b.Answer = len(p.codebook.bytes), book.AllRowsBytes(), map[string]int64{}, map[string]int64{}
	for i, f := range encodings {
		d.Encodings = append(d.Encodings, f.String())
		b.Base[f.String()] = p.bases[i].length()
		b.Answer[f.String()] = book.AnswerBytes(f)
	}
	if p.shard == nil {
		d.Modes = append(d.Modes, "cells", "all")
		return
	}
	d.Modes = append(d.Modes, "shard")
	d.Shard = p.describeShard()
}

func (p *sealedPart) describe() *sealedDescription {
	m := p.sizes
	return &sealedDescription{
		Epoch: hex.EncodeToString(p.epoch[:]), Rows: m.Rows, Cells: m.Cells, Length: m.Length, Probes: m.Probes, Dimension: m.Dimension,
		Bytes: sealedLengths{len(p.manifest.bytes), m.HintBytes(), m.IDsBytes(), m.RequestBytes(), m.AnswerBytes()},
	}
}

func (p *recordsPart) describe() *recordsDescription {
	m := p.sizes
	return &recordsDescription{
		Epoch: hex.EncodeToString(p.epoch[:]), Records: m.Records, Length: m.Length, Most: sealed.MaxFetches,
		Bytes: recordsLengths{m.HintBytes(), m.RequestBytes(1), m.AnswerBytes(1)},
	}
}
