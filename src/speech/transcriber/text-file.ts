import {readFile, stat} from 'node:fs/promises'
import {extname} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {readLanguageHint} from '../text/language-hint.js'
import {languageCodes} from '../text/languages.js'
import {finish, holdsSegments, shown} from './finish.js'
import type {TranscribedFile, TranscribeHandlers, TranscriberOptions} from './options.js'

/** Values of a text file for the fields of a recognised segment. */
const spoken = {
  startSec: 0,
  endSec: 0,
  tokens: [],
  temperature: 0,
  avgLogprob: 0,
  compressionRatio: 1,
  noSpeechProb: 0,
}

/** True for a transcript, which is only cleaned up. */
export const isTextFile = (path: string) => ['.txt', '.md'].includes(extname(path).toLowerCase())

/** Refines the text of a transcript file. */
export async function refineTextFile(
  path: string,
  options: TranscriberOptions,
  {onReady, onSegment, language: requested}: TranscribeHandlers,
): Promise<TranscribedFile> {
  const {task} = options.decoding
  const hint = readLanguageHint(requested ?? options.decoding.language, languageCodes)
  const {language = ''} = hint
  onReady?.()
  const text = await readTranscript(path)
  const segment = {...spoken, text}
  if (!holdsSegments(options)) await onSegment?.(shown(segment, options))
  const heard = {task, language, languageProbability: 0, durationSec: 0, text, segments: [segment], alternatives: []}
  return {
    ...(await finish(heard, options, onSegment)),
    asrConfidence: undefined,
    languageDiagnostics: hint.diagnostics.raw === null ? undefined : hint.diagnostics,
    recording: undefined,
  }
}

/** Maximum size of a text file, bytes. */
const maxTextBytes = 16 << 20

async function readTranscript(path: string): Promise<string> {
  try {
    const {size} = await stat(path)
    if (size > maxTextBytes) throw new SvcError('file_unreadable', {path, reason: 'it is too long for a transcript'})
    return await readFile(path, 'utf8')
  } catch (error) {
    throw SvcError.from(error)
  }
}
