import {metricsText} from '../net/index.js'
import type {SpeechService} from '../speech/index.js'

/** Counters of the speech server. */
export class SpeechMetrics {
  readonly #requests = new Map<number, number>()
  #finals = 0
  #audioSec = 0

  answered(status: number): void {
    this.#requests.set(status, (this.#requests.get(status) ?? 0) + 1)
  }

  /** @param seconds duration of the recording or utterance */
  transcribed(seconds: number): void {
    this.#finals++
    this.#audioSec += seconds
  }

  /** @param sessions number of live sessions with a client */
  render(service: SpeechService, sessions: number): string {
    return metricsText([
      [
        'svc_speech_http_requests_total',
        'counter',
        'HTTP requests answered, by status.',
        [...this.#requests].map(([status, count]) => [`{status="${status}"}`, count] as const),
      ],
      ['svc_speech_sessions', 'gauge', 'Number of open live sessions.', [['', sessions]]],
      [
        'svc_speech_requests_pending',
        'gauge',
        'Number of running and waiting requests and final results.',
        [['', service.queue.pending]],
      ],
      ['svc_speech_transcripts_total', 'counter', 'Recordings and utterances transcribed.', [['', this.#finals]]],
      ['svc_speech_audio_seconds_total', 'counter', 'Seconds of audio transcribed.', [['', this.#audioSec]]],
      [
        'svc_speech_model_loaded',
        'gauge',
        'Whether the model is loaded (1) or not (0).',
        [['', service.isLoaded ? 1 : 0]],
      ],
    ])
  }
}
