import type {TextVocabulary} from '../constraints/text-vocabulary.js'
import type {WhisperVocabulary} from './vocabulary.js'

/** Reports which tokens a Whisper decoder can write. Suppressed and special tokens write nothing. */
export function whisperText(vocabulary: WhisperVocabulary): TextVocabulary {
  const {tokenizer, size, endOfText, firstTimestamp = size, lastTimestamp = -1} = vocabulary
  const special = new Set([endOfText, ...tokenizer.specials.flatMap((name) => tokenizer.id(name) ?? [])])
  const isRequired = (token: number) => special.has(token) || (token >= firstTimestamp && token <= lastTimestamp)
  const suppressed = new Set(vocabulary.suppressed)
  const isWritten = (token: number) => token < size && !isRequired(token) && !suppressed.has(token)
  return {
    size,
    isRequired,
    encode(text) {
      const tokens = tokenizer.encode(text, {special: false})
      return tokens.every(isWritten) && tokenizer.decode(tokens) === text ? tokens : undefined
    },
    // A byte above 127 is part of a character, nearly always of a letter.
    endsInWord: (token) => /[\p{L}\p{N}'\x80-\xff]$/u.test(tokenizer.bytes(token).toString('latin1')),
  }
}
