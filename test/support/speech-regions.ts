import assert from 'node:assert/strict'
import {readdirSync} from 'node:fs'
import {join} from 'node:path'
import {type EnergyVadOptions, energyVad, type SpeechRegion} from '../../src/audio/index.js'
import {sharedData} from './project.js'
import {readClip} from './sounds.js'

/** Regions that the energy detector finds in a sound passed in chunks. */
export async function regionsOf(
  sound: Float32Array,
  options: EnergyVadOptions = {},
  piece = 16_000,
): Promise<SpeechRegion[]> {
  const vad = energyVad(options)
  const regions: SpeechRegion[] = []
  for (let at = 0; at < sound.length; at += piece) regions.push(...(await vad.push(sound.subarray(at, at + piece))))
  return [...regions, ...(await vad.flush())]
}

/**
 * Asserts that the detector finds one region in every n-th of the 3,000 spoken digits: 50 recordings of each digit by
 * each of six speakers.
 */
export async function assertHearsDigits(every: number): Promise<void> {
  const folder = sharedData('fsdd') ?? ''
  const names = readdirSync(folder).filter((name) => name.endsWith('.wav'))
  for (const name of names.sort().filter((_, i) => i % every === 0)) {
    const regions = await regionsOf(await readClip(join(folder, name)))
    assert.equal(regions.length, 1, name)
  }
}
