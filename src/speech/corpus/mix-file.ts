import {readFile} from 'node:fs/promises'
import {assertContract, type CorpusMix, readDocument} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'

/** A mix with its defaults. */
export interface Mix {
  readonly sources: readonly MixSource[]
  readonly output: string
  readonly includeLanes: readonly string[]
  readonly excludeLanes: readonly string[]
}

export interface MixSource {
  /** Path as written in the mix file. */
  readonly path: string
  readonly weight: number
  readonly recordFormat: RecordFormat | undefined
  readonly isOptional: boolean
  /** Probability that a row is written, 0 to 1. */
  readonly sampleRate: number
}

export type RecordFormat = NonNullable<CorpusMix['sources'][number]['record_format']>

/**
 * Reads a mix file: YAML, or JSON if its name does not end in .yaml or .yml.
 * @throws file_not_found, file_unreadable, document_unparsable, contract_violation
 */
export async function readMix(file: string): Promise<Mix> {
  const source = await readFile(file, 'utf8').catch((error: unknown) => {
    throw SvcError.from(Object.assign(error as Error, {path: file}))
  })
  const document = await readDocument(source, file)
  await assertContract('speech/corpus-mix.v1', document, file)
  const {sources, output, include_lanes: includeLanes, exclude_lanes: excludeLanes} = document as CorpusMix
  return {
    sources: sources.map((row) => ({
      path: row.path,
      weight: row.weight ?? 1,
      recordFormat: row.record_format,
      isOptional: row.optional ?? false,
      sampleRate: row.sample_rate ?? 1,
    })),
    output,
    includeLanes: includeLanes ?? ['svc_codegen'],
    excludeLanes: excludeLanes ?? [],
  }
}
