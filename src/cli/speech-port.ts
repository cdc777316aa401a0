import type {SpeechStatusV1} from '../contracts/index.js'
import type {SpeechPort} from '../operations/index.js'
import type {SpeechService} from '../speech/index.js'

export interface ClosableSpeechPort extends SpeechPort {
  close(): Promise<void>
}

/** The speech-to-text port of operations. The service, and with it the speech module, is loaded on first use. */
export function openSpeechPort({
  open,
  status,
}: {
  open(): Promise<SpeechService>
  status(): Promise<SpeechStatusV1>
}): ClosableSpeechPort {
  let service: Promise<SpeechService> | undefined
  const opened = () => {
    service ??= open()
    return service
  }
  return {
    status,
    transcribe: async (request, hooks) => (await opened()).transcribe(request, hooks),
    listen: async (request, hooks, ports) => (await opened()).listen(request, hooks, ports),
    async close() {
      await (await service?.catch(() => undefined))?.close()
    },
  }
}
