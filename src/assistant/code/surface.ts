import type {Program} from '../../lang/index.js'
import {fencedBlocks} from '../fences.js'
import {strayLine} from './stray-line.js'

/**
 * The form of a model's answer: `raw_code_only` is only the program; `fenced_transport` has it in the single fenced
 * block of the answer, with any text around it.
 */
export const surfaceModes = ['raw_code_only', 'fenced_transport'] as const
export type SurfaceMode = (typeof surfaceModes)[number]

/** Why an answer does not have the requested form. */
export interface SurfaceFault {
  /** A clause without text of the answer, because it is included in errors and logs. */
  reason: string
  /** The line in question, for the model only. */
  quoted?: string
}

/** The parsed program of an answer; its source ends with a single line end. */
export type Surface = {program: Program} | SurfaceFault

/**
 * Extracts the program from an answer. Text outside all declarations that is not code makes the answer invalid.
 * @param isChecked errors of the program are reported elsewhere; otherwise everything outside of declarations must be
 *   code without errors
 */
export async function readSurface(answer: string, mode: SurfaceMode, isChecked = true): Promise<Surface> {
  const text = answer.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const found = mode === 'raw_code_only' ? readRaw(text) : readFenced(text)
  if ('reason' in found) return found
  if (found.code.trim() === '') return {reason: 'the program is empty'}
  const source = `${found.code.replace(/^\n+/, '').trimEnd()}\n`
  const {checkProgram} = await import('../../lang/index.js')
  const program = checkProgram(source)
  const stray = strayLine(source, program.diagnostics, isChecked)
  if (stray === undefined) return {program}
  return {reason: `line ${stray.number} is not part of a program`, quoted: stray.text}
}

const readRaw = (code: string): {code: string} | SurfaceFault =>
  fencedBlocks(code).length > 0 ? {reason: 'the answer has a code fence'} : {code}

function readFenced(text: string): {code: string} | SurfaceFault {
  const [block, ...more] = fencedBlocks(text)
  if (block === undefined) return {reason: 'the answer has no fenced block'}
  if (more.length > 0) return {reason: `the answer has ${more.length + 1} fenced blocks`}
  return block.isClosed ? {code: block.content} : {reason: 'the fenced block is not closed'}
}
