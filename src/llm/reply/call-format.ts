import type {GrammarPart, Steps} from '../../grammar/index.js'
import type {Tool} from '../tools.js'
import type {Input, Reader} from './input.js'

/** Receives the arguments of a call, as parts of a JSON text. */
export type EmitArguments = (json: string) => void

/** How arguments are written. */
export interface ArgumentsNotation {
  /** What arguments begin with, where nothing else separates them from the name of the tool. */
  readonly begin?: string
  /** Tags within the arguments, and the same notation with marks in place of the names of special tokens. */
  readonly tags?: readonly string[]
  marked?(withMarks: (tag: string) => string): ArgumentsNotation
  write(values: Readonly<Record<string, unknown>>): string
  /**
   * The grammar of valid arguments.
   * @param name unique among the parts of the grammar
   * @throws what `schemaGrammar` throws
   */
  grammar(tool: Tool, name: string): Steps<ArgumentsGrammar>
  /** @param texts names of the arguments that are written as plain text */
  read(input: Input, texts: ReadonlySet<string>, emit: EmitArguments): Reader<boolean>
}

/** Names of the arguments of each tool that are written as plain text. */
export type ArgumentTexts = Readonly<Record<string, readonly string[]>>

export interface ArgumentsGrammar extends GrammarPart {
  /** Names of the arguments that are written as plain text. */
  readonly texts?: readonly string[]
}

/** How a family of models writes calls of tools. Special tokens are written by their names. */
export interface CallFormat {
  readonly name: string
  /** What precedes the first call. */
  readonly open: string
  /** The beginning of `open`, and of `prefix` if it is longer, which distinguishes a call from text. */
  readonly trigger: string
  /** Whether a call must be at the start of a reply. */
  readonly isFirst?: boolean
  /** What precedes and follows the name of a tool, and follows the arguments. Empty if the beginning of arguments ends a name. */
  readonly prefix: string
  readonly nameEnd: string
  readonly suffix: string
  /** What separates calls; undefined if a reply has only one. */
  readonly between: string | undefined
  /** What follows the last call. */
  readonly close: string
  readonly notation: ArgumentsNotation
  /** Text that a template writes for a call of a tool, without white space; default: the beginning of a call. */
  rendered?(tool: string): string
}

export interface Call {
  name: string
  arguments: Readonly<Record<string, unknown>>
}

/** Writes calls as the model does. */
export function writeCalls(format: CallFormat, calls: readonly Call[]): string {
  const {open, prefix, nameEnd, suffix, between = '', close, notation} = format
  const each = calls.map(({name, arguments: values}) => prefix + name + nameEnd + notation.write(values) + suffix)
  return open + each.join(between) + close
}

/** A format whose tags have marks in place of the names of special tokens. */
export function markedFormat(format: CallFormat, withMarks: (tag: string) => string): CallFormat {
  const {open, trigger, prefix, nameEnd, suffix, between, close, notation} = format
  return {
    ...format,
    notation: notation.marked?.(withMarks) ?? notation,
    open: withMarks(open),
    trigger: withMarks(trigger),
    prefix: withMarks(prefix),
    nameEnd: withMarks(nameEnd),
    suffix: withMarks(suffix),
    between: between === undefined ? undefined : withMarks(between),
    close: withMarks(close),
  }
}
