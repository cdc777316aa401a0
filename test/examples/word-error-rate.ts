import assert from 'node:assert/strict'
import {readdir, readFile, writeFile} from 'node:fs/promises'
import {dirname, join, resolve} from 'node:path'
import {sharedData} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'

/** A recording and its reference words. */
export interface Sample {
  path: string
  expected: string
}

/** The samples of a data set with absolute paths. */
export async function samplesOf(dataset: string): Promise<Sample[]> {
  const lines = (await readFile(dataset, 'utf8')).trim().split('\n')
  return lines.map((line) => {
    const {path, expected} = JSON.parse(line) as Sample
    return {path: resolve(dirname(dataset), path), expected}
  })
}

const digits = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']

/** Recordings of spoken digits with matching file names. */
export async function digitsOf(name: RegExp): Promise<Sample[]> {
  const folder = sharedData('fsdd') ?? ''
  const names = (await readdir(folder)).filter((each) => name.test(each)).sort()
  return names.map((each) => ({path: join(folder, each), expected: digits[Number(each[0])] ?? ''}))
}

/** Word errors of the starter model in a sample, and the number of reference words. */
export interface Heard {
  path: string
  word_errors: number
  words: number
}

/** An environment in which models use one thread, because several threads would spin and load the processors. */
export const onOneThread = (home: string): Record<string, string> => ({HOME: home, SVC_SPEECH_THREADS: '1'})

/** Transcribes samples with the starter model. */
export async function hear(samples: readonly Sample[], folder: string): Promise<Heard[]> {
  const dataset = join(folder, 'samples.jsonl')
  await writeFile(dataset, samples.map((sample) => JSON.stringify(sample)).join('\n'))
  const {stdout, stderr, exitCode} = await svcInTurn(['speech', 'eval', dataset, '--json'], {
    cwd: folder,
    env: onOneThread(folder),
  })
  assert.equal(exitCode, 0, stderr)
  const {samples: heard} = JSON.parse(stdout) as {samples: Heard[]}
  assert.deepEqual(
    heard.map(({path}) => path),
    samples.map(({path}) => path),
  )
  return heard
}

/** Word errors per reference word. */
export function wordErrorRate(heard: readonly Heard[]): number {
  const sum = (key: 'word_errors' | 'words') => heard.reduce((total, sample) => total + sample[key], 0)
  return sum('word_errors') / sum('words')
}
