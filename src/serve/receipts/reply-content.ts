import {isJsonObject} from '../body.js'

/** What a model wrote in one choice of a reply, without times and ids. */
export interface ReplyContent {
  text: string
  thinking: string
  /** Calls of tools, as JSON. */
  calls: {name: string; arguments: string}[]
  /** Why it ended. */
  finish: string
}

type Json = Readonly<Record<string, unknown>>

/** The routes whose replies have receipts, with a field of their replies that the others lack. */
const routes: readonly [route: string, is: (reply: Json) => boolean][] = [
  ['/v1/chat/completions', ({object}) => /^chat\.completion(\.chunk)?$/.test(String(object))],
  ['/v1/completions', ({object}) => object === 'text_completion'],
  ['/api/chat', ({message}) => isJsonObject(message)],
  ['/api/generate', ({response}) => typeof response === 'string'],
]

/** A reply as a client received it: one object, or a stream as a text or as a list of its objects. */
export class ReceivedReply {
  /** The route that it came from. */
  readonly route: string
  readonly #parts: readonly Json[]

  private constructor(route: string, parts: readonly Json[]) {
    this.route = route
    this.#parts = parts
  }

  /** Undefined if it is not from a route with receipts. */
  static of(value: unknown): ReceivedReply | undefined {
    const parts = (typeof value === 'string' ? partsOf(value) : [value].flat()).filter(isJsonObject) as Json[]
    const route = routes.find(([, is]) => parts[0] !== undefined && is(parts[0]))?.[0]
    return route === undefined ? undefined : new ReceivedReply(route, parts)
  }

  /** The choices, in their order. */
  get choices(): readonly ReplyContent[] {
    const choices: ReplyContent[] = []
    for (const part of this.#parts)
      for (const [i, piece] of piecesOf(part).entries()) {
        const index = typeof piece.index === 'number' ? piece.index : i
        choices[index] ??= {text: '', thinking: '', calls: [], finish: ''}
        add(choices[index], piece)
      }
    return choices
  }
}

/** The objects of a stream: lines of JSON, or server-sent events. @returns nothing for another text */
function partsOf(stream: string): unknown[] {
  try {
    return stream
      .split('\n')
      .map((line) => line.replace(/^data: ?/, '').trim())
      .filter((line) => line !== '' && line !== '[DONE]' && !line.startsWith(':'))
      .map((line) => JSON.parse(line))
  } catch {
    return []
  }
}

const piecesOf = (part: Json): Json[] =>
  (Array.isArray(part.choices) ? part.choices.filter(isJsonObject) : [part]) as Json[]

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Adds what a choice or a part of it has; the APIs differ only in names. */
function add(content: ReplyContent, piece: Json): void {
  const message = [piece.message, piece.delta, piece].find(isJsonObject) as Json
  content.text += text(message.content) + text(piece.response) + text(piece.text)
  content.thinking += text(message.thinking) + text(message.reasoning_content)
  for (const call of [message.tool_calls ?? []].flat().filter(isJsonObject) as Json[]) addCall(content, call)
  content.finish = text(piece.finish_reason) || text(piece.done_reason) || content.finish
}

/** A call, or a part of the last one. */
function addCall({calls}: ReplyContent, call: Json): void {
  const {name, arguments: given} = (isJsonObject(call.function) ? call.function : {}) as Json
  const written = typeof given === 'string' ? given : given === undefined ? '' : JSON.stringify(given)
  if (text(name) !== '') calls.push({name: text(name), arguments: written})
  else calls.at(-1)!.arguments += written
}
