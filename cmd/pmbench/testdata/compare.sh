#!/usr/bin/env bash
# How often compare is right: pairs of recordings of one build, which it should
# find equal, and pairs with an engine slowed by a tenth, which it should find worse.
#
#   cmd/pmbench/testdata/compare.sh [TRIES]
#
# Each try records the build and the slow one once, and compares the build with its
# recording of the try before and with the slow one. Prints a line for each try and
# the comparison where it is wrong, and fails if more than one in twenty is, either
# way. Twenty tries take about ten minutes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
tries=${1:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The slow engine computes a tenth of every product twice.
sed -e 's|set.Do(ctx, a.Chunks(), |set.Do(ctx, a.Chunks()+a.Chunks()/10, |' \
  -e 's|lo, hi := a.Chunk(chunk)$|lo, hi := a.Chunk(chunk % a.Chunks())|' sparse/spmm.go >"$work/spmm.go"
changed=$(diff sparse/spmm.go "$work/spmm.go" | grep -c '^>') || true
[ "$changed" = 2 ] || { echo "the place to slow down was not found" >&2; exit 1; }
echo "{\"Replace\": {\"$PWD/sparse/spmm.go\": \"$work/spmm.go\"}}" >"$work/overlay.json"
go build -o "$work/same" ./cmd/pmbench
go build -overlay "$work/overlay.json" -o "$work/slow" ./cmd/pmbench

record() {
  "$work/$1" run -suite spmm -case 'order=curve/.*/k=[12]/layout=plain/workers=1' -count 14 -no-limits -quiet -out "$work/$2" >/dev/null
}
# verdict WANTED OLD NEW compares and sets exit to the exit code; WANTED is a pattern.
verdict() {
  exit=0
  "$work/same" compare "$work/$2" "$work/$3" >"$work/table" 2>&1 || exit=$?
  [[ $exit == $1 ]] || cat "$work/table"
}
false_alarms=0 missed=0
record same before
for ((try = 1; try <= tries; try++)); do
  record same now
  record slow slowed
  verdict '[03]' before now # 3: nothing is worse, something is unclear
  equal=$exit
  verdict 1 now slowed
  worse=$exit
  echo "try $try: one build twice: exit $equal; slowed by a tenth: exit $worse"
  [[ $equal == [03] ]] || false_alarms=$((false_alarms + 1))
  [ "$worse" = 1 ] || missed=$((missed + 1))
  mv "$work/now" "$work/before"
done
echo "$tries tries: $false_alarms false alarms, $missed slowdowns missed"
((false_alarms * 20 <= tries && missed * 20 <= tries))
