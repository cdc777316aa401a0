import {basename, resolve} from 'node:path'
import {Flags} from '@oclif/core'
import {SvcError} from '../errors/index.js'
import {checkOutputs, isFolder, type OutputRule} from '../files/index.js'
import type {ListedRecording, TranscriptFormatName} from '../speech/index.js'

/** Where transcripts are written, and in which formats. */
export interface TranscriptDestination {
  formats: readonly TranscriptFormatName[]
  /** Output files per recording, one per format; empty if transcripts go to standard output. */
  files: ReadonlyMap<string, readonly string[]>
  rule: OutputRule
}

/** The formats of transcripts. */
export const transcriptFormatFlag = Flags.custom<TranscriptFormatName | 'all'>({
  char: 'f',
  description:
    'Output formats, separated by commas; all is every format, with verbose_json as .json. (default: text, or the format of the --output file)',
  options: ['text', 'txt', 'json', 'verbose_json', 'srt', 'vtt', 'lrc', 'tsv', 'csv', 'ndjson', 'all'],
  parse: async (name) => (name === 'txt' ? 'text' : name) as TranscriptFormatName | 'all',
})({multiple: true, multipleNonGreedy: true, delimiter: ','})

interface DestinationFlags {
  output?: string | undefined
  overwrite?: boolean | undefined
  resume?: boolean | undefined
  format?: readonly (TranscriptFormatName | 'all')[] | undefined
}

/** @throws output_exists, output_is_input, output_extension_unknown, usage */
export async function transcriptDestination(
  recordings: readonly ListedRecording[],
  {output, overwrite = false, resume = false, format}: DestinationFlags,
): Promise<TranscriptDestination> {
  const {createFormat, formatOfFile, hasForeignExtension, outputPaths, transcriptFormats} = await import(
    '../speech/index.js'
  )
  const rule = {overwrite, inputs: recordings.map(({path}) => path)}
  const every = transcriptFormats.filter((name) => name !== 'json')
  const requested = [...new Set(format?.flatMap((name) => (name === 'all' ? every : [name])))]
  if (output === undefined || output === '-')
    return {formats: requested.length > 0 ? requested : ['text'], files: new Map(), rule}
  const named = recordings.length === 1 && !(await isFolder(output)) ? formatOfFile(output) : undefined
  if (named === undefined && hasForeignExtension(output) && !(await isFolder(output))) {
    const extensions = [...new Set(transcriptFormats.map((name) => createFormat(name).extension))].join(', ')
    throw new SvcError('output_extension_unknown', {path: output, extensions})
  }
  const formats = requested.length > 0 ? requested : [named ?? 'text']
  const extensions = formats.map((name) => createFormat(name).extension)
  if (new Set(extensions).size < formats.length)
    throw new SvcError('usage', {reason: 'The files of --format json and verbose_json would have the same name.'})
  if (named !== undefined && !extensions.every((extension) => output.toLowerCase().endsWith(extension)))
    throw new SvcError('usage', {reason: `--format ${formats} does not match the extension of ${basename(output)}.`})
  const paths = extensions.map((extension) =>
    named === undefined
      ? outputPaths(recordings, resolve(output), extension)
      : new Map(recordings.map(({path}) => [path, resolve(output)])),
  )
  const unique = [...(paths[0]?.keys() ?? [])]
  const files = new Map(unique.map((recording) => [recording, paths.map((of) => of.get(recording) as string)]))
  // With --resume, existing files are complete, and are skipped.
  await checkOutputs([...files.values()].flat(), {...rule, overwrite: overwrite || resume})
  return {formats, files, rule}
}

/** Starts the text of each recording, as head and tail do for several files. */
export const transcriptTitles = (): ((recording: string) => string) => {
  let separator = ''
  return (recording: string) => {
    const title = `${separator}==> ${recording === '-' ? 'standard input' : recording} <==\n`
    separator = '\n'
    return title
  }
}
