import type {TranscribeHandlers, transcribeWithin} from '../speech/index.js'
import {OutputTurn} from './output-turn.js'

/** The result of a recording. */
export type Transcription = Awaited<ReturnType<typeof transcribeWithin>>

/** A recording whose transcription can begin before the output of earlier ones has ended. */
export class TranscriptionJob {
  readonly turn = new OutputTurn()
  /** What shows its progress and prints its segments when its turn has come. */
  handlers: Pick<TranscribeHandlers, 'onStart' | 'onProgress' | 'onSegment'> = {}
  /** Outputs that exist and are kept, once that was checked. */
  kept: ReadonlySet<string> | undefined
  #result: Promise<Transcription> | undefined

  /** @param paths output files, one per format */
  constructor(
    readonly recording: string,
    readonly paths: readonly string[],
  ) {}

  /** The transcription, if it has begun. */
  get result(): Promise<Transcription> | undefined {
    return this.#result
  }

  /** Begins on the first call. */
  begin(transcribe: (job: TranscriptionJob) => Promise<Transcription>): Promise<Transcription> {
    if (this.#result === undefined) {
      this.#result = transcribe(this)
      // A failure is reported when the turn of the recording comes.
      this.#result.catch(() => undefined)
    }
    return this.#result
  }
}
