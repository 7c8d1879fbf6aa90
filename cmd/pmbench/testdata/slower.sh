#!/usr/bin/env bash
# Builds pmbench from this tree, and once more with an engine that computes one part in so
# many of every product twice: 3 makes it a third slower.
#
#   cmd/pmbench/testdata/slower.sh PART FOLDER
#
# The programs are FOLDER/same and FOLDER/slow.
set -euo pipefail
cd "$(dirname "$0")/../../.."
part=$1 out=$2
sed -e "s|workers.Do(ctx, a.Chunks(), |workers.Do(ctx, a.Chunks()+a.Chunks()/$part, |" \
  -e 's|lo, hi := a.Chunk(chunk)$|lo, hi := a.Chunk(chunk % a.Chunks())|' sparse/mul.go >"$out/mul.go"
changed=$(diff sparse/mul.go "$out/mul.go" | grep -c '^>') || true
[ "$changed" = 2 ] || { echo "the place to slow down was not found" >&2; exit 1; }
echo "{\"Replace\": {\"$PWD/sparse/mul.go\": \"$out/mul.go\"}}" >"$out/overlay.json"
go build -o "$out/same" ./cmd/pmbench
go build -overlay "$out/overlay.json" -o "$out/slow" ./cmd/pmbench
