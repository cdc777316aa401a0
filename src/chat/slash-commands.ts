import {readFile} from 'node:fs/promises'
import {resolve} from 'node:path'
import {isObject, readDocument} from '../contracts/index.js'
import {counted, nearest, SvcError} from '../errors/index.js'
import type {ChatModel} from './chat-model.js'
import {type Conversation, cleared, systemOf, withSystemMessage} from './conversation.js'
import {declaredParameters, withParameter} from './parameters.js'
import {loadConversation, saveConversation} from './saved.js'

/** What a command changes and prints. */
export interface CommandOutcome {
  conversation: Conversation
  /** Lines for the user. */
  text: string
  isEnd?: boolean
}

interface SlashCommand {
  usage: string
  effect: string
  /** @param argument what follows the command, without white space around it */
  run(argument: string, conversation: Conversation, model: ChatModel): CommandOutcome | Promise<CommandOutcome>
}

const changed = (conversation: Conversation, text: string): CommandOutcome => ({conversation, text})

const bye: SlashCommand = {
  usage: '/bye',
  effect: 'Leave; also Ctrl-D, and Ctrl-C on an empty line.',
  run: (_, conversation) => ({conversation, text: '', isEnd: true}),
}

const help: SlashCommand = {
  usage: '/?',
  effect: 'Show these commands.',
  run: async (_, each) => changed(each, usages()),
}

/** The commands of a chat by name; those of two words before their first word. */
const commands: Readonly<Record<string, SlashCommand>> = {
  '/set system': {
    usage: '/set system TEXT',
    effect: 'Set the system message; without a text, remove it.',
    run: (text, conversation) =>
      changed(withSystemMessage(conversation, text), `System message ${text === '' ? 'removed' : 'set'}.`),
  },
  '/set parameter': {
    usage: '/set parameter KEY VALUE',
    effect: 'Set a parameter of the replies; without any, list them.',
    run: setParameter,
  },
  '/set think': {
    usage: '/set think on|off',
    effect: 'Let the model think before it replies, or not.',
    run(word, conversation) {
      if (word !== 'on' && word !== 'off') throw misused('/set think')
      return changed({...conversation, think: word === 'on'}, `Thinking is ${word}.`)
    },
  },
  '/set format': {
    usage: '/set format json|SCHEMA|none',
    effect: 'Let replies match a JSON Schema, a text or a file.',
    run: setFormat,
  },
  '/show': {usage: '/show', effect: 'Show the model and what has been set.', run: show},
  '/clear': {
    usage: '/clear',
    effect: 'Forget the messages, except for the system message.',
    run: (_, conversation) => changed(cleared(conversation), 'Messages cleared.'),
  },
  '/save': {
    usage: '/save NAME',
    effect: 'Save the conversation as a JSON file.',
    async run(name, conversation) {
      if (name === '') throw misused('/save')
      return changed(conversation, `Saved ${await saveConversation(name, conversation)}`)
    },
  },
  '/load': {usage: '/load NAME', effect: 'Continue a saved conversation.', run: load},
  '/bye': bye,
  '/exit': bye,
  '/?': help,
  '/help': help,
}

const usages = (): string => {
  const shown = [...new Set(Object.values(commands))]
  const width = Math.max(...shown.map(({usage}) => usage.length))
  const lines = shown.map(({usage, effect}) => `${usage.padEnd(width)}  ${effect}`)
  return [...lines, `${'"""'.padEnd(width)}  Begin and end a message of several lines.`].join('\n')
}

/** Whether a line is meant as a command: a word after a slash, and not a path. */
export const isSlashCommand = (line: string): boolean => /^\/(\?|[a-z]*)(\s|$)/i.test(line)

/** Runs a line that is a command. @throws chat_command_unknown, chat_command_misused; what the command throws */
export async function runSlashCommand(
  line: string,
  conversation: Conversation,
  model: ChatModel,
): Promise<CommandOutcome> {
  const words = line.trim().split(/\s+/)
  const name = [2, 1].map((count) => words.slice(0, count).join(' ').toLowerCase()).find((each) => each in commands)
  if (name === undefined) {
    const typed = words.slice(0, words[0] === '/set' ? 2 : 1).join(' ')
    throw new SvcError('chat_command_unknown', {command: typed, suggestion: nearest(typed, Object.keys(commands))})
  }
  const argument = line.trim().replace(new RegExp(`^(\\S+\\s*){${name.split(' ').length}}`), '')
  return (commands[name] as SlashCommand).run(argument, conversation, model)
}

const misused = (name: string) => new SvcError('chat_command_misused', {usage: commands[name]?.usage ?? name})

async function setParameter(argument: string, conversation: Conversation): Promise<CommandOutcome> {
  const declared = Object.entries(await declaredParameters())
  const width = Math.max(...declared.map(([name]) => name.length))
  const list = declared.map(([name, {description}]) => `${name.padEnd(width)}  ${description}`).join('\n')
  const [, name = '', value = ''] = /^(\S*)\s*(.*)$/s.exec(argument) ?? []
  if (name === '') return changed(conversation, list)
  const parameters = await withParameter(conversation.parameters, name, value)
  return changed({...conversation, parameters}, `Parameter ${name} set to ${value}.`)
}

async function setFormat(argument: string, conversation: Conversation): Promise<CommandOutcome> {
  if (argument === '') throw misused('/set format')
  const {format: _, ...others} = conversation
  if (argument === 'none') return changed(others, 'Replies are free.')
  const format = await readFormat(argument)
  return changed({...conversation, format}, `Replies are ${format === 'json' ? 'JSON' : 'valid for the schema'}.`)
}

/** `json`, a JSON Schema, or a file that has one. @throws file_not_found, document_unparsable, chat_command_misused */
export async function readFormat(argument: string): Promise<NonNullable<Conversation['format']>> {
  if (argument === 'json') return 'json'
  const isText = argument.startsWith('{')
  const source = isText
    ? argument
    : await readFile(resolve(argument), 'utf8').catch((error) => {
        throw SvcError.from(error)
      })
  const schema = await readDocument(source, isText ? 'the schema' : argument)
  if (!isObject(schema)) throw misused('/set format')
  return schema as Readonly<Record<string, unknown>>
}

function show(_: string, conversation: Conversation, model: ChatModel): CommandOutcome {
  const {parameters, format, think, messages} = conversation
  const set = Object.entries(parameters).map(([name, value]) => [name, JSON.stringify(value)] as const)
  const facts = [
    ['model', model.name] as const,
    ...model.facts,
    ['messages', String(messages.length)] as const,
    ...(systemOf(conversation) === undefined ? [] : [['system', systemOf(conversation) as string] as const]),
    ...(think === undefined ? [] : [['think', think ? 'on' : 'off'] as const]),
    ...(format === undefined ? [] : [['format', format === 'json' ? format : JSON.stringify(format)] as const]),
    ...set,
  ]
  const width = Math.max(...facts.map(([name]) => name.length))
  return changed(conversation, facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n'))
}

/** The loaded model stays; its name replaces that of the conversation. */
async function load(name: string, {model: current}: Conversation): Promise<CommandOutcome> {
  if (name === '') throw misused('/load')
  const loaded = await loadConversation(name)
  const note = loaded.model === current ? '' : ` It was saved with the model ${loaded.model}.`
  return changed({...loaded, model: current}, `Loaded ${name}, ${counted(loaded.messages.length, 'message')}.${note}`)
}
