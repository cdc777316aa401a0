#!/usr/bin/env bash
# ffmpeg loses the delay of an audio track of an MPEG transport stream if only this track is decoded.
#
# Versions: ffmpeg 2018 (N-47683, static, from the npm package @ffmpeg-installer/linux-x64 4.1.0); 5.1.9 does the same.
#
# Seen: the sound of a film begins 1.5 s after its picture. Decoded with `-map 0:a -af aresample=async=1:first_pts=0`, which
# keeps times by adding silence, it begins at 1.50 s if the container is Matroska, and at 0.02 s if it is MPEG-TS. With
# `-itsoffset 0.000001` before the input, an offset without a visible effect, it begins at 1.50 s in both.
#
# Cause: for formats whose timestamps may be discontinuous, the times of an input start at the first of the streams that are
# used, not at the start of the file, unless an offset is given. Without the picture, the sound is the first.
#
# Consequence: subtitles that are made from the sound of a .ts, .m2ts, .mpg or .vob file are early by its delay. Give an
# offset when one stream of such a file is decoded.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --loglevel error @ffmpeg-installer/linux-x64@4.1.0
ffmpeg=$folder/node_modules/@ffmpeg-installer/linux-x64/ffmpeg
"$ffmpeg" -hide_banner -version | sed -n 1p

for container in mkv ts; do
  "$ffmpeg" -v error -f lavfi -i testsrc=size=64x64:rate=25:duration=4 -itsoffset 1.5 -f lavfi -i sine=frequency=440:duration=2 \
    -map 0:v -map 1:a -c:v mpeg2video -c:a aac "film.$container"
done

cat >start.mjs <<'EOF'
import {readFileSync} from 'node:fs'
const samples = readFileSync('sound.raw')
let at = 0
while (at < samples.length && Math.abs(samples.readInt16LE(at)) < 500) at += 2
console.log((at / 2 / 16_000).toFixed(2))
EOF

# Prints the time at which the sound begins, s.
start() {
  "$ffmpeg" -v error -y "$@" -map 0:a -af aresample=async=1:first_pts=0 -f s16le -ac 1 -ar 16000 sound.raw
  node start.mjs
}

seen="mkv $(start -i film.mkv), ts $(start -i film.ts), ts with an offset $(start -itsoffset 0.000001 -i film.ts)"
echo "Sound begins at: $seen"
if [ "$seen" = 'mkv 1.50, ts 0.02, ts with an offset 1.50' ]; then
  echo 'As described.'
else
  echo 'Not as described.'
  exit 1
fi
