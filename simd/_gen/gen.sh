#!/usr/bin/env bash
# Writes every generated file of package simd anew. CI runs it and demands an
# unchanged tree.
set -euo pipefail
cd "$(dirname "$0")"

generate() { # family level
  go run "./$1" -level "$2" -pkg simd -out "../$1_$2_amd64.s" -stubs "../$1_$2_amd64.go"
}

for family in above8 addrows distto dots expneg finish half near nodes round8 spmm thin wideto; do
  generate $family avx2
  generate $family avx512
done
generate above8 avx512vnni
generate above8 amx
generate sums avx2
generate finite avx2
generate widen avx2
generate pack avx512
generate slide avx512

# Vector registers from 16 on belong to AVX-512.
if grep -nE '\b[XY](1[6-9]|2[0-9]|3[01])\b|\b[ZK][0-9]' ../*_avx2_amd64.s; then
  echo "AVX-512 registers in code for AVX2" >&2
  exit 1
fi
