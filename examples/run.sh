#!/usr/bin/env bash
# Runs the commands of docs/linking.md and the lines of README.md, builds and runs the examples in C
# and C++, and runs the Python client of mode sealed:
#
#   examples/run.sh FOLDER
#
# FOLDER stands for /opt/privatemail of the page, and its folder work for that of the reader. In the
# end it has the environment venv with the wheel. PYTHON is an interpreter with numpy, scipy and
# scikit-learn.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1/work"
prefix=$(cd "$1" && pwd)
work=$prefix/work
module=github.com/seed-64e14a55/privatemail

# block prints the code of a page in a language.
block() { awk -v fence='```'"$1" '$0 == fence { on = 1; next } /^```/ { on = 0 } on' "$root/${2:-docs/linking.md}"; }

# commands prints the commands of the page, each block in its folder: the repository if the block
# begins with a comment that says so, a separate folder for Go, and otherwise that of the reader.
commands() {
  awk -v root="$root" -v work="$work" '
    $0 == "```sh" { first = 1; next }
    /^```/ { on = 0 }
    first { print "cd " (/^# in the repository$/ ? root : /^go mod init/ ? work "/go" : work); first = 0; on = 1 }
    on { print }' "$root/docs/linking.md" |
    # The module is the local one, published or not.
    sed -e "s|/opt/privatemail|$prefix|g" -e "s|^go get $module\$|export GOFLAGS=-mod=mod; go mod edit -replace $module=$root -require $module@v0.0.0|"
}

# The page has five programs and six ways to build them, with the same numbers.
page() {
  mkdir -p "$work/go" "$work/bin"
  block go >"$work/go/first.go"
  cp "$root/go.sum" "$work/go" # the expected modules
  block c >"$work/first.c"
  block cpp >"$work/first.cpp"
  block cmake >"$work/CMakeLists.txt"
  block python >"$work/first.py"
  # Not a link, whose folder would be used as that of the interpreter.
  printf '#!/bin/sh\nexec %s "$@"\n' "${PYTHON:-/usr/bin/python3}" >"$work/bin/python3"
  chmod +x "$work/bin/python3"
  commands >"$work/commands.sh"
  PATH=$work/bin:$PATH bash -euo pipefail "$work/commands.sh" | tee "$work/said"
  local numbers='^-?[0-9]+\.[0-9]{6} -?[0-9]+\.[0-9]{6}$'
  [ "$(grep -cE "$numbers" "$work/said")" = 6 ] && [ "$(grep -E "$numbers" "$work/said" | sort -u | wc -l)" = 1 ] ||
    { echo "docs/linking.md: six programs should print the same two numbers"; return 1; }
}

# said fails if a program has not printed a line of this form.
said() { grep -E "$1" "$work/said" | cut -c 1-120 || { echo "no line \"$1\" in:"; cat "$work/said"; return 1; }; }

# readme runs the lines of README.md in C and Python on rows of three classes.
readme() {
  {
    printf '#include <pm.h>\n#include <stdio.h>\nint main(void) {\n'
    printf 'enum { n = 300, d = 2 }; static float features[n * d], embedded[n * d]; static int32_t labels[n];\n'
    printf 'for (int i = 0; i < n; i++) { labels[i] = i %% 3; features[d * i] = i %% 3 + (i * 7 %% 100) / 400.f; features[d * i + 1] = (i * 11 %% 100) / 400.f; }\n'
    block c README.md
    printf 'return status != PM_OK || embedded[0] == 0; }\n'
  } >"$work/readme.c"
  PKG_CONFIG_PATH=$prefix/lib/pkgconfig sh -c 'cc -Wall -Wextra -Werror -o "$1/readme" "$1/readme.c" $(pkg-config --cflags --libs privatemail) -Wl,-rpath,"$2/lib"' - "$work" "$prefix"
  "$work/readme"
  {
    printf 'import numpy as np\nrandom = np.random.default_rng(1)\ny = np.arange(300) %% 3\n'
    printf 'X = random.normal(size=(300, 4)) + 4 * np.eye(3, 4)[y]\nqueries = X[:30]\n'
    block python README.md
    printf 'assert Z.shape[0] == 30 and (found == y[:30]).mean() > 0.9, found\n'
  } >"$work/readme.py"
  "$work/venv/bin/python" "$work/readme.py"
}

in_c() {
  cp -r "$root/examples/c" "$work"
  make -s -C "$work/c" PKG_CONFIG_PATH="$prefix/lib/pkgconfig" CFLAGS="-O2 -Wall -Wextra -Werror"
  local program
  for program in embed embed-static; do
    "$work/c/$program" >"$work/said" 2>"$work/progress"
    said 'right class: before 0\.9[0-9]*, embedded 1\.000$'
    grep -q '^steps: 1000 of 1000$' "$work/progress"
  done
  awk 'BEGIN { for (i = 0; i < 300; i++) printf "%d,%f,%d\n", i % 3, (i * 7 % 100) / 400, i % 3 }' >"$work/rows.csv"
  "$work/c/embed" -report "$work/rows.csv" 2>/dev/null >"$work/said"
  said '^\{"graph":.*"operator":"csr"'
  said '^300 rows of 2 columns'
  interrupted
}

# interrupted presses Ctrl-C after a long embedding has begun.
interrupted() {
  : >"$work/progress" # output of an earlier run must not count as output of this one
  "$work/c/embed" -n 3000000 >/dev/null 2>"$work/progress" &
  local program=$! code=0
  until grep -q ' of ' "$work/progress" 2>/dev/null; do
    kill -0 "$program" # fails if it has ended
    sleep 0.1
  done
  kill -INT "$program"
  wait "$program" || code=$?
  if [ "$code" != 130 ] || ! grep '^PM_CANCELLED: ' "$work/progress"; then
    echo "Ctrl-C: exit code $code"
    cat "$work/progress"
    return 1
  fi
}

in_cpp() {
  cp -r "$root/examples/cpp" "$work"
  make -s -C "$work/cpp" PKG_CONFIG_PATH="$prefix/lib/pkgconfig" CXXFLAGS="-O2 -Wall -Wextra -Werror"
  (cd "$work/cpp" && ./search >"$work/said" && ! ls ./*.pm 2>/dev/null)
  said '^2000 rows of 32 columns, placed in'
  said 'rows as they are 0\.[0-7][0-9]*, placed (0\.9|1\.0)'
}

# sealed_client serves digits in mode sealed and asks with a Python client that uses no code of
# ours: once with a map that has a matrix and with records, and once while the gallery grows.
sealed_client() {
  local folder=$work/sealed python=${PYTHON:-/usr/bin/python3}
  rm -rf "$folder"
  mkdir -p "$folder"
  (cd "$root" && go build -o "$folder/privatemail" ./cmd/privatemail)
  cp "$root"/examples/sealed-client/*.py "$folder"
  cd "$folder"
  ./privatemail generate -kind digits -out digits/
  "$python" -c '
import numpy as np
x, y = np.load("digits/features.npy"), np.load("digits/labels.npy")
np.save("queries.npy", x[::180]), np.save("x.npy", x[:-50]), np.save("y.npy", y[:-50])'
  # Some records are empty, and some are not UTF-8.
  LC_ALL=C awk 'BEGIN { for (i = 0; i < 1797; i++) printf i % 5 ? "digit %d%s\n" : "\n", i, i % 3 ? "" : " \351" }' >names.txt
  ./privatemail fit digits/ -recipe classic -measure=false -model map.model
  asked map.model -records names.txt
  ./privatemail fit x.npy -labels y.npy -recipe unit-rows -measure=false -model small.model
  ./privatemail fit digits/ -recipe unit-rows -measure=false -model grown.model
  asked small.model
  cd "$root"
}

# asked serves a model and compares.
asked() {
  ./privatemail serve "$@" -sealed -listen 127.0.0.1:0 -admin 127.0.0.1:0 2>"$1.log" &
  local server=$! address= growth=() code=0
  until address=$(grep -oE 'listening on http://[0-9.:]+' "$1.log" | cut -d ' ' -f 3) && [ "$address" ]; do
    kill -0 "$server" || { cat "$1.log"; return 1; } # fails if it has ended
    sleep 0.1
  done
  [ "$1" = small.model ] && growth=("$server" small.model grown.model)
  PYTHONDONTWRITEBYTECODE=1 "$python" compare.py ./privatemail "$address" queries.npy names.txt "${growth[@]}" || code=$?
  kill "$server"
  wait "$server" || cat "$1.log"
  return "$code"
}

page
readme
in_c
in_cpp
sealed_client
