import {Flags} from '@oclif/core'
import {SvcError} from '../errors/index.js'
import type {ReplyFormat} from '../llm/index.js'
import {readInput} from './input.js'

const names = ['schema', 'regex', 'choice', 'grammar'] as const
const others = (name: (typeof names)[number]) => names.filter((each) => each !== name)

/** Flags that state what a reply must match. */
export const formatFlags = {
  schema: Flags.string({
    description: 'JSON Schema that the text is valid for; - reads standard input.',
    helpValue: 'FILE',
    exclusive: others('schema'),
  }),
  regex: Flags.string({
    description: 'Regular expression that matches the whole text.',
    helpValue: 'RE',
    exclusive: others('regex'),
  }),
  choice: Flags.string({
    description: 'Texts to choose from, separated by commas.',
    helpValue: 'A,B',
    delimiter: ',',
    multiple: true,
    multipleNonGreedy: true,
    exclusive: others('choice'),
  }),
  grammar: Flags.string({
    description: 'Grammar of the text, in GBNF or Lark; - reads standard input.',
    helpValue: 'FILE',
    exclusive: others('grammar'),
  }),
}

interface FormatFlags {
  schema?: string | undefined
  regex?: string | undefined
  choice?: readonly string[] | undefined
  grammar?: string | undefined
}

/** The format that flags state. @throws document_unparsable; what `readInput` throws */
export async function readReplyFormat(
  {schema, regex, choice, grammar}: FormatFlags,
  signal: AbortSignal,
): Promise<ReplyFormat | undefined> {
  if (schema !== undefined) return {kind: 'schema', schema: await readJson(schema, signal)}
  if (regex !== undefined) return {kind: 'regex', pattern: regex}
  if (choice !== undefined) return {kind: 'choice', choices: choice}
  if (grammar !== undefined) return {kind: 'grammar', grammar: (await readInput(grammar, signal)).toString()}
  return undefined
}

async function readJson(path: string, signal: AbortSignal): Promise<unknown> {
  const text = (await readInput(path, signal)).toString()
  try {
    return JSON.parse(text)
  } catch (error) {
    const subject = path === '-' ? 'standard input' : path
    throw new SvcError('document_unparsable', {subject, reason: (error as Error).message}, {cause: error})
  }
}
