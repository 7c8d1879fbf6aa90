#!/usr/bin/env bash
# Records the turns in this folder: same.txt of this tree and slow.txt of an engine that is a
# third slower, which take turns while other programs keep the processors busy.
#
#   cmd/pmbench/testdata/busy/record.sh [TURNS [BUSY]]
#
# BUSY programs, 3 if nothing else is said, do nothing but count. A turn of both takes ten to
# twenty seconds. TestBusyMachine draws comparisons from the files; see notes.md.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
turns=${1:-40} busy=${2:-3}
work=$(mktemp -d)
counting=()
trap '[ ${#counting[@]} = 0 ] || kill "${counting[@]}"; rm -rf "$work"' EXIT
"$folder/../slower.sh" 3 "$work"
for ((i = 0; i < busy; i++)); do
  (while :; do :; done) &
  counting+=($!)
done
for ((turn = 1; turn <= turns; turn++)); do
  for side in same slow; do
    "$work/$side" run -suite spmm -case 'order=curve/.*/k=[12]/layout=plain' -count 1 -no-limits -quiet -out "$work/one.txt" >/dev/null
    # The names and units that comparisons need, and no more.
    awk '/^Benchmark/ {
      line = $1; sub(/order=.*nnz=32\//, "", line); sub(/layout=plain\//, "", line); line = line " " $2
      for (i = 3; i < NF; i += 2) if ($(i + 1) ~ /^((cpu-)?yards\/op|(cpu-|least-)?yard-sec)$/) line = line sprintf(" %.4g %s", $i, $(i + 1))
      print line
    }' "$work/one.txt" >>"$work/$side.txt"
  done
  echo "turn $turn of $turns, load $(cut -d' ' -f1 /proc/loadavg)"
done
mv "$work/same.txt" "$work/slow.txt" "$folder/"
