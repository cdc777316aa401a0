import type {Program} from '../../lang/index.js'
import {fencedBlocks} from '../fences.js'
import {strayLine} from './stray-line.js'

/**
 * In which form a model gives a program: `raw_code_only` is the program and nothing else, `fenced_transport` has it in
 * the one fenced block of the answer, whatever is said around that.
 */
export const surfaceModes = ['raw_code_only', 'fenced_transport'] as const
export type SurfaceMode = (typeof surfaceModes)[number]

/** Why an answer does not have the form that was asked for. */
export interface SurfaceFault {
  /** A clause without a word of the answer: it gets into errors, and so into logs. */
  reason: string
  /** The line that it is about, for the model alone. */
  quoted?: string
}

/** The program of an answer as the language reads it; its source ends with one line end. */
export type Surface = {program: Program} | SurfaceFault

/**
 * Takes the program out of an answer. What stands outside of all declarations and is no code is no part of a program.
 * @param isChecked whether somebody tells the errors of the program; where nobody does, what stands outside of all
 *   declarations must be code without errors
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
  return {reason: `line ${stray.number} is no part of a program`, quoted: stray.text}
}

const readRaw = (code: string): {code: string} | SurfaceFault =>
  fencedBlocks(code).length > 0 ? {reason: 'the answer has a code fence'} : {code}

function readFenced(text: string): {code: string} | SurfaceFault {
  const [block, ...more] = fencedBlocks(text)
  if (block === undefined) return {reason: 'the answer has no fenced block'}
  if (more.length > 0) return {reason: `the answer has ${more.length + 1} fenced blocks`}
  return block.isClosed ? {code: block.content} : {reason: 'the fenced block has no end'}
}
