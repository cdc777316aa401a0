import {mkdtemp, open, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {round} from '../../src/bench/measure.js'
import {randomFloats} from '../support/random-floats.js'
import {svcBinary} from '../support/svc.js'
import {monoWave} from '../support/wave-file.js'
import {writeWhisperFolder} from '../support/whisper-files.js'
import {microShape, randomWhisper} from '../support/whisper-weights.js'
import {peakRss} from './whisper.js'

/** Ratio of peak memory for a recording of three hours to one of a minute, which shows whether audio is streamed. */
export async function longRecording() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  try {
    await writeWhisperFolder(join(folder, 'model'), microShape, randomWhisper(microShape, 3))
    const measure = async (minutes: number) => {
      const path = join(folder, `${minutes}.wav`)
      await writeBabble(path, minutes)
      const started = performance.now()
      const rss = await peakRss(process.execPath, [svcBinary, 'transcribe', path, '--model', join(folder, 'model')])
      await rm(path)
      return {peak_rss_mb: rss, seconds: round((performance.now() - started) / 1000)}
    }
    const [minute, hours] = [await measure(1), await measure(180)]
    return {minute, three_hours: hours, ratio: round(hours.peak_rss_mb / minute.peak_rss_mb, 2)}
  } finally {
    await rm(folder, {recursive: true})
  }
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
