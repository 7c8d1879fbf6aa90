#!/usr/bin/env bash
# How often compare is right: pairs of recordings of one build, which it should
# find equal, and pairs with a build slowed by a tenth, which it should find worse.
#
#   cmd/pmbench/testdata/compare.sh [TRIES] [PATTERN OF CASES] [SUITE]
#
# Prints a line for each try and fails if more than one in twenty is wrong, either
# way. Twenty tries take about ten minutes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
tries=${1:-20} pattern=${2:-'operator=dense/n=1000/'} suite=${3:-private}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The slow build waits a tenth longer in every operation it measures.
sed 's|took := time.Since(from)|for done := time.Since(from); time.Since(from) < done+done/10; {\n}\n&|' cmd/pmbench/measure.go >"$work/measure.go"
cmp -s cmd/pmbench/measure.go "$work/measure.go" && { echo "the place to slow down was not found" >&2; exit 1; }
echo "{\"Replace\": {\"$PWD/cmd/pmbench/measure.go\": \"$work/measure.go\"}}" >"$work/overlay.json"
go build -o "$work/same" ./cmd/pmbench
go build -overlay "$work/overlay.json" -o "$work/slow" ./cmd/pmbench

record() { "$work/$1" run -suite "$suite" -case "$pattern" -count 10 -no-limits -quiet -out "$work/$2" >/dev/null; }
verdict() {
  local status=0
  "$work/same" compare "$work/$1" "$work/$2" >/dev/null || status=$?
  echo $status
}
false_alarms=0 missed=0
for ((try = 1; try <= tries; try++)); do
  record same a
  record same b
  record slow c
  equal=$(verdict a b) worse=$(verdict a c)
  echo "try $try: one build twice: exit $equal; slowed by a tenth: exit $worse"
  [ "$equal" = 0 ] || false_alarms=$((false_alarms + 1))
  [ "$worse" = 1 ] || missed=$((missed + 1))
done
echo "$tries tries: $false_alarms false alarms, $missed slowdowns missed"
((false_alarms * 20 <= tries && missed * 20 <= tries))
