#!/usr/bin/env bash
# Build sdist and wheel, check them, install each into an empty environment, and use it as the README does.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/tools"
"$place/tools/bin/pip" install --quiet --disable-pip-version-check build twine
rm -rf dist
"$place/tools/bin/python" -m build --outdir dist . > "$place/build.log" || { tail -20 "$place/build.log"; exit 1; }
"$place/tools/bin/twine" check --strict dist/*
for file in dist/*.whl dist/*.tar.gz; do
  size=$(stat -c %s "$file")
  echo "$file: $size bytes"
  case $file in *.whl) test "$size" -lt 2000000 ;; esac
  "$python" -m venv "$place/empty"
  "$place/empty/bin/pip" install --quiet --disable-pip-version-check torch==2.13.0
  "$place/empty/bin/pip" install --quiet --disable-pip-version-check -c constraints.txt "$file"
  (
    cd "$place"
    empty/bin/unbraid --help > /dev/null
    empty/bin/unbraid methods > /dev/null
    empty/bin/python - <<'PY'
import unbraid as ub

data = ub.data.load("toys", objects=4, size=32)
run = ub.fit(data, [ub.methods.BetaTCVAE(width=0.1), ub.methods.MSVAE(latents=5, width=0.1)], steps=[5, 5], show=False)
table = run.encode(show=False)
print("MIG", ub.metrics.mig(table.codes, table.factors).value, run.report())
PY
    rm -rf runs
  )
  rm -rf "$place/empty"
done
