#!/usr/bin/env bash
# The JavaScript library @huggingface/jinja ignores the argument of strip, lstrip and rstrip, without an error.
#
# Versions: @huggingface/jinja 0.5.11, Node.js 20.20.2, Linux x64. Jinja2 3.1.2 for comparison.
#
# Seen: `"\n    x = 1".lstrip("\n")` renders `x = 1`; Jinja2 renders `    x = 1`. `"##a##".strip("#")` stays as it is.
# Booleans print as `true`, where Jinja2 prints `True`.
#
# Consequence: a template that cuts line breaks after the thoughts of an answer also removes the indentation of code that
# begins the answer, so the model reads another conversation than it was trained on. Compare the prompt with that of Jinja2.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error @huggingface/jinja@0.5.11
cat >show.mjs <<'PROGRAM'
import {Template} from '@huggingface/jinja'
for (const source of [String.raw`{{ "\n    x = 1".lstrip("\n") }}`, '{{ "##a##".strip("#") }}', '{{ true }}'])
  console.log(source, '->', JSON.stringify(new Template(source).render({})))
PROGRAM
seen=$(node show.mjs)
echo "$seen"
expected='{{ "\n    x = 1".lstrip("\n") }} -> "x = 1"
{{ "##a##".strip("#") }} -> "##a##"
{{ true }} -> "true"'
[ "$seen" = "$expected" ] || { printf 'Changed: it was\n%s\n' "$expected" && exit 1; }
echo 'As described.'
