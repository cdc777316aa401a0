import {GrowingOutput} from '../files/index.js'
import type {FinishedUtterance, TranscriptFormat} from '../speech/index.js'

/** A transcript file that grows by complete utterances. */
export class UtteranceFile {
  readonly #output: GrowingOutput
  readonly #format: TranscriptFormat
  #isEmpty = true

  private constructor(output: GrowingOutput, format: TranscriptFormat) {
    this.#output = output
    this.#format = format
  }

  static async open(path: string, overwrite: boolean, format: TranscriptFormat): Promise<UtteranceFile> {
    return new UtteranceFile(await GrowingOutput.open(path, overwrite), format)
  }

  async write({event, file}: FinishedUtterance): Promise<void> {
    const startSec = event.start_ms / 1000
    const endSec = (event.end_ms - event.start_ms) / 1000
    const unknown = {tokens: [], temperature: 0, avgLogprob: 0, compressionRatio: 0, noSpeechProb: 0}
    const whole = {text: event.text, startSec: 0, endSec, ...unknown}
    const text = (file?.transcript.segments ?? [whole])
      .map((segment) =>
        this.#format.segment({
          ...segment,
          startSec: segment.startSec + startSec,
          endSec: segment.endSec + startSec,
        }),
      )
      .join('')
    if (text === '') return
    const header = this.#isEmpty ? this.#format.header() : ''
    this.#isEmpty = false
    await this.#output.write(header + text)
  }

  /** Completes the file if nothing was said. */
  async finish(): Promise<void> {
    if (this.#isEmpty) await this.#output.write(this.#format.header() + this.#format.footer(silence))
  }

  close(): Promise<void> {
    return this.#output.close()
  }
}

/** The transcript of a session without speech. */
const silence = {
  task: 'transcribe',
  language: '',
  languageProbability: 0,
  durationSec: 0,
  text: '',
  segments: [],
  alternatives: [],
} as const
