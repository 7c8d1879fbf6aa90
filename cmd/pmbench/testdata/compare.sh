#!/usr/bin/env bash
# How often compare is right: pairs of recordings of one build, which it should
# find equal, and pairs with an engine that computes one part in PART of each product twice,
# which it should find worse: a tenth unless PART says more, while BUSY programs keep the
# processors busy, none by default.
#
#   cmd/pmbench/testdata/compare.sh [TRIES [PART [BUSY]]]
#
# Each try records the build and the slow one once, and compares the build with its
# recording of the try before and with the slow one. Prints a line for each try and
# the comparison where it is wrong, and fails if more than one in twenty is, either
# way. Twenty tries take about fifteen minutes on an idle machine.
#
#   cmd/pmbench/testdata/compare.sh 20 3 3      # a third, next to three programs
set -euo pipefail
cd "$(dirname "$0")/../../.."
tries=${1:-20} part=${2:-10} busy=${3:-0}
work=$(mktemp -d)
counting=()
trap '[ ${#counting[@]} = 0 ] || kill "${counting[@]}"; rm -rf "$work"' EXIT

cmd/pmbench/testdata/slower.sh "$part" "$work"
for ((i = 0; i < busy; i++)); do
  (while :; do :; done) &
  counting+=($!)
done

record() {
  "$work/$1" run -suite spmm -case 'order=curve/.*/k=[12]/layout=plain/workers=1' -count 20 -no-limits -quiet -out "$work/$2" >/dev/null
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
  verdict '[034]' before now # 3, 4: nothing is worse, something is unclear or likely so
  equal=$exit
  verdict 1 now slowed
  worse=$exit
  echo "try $try: one build twice: exit $equal; slowed by one in $part: exit $worse"
  [[ $equal == [034] ]] || false_alarms=$((false_alarms + 1))
  [ "$worse" = 1 ] || missed=$((missed + 1))
  mv "$work/now" "$work/before"
done
echo "$tries tries: $false_alarms false alarms, $missed slowdowns missed"
((false_alarms * 20 <= tries && missed * 20 <= tries))
