package service

import (
	"encoding/hex"
	"net/http"
)

// shardDescription is what a shard says to front ends: which rows it has, and the hashes of what
// all shards of a gallery must have in common, in hexadecimal digits.
type shardDescription struct {
	Index    int               `json:"index"`
	Count    int               `json:"count"`
	First    int               `json:"first"`
	Rows     int               `json:"rows"`
	Length   int               `json:"length"`        // of its lists, padded
	Whole    string            `json:"whole"`         // SHA-256 of all rows as a message
	Checksum string            `json:"checksum"`      // at the end of that message
	Base     map[string]string `json:"base"`          // SHA-256, by encoding
	Map      string            `json:"map,omitempty"` // SHA-256
	Own      string            `json:"own"`           // SHA-256 of the rows that are here
}

// describeShard returns what there is to say of a shard, but for the map.
func (p *cellsPart) describeShard() *shardDescription {
	s := p.shard
	d := &shardDescription{
		Index: s.Index, Count: s.Count, First: s.First, Rows: s.Rows, Length: s.Length,
		Whole: hex.EncodeToString(s.Whole[:]), Checksum: hex.EncodeToString(s.Checksum[:]), Base: map[string]string{}, Own: p.rows().hash,
	}
	for i, f := range encodings {
		d.Base[f.String()] = p.bases[i].hash
	}
	return d
}

// serveShardCells answers a front end with the lists that a shard has of some cells.
func (s *Service) serveShardCells(w *answer, r *http.Request) *problem {
	return s.answerCells(w, r, true)
}

// serveShardRows answers the rows of a shard.
func (s *Service) serveShardRows(w *answer, r *http.Request) *problem {
	return s.serveMessage(w, r, frameType, codebookPart, func(v *version) (message, *problem) {
		if v.cells.shard == nil {
			return message{}, noShard()
		}
		return v.cells.rows(), nil
	})
}

func ofShard() *problem {
	return notOffered("this is a shard, which has a part of the rows: ask a front end")
}

func noShard() *problem {
	return notOffered("this is no shard: it has all rows, or none")
}

// word is what pages say of a shard.
func (s *ShardState) word() string {
	if s.Ready {
		return "ready"
	}
	return s.Reason
}
