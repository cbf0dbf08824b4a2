#!/usr/bin/env bash
# Build sdist and wheel, check them, install each into an empty environment, and use it as the README does.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
python=${PYTHON:-python3}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/tools"
"$place/tools/bin/pip" install --quiet --disable-pip-version-check build twine
rm -rf dist
"$place/tools/bin/python" -m build --outdir dist . > "$place/build.log" || { tail -20 "$place/build.log"; exit 1; }
"$place/tools/bin/twine" check --strict dist/*
# The README's «Five lines of Python», as they stand there.
sed -n '/^## Five lines of Python/,/^## /p' README.md | sed -n '/^```python/,/^```/p' | sed '/^```/d' > "$place/readme.py"
grep -q 'ub.fit' "$place/readme.py"
for file in dist/*.whl dist/*.tar.gz; do
  size=$(wc -c < "$file")
  echo "$file: $size bytes"
  case $file in *.whl) test "$size" -lt 2000000 ;; esac
  "$python" -m venv "$place/empty"
  "$place/empty/bin/pip" install --quiet --disable-pip-version-check torch==2.13.0
  "$place/empty/bin/pip" install --quiet --disable-pip-version-check -c constraints.txt "$root/$file"
  (
    mkdir "$place/work" && cd "$place/work"
    ../empty/bin/unbraid --help > /dev/null
    ../empty/bin/unbraid methods > /dev/null
    ../empty/bin/python ../readme.py
    # The demo takes minutes: with the wheel only, of which the sdist makes the same.
    case $file in *.whl) ../empty/bin/unbraid demo --quiet && test -s runs/demo/report.html ;; esac
  )
  rm -rf "$place/empty" "$place/work"
done
