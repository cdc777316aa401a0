import {resolve} from 'node:path'

/** A microphone is reported as muted when it delivers zeros only for this time, samples. */
const mutedAfter = 3 * 16_000

export interface LiveAudioOptions {
  /** Channel of a file or of standard input to use; undefined: the mean of all. */
  channel: number | undefined
  microphone: string | undefined
  signal: AbortSignal
  notice(text: string): void
}

/** Opens audio that may still be recorded: a file, `-` for standard input, or `mic`. @throws what `openAudio` throws */
export async function openLiveAudio(
  source: string,
  {channel, microphone, signal, notice}: LiveAudioOptions,
): Promise<AsyncIterable<Float32Array>> {
  const {openAudio, recordMicrophone} = await import('../audio/index.js')
  const onWarning = ({message}: {message: string}) => notice(`warning: ${message}`)
  const options = {sampleRate: 16_000, signal, live: true, onWarning}
  if (source === '-') return openAudio({name: 'standard input', stream: process.stdin}, {...options, channel})
  if (source !== 'mic') return openAudio({path: resolve(source)}, {...options, channel})
  const raw = {encoding: 's16le', sampleRate: 16_000, channels: 1} as const
  const stream = recordMicrophone(microphone, signal)
  return withMuteWarning(await openAudio({name: 'the microphone', stream, raw}, options), notice)
}

async function* withMuteWarning(audio: AsyncIterable<Float32Array>, notice: LiveAudioOptions['notice']) {
  let silence = 0
  for await (const piece of audio) {
    if (silence < mutedAfter) {
      silence = piece.every((sample) => sample === 0) ? silence + piece.length : Infinity
      if (silence >= mutedAfter && silence < Infinity)
        notice('warning: The microphone delivers only silence. Unmute it, or select another one with --microphone.')
    }
    yield piece
  }
}
