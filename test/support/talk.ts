import {projectFile} from './project.js'
import {joined, readClip} from './sounds.js'

const rate = 16_000

/** Phrases of the examples with pauses between them, repeated up to a length. */
export async function talkOf(seconds: number): Promise<Float32Array> {
  const pause = new Float32Array(0.6 * rate)
  const clips = ['hello', 'memo', 'question', 'digits'].map((name) => readClip(projectFile(`examples/${name}.wav`)))
  const phrases = joined((await Promise.all(clips)).flatMap((one) => [one, pause]))
  const talk = new Float32Array(seconds * rate)
  for (let at = 0; at < talk.length; at += phrases.length) talk.set(phrases.subarray(0, talk.length - at), at)
  return talk
}
