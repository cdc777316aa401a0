import {execFile} from 'node:child_process'
import {mkdtemp, open, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {round} from '../../src/bench/measure.js'
import {randomFloats} from '../support/random-floats.js'
import {monoWave} from '../support/wave-file.js'

const program = fileURLToPath(new URL('long-recording-run.js', import.meta.url))

/** Minutes of the recordings. */
const durations = {ten_minutes: 10, hour: 60, ten_hours: 600}

/**
 * Memory of a transcription with a scripted model for recordings of ten minutes to ten hours. The ratio of the longest
 * to the shortest shows whether the pipeline streams. The heap has the transcript and no garbage.
 */
export async function longRecording() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    const results: Record<string, Record<keyof typeof durations, Memory>> = {}
    for (const [name, minutes] of Object.entries(durations)) {
      const path = join(folder, 'recording.wav')
      await writeBabble(path, minutes)
      for (const mode of ['text', 'all']) {
        const args = ['--expose-gc', program, path, join(folder, 'out.json'), mode]
        const started = performance.now()
        const memory = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout)
        const seconds = round((performance.now() - started) / 1000)
        results[mode] = {...results[mode], [name]: {...memory, seconds}} as Record<keyof typeof durations, Memory>
      }
    }
    return Object.fromEntries(
      Object.entries(results).map(([mode, memory]) => {
        const ratio = memory.ten_hours.peak_rss_mb / memory.ten_minutes.peak_rss_mb
        return [mode, {...memory, ratio: round(ratio, 2)}]
      }),
    )
  } finally {
    await rm(folder, {recursive: true})
  }
}

interface Memory {
  peak_rss_mb: number
  heap_mb: number
  windows: number
  seconds: number
}

/** Noise with syllables and pauses, which the voice activity detector classifies as speech. */
async function writeBabble(path: string, minutes: number): Promise<void> {
  const noise = randomFloats(1)(60 * 16_000)
  const syllable = (i: number) => (i % 32_000 < 24_000 ? Math.max(0, Math.sin((2 * Math.PI * i) / 4000)) ** 2 : 0)
  const minute = noise.map((x, i) => 0.1 * x * syllable(i))
  const file = await open(path, 'w')
  const bytes = monoWave(minute, {dataBytes: minutes * 60 * 32_000})
  await file.write(bytes)
  for (let i = 1; i < minutes; i++) await file.write(bytes.subarray(44))
  await file.close()
}
