import type {SpeechStatusV1} from '../contracts/index.js'
import type {SpeechPort} from '../operations/index.js'
import type {Voice} from '../voice/index.js'

export interface ClosableSpeechPort extends SpeechPort {
  close(): Promise<void>
}

/** The speech-to-text port of operations. The voice module, and with it speech, is loaded on first use. */
export function openSpeechPort({
  open,
  status,
}: {
  open(): Promise<Voice>
  status(): Promise<SpeechStatusV1>
}): ClosableSpeechPort {
  let voice: Promise<Voice> | undefined
  const opened = () => {
    voice ??= open()
    return voice
  }
  return {
    status,
    transcribe: async (request, hooks) => (await opened()).transcribe(request, hooks),
    listen: async (request, context) => (await opened()).listen(request, context),
    speechToCode: async (request, context) => (await opened()).speechToCode(request, context),
    async close() {
      await (await voice?.catch(() => undefined))?.close()
    },
  }
}
