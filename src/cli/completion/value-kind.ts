/** What the value of an argument or flag names. `text` cannot be completed. */
export type ValueKind =
  | 'text'
  | 'file'
  | 'directory'
  | 'audio'
  | 'program'
  | 'workflow-file'
  | 'records'
  | 'database'
  | 'model'
  | 'speech-model'
  | 'task'
  | 'task-status'
  | 'agent'
  | 'plan'
  | 'question'
  | 'session'
  | 'operation'
  | 'message'
  | 'run'
  | 'signal'
  | 'node'
  | 'error-code'
  | 'contract'
  | 'daemon-method'
  | 'tool'
  | 'benchmark'
  | 'table'

/** A value on the command line: of an argument, or of a flag with its placeholder. */
export interface ValuePlace {
  /** Words of the command. */
  readonly command: string
  /** Name of the argument or flag. */
  readonly name: string
  /** Placeholder of a flag; undefined for arguments. */
  readonly placeholder?: string | undefined
}

/** Values of single commands, by command and name. */
const ofCommands: Readonly<Record<string, ValueKind>> = {
  'listen source': 'audio',
  'transcribe recording': 'audio',
  'speech probe recording': 'audio',
  'speech subtitle recording': 'audio',
  'speech eval dataset': 'directory',
  'speech pull id': 'speech-model',
  'pull name': 'speech-model',
  'merge run': 'directory',
  'model import file': 'file',
  'adapter import source': 'directory',
  'adapter add path': 'directory',
  'serve models': 'directory',
  'bench run name': 'benchmark',
  'bench syntax-k file': 'file',
  'contracts validate contract': 'contract',
  'contracts validate document': 'file',
  'daemon call method': 'daemon-method',
  'mcp call name': 'tool',
  'explain code': 'error-code',
  'db backup file': 'database',
  'db restore file': 'database',
  'db export table': 'table',
  'db sample table': 'table',
  'db import records': 'records',
  'db seed records': 'records',
  'mesh import file': 'file',
  'speech corpus mix file': 'file',
  'orch journey id': 'text',
  'orch events since': 'text',
  'orch tasks before': 'task',
  'orch submit after': 'task',
  'orch submit agent': 'agent',
  'orch submit model': 'text',
  'orch claim agent': 'agent',
  'orch questions answer id': 'question',
  'orch questions after-id': 'question',
  'orch plan list before-session-id': 'plan',
  'orch session compact id': 'session',
  'orch session reset id': 'session',
  'orch session show id': 'session',
  'orch agent spawn name': 'text',
  'orch agent spawn model': 'text',
  'orch agent spawn parent': 'agent',
  'orch undo op': 'operation',
  'orch redo op': 'operation',
  'a2a ack id': 'message',
  'a2a history agent': 'agent',
  'workflow signal key': 'signal',
  'workflow run name': 'text',
  'workflow run run-id': 'text',
}

/** Values of all commands of a topic, by topic and name, and of all commands, by name. */
const ofTopics: Readonly<Record<string, ValueKind>> = {
  'a2a from': 'agent',
  'a2a to': 'agent',
  'a2a agent': 'agent',
  'db file': 'program',
  'db files': 'program',
  'orch id': 'task',
  'orch agent': 'agent',
  'orch plan': 'plan',
  'workflow file': 'workflow-file',
  'workflow run': 'run',
  'mesh node': 'node',
  'session-id': 'session',
  session: 'session',
  'task-id': 'task',
  task: 'task',
  agent: 'agent',
  model: 'model',
  'speech-model': 'speech-model',
  program: 'program',
  db: 'database',
}

/** Speech commands, whose --model is a speech model. */
const ofSpeech = /^(transcribe|listen|speech .*)$/

/** Flags by their placeholders. */
const ofPlaceholders: Readonly<Record<string, ValueKind>> = {
  DIR: 'directory',
  FILE: 'file',
  PATH: 'file',
  'FILE|none': 'file',
  'PATH[:read|write]': 'file',
  'PATH[:WEIGHT]': 'file',
  STATUS: 'task-status',
}

/** What a value names: the most specific rule decides. */
export function valueKind({command, name, placeholder}: ValuePlace): ValueKind {
  const [topic = ''] = command.split(' ')
  if (name === 'model' && ofSpeech.test(command)) return 'speech-model'
  return (
    ofCommands[`${command} ${name}`] ??
    ofTopics[`${topic} ${name}`] ??
    ofTopics[name] ??
    (placeholder === undefined ? undefined : ofPlaceholders[placeholder]) ??
    'text'
  )
}

/** The keys of all rules, for a test that each one still applies. */
export const valueRules = {ofCommands, ofTopics, ofPlaceholders}
