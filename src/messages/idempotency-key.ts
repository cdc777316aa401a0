import type {Draft, MessageType} from './message.js'

/** Under which key a message is sent. */
export interface MessageKey {
  readonly text: string
  /** The sender chose it; else it is derived from the content. */
  readonly isGiven: boolean
}

/**
 * The key of a message: the one that its sender names, else its correlation id, else one that says the same of the same
 * content between the same two agents.
 */
export function messageKey(
  {sender, type, payload, correlationId}: Draft,
  receiver: number,
  given = correlationId,
): MessageKey {
  if (given !== undefined) return {text: given, isGiven: true}
  return {text: `mcp-a2a-${sender}-${receiver}-${fnv1a64(`${type}${payload}`)}`, isGiven: false}
}

/** FNV-1a of the UTF-8 bytes of a text, 64 bits, as 16 hexadecimal digits. */
export function fnv1a64(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text, 'utf8')) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}

/** What is known of the message that came first under a key. */
interface Earlier {
  readonly type: MessageType
  readonly payload: string
  readonly timestampMs: number
  readonly acknowledged: boolean
}

/** For how long a message is taken for a repetition because it says the same, ms. */
export const repetitionMs = 60_000

/**
 * What a message is beside an earlier one under the same key. Under a key that the sender chose it is the same one, or
 * at fault. Under a derived key it is a repetition while the earlier one is young and unread: a sender that lost the
 * answer tries again soon, and two agents may well say the same to each other twice.
 */
export function compareToEarlier(
  {isGiven}: MessageKey,
  {type, payload}: Pick<Draft, 'type' | 'payload'>,
  earlier: Earlier,
  nowMs: number,
): 'repeated' | 'conflicting' | 'new' {
  const isSame = earlier.type === type && earlier.payload === payload
  if (isGiven) return isSame ? 'repeated' : 'conflicting'
  const isRecent = Math.abs(nowMs - earlier.timestampMs) < repetitionMs
  return isSame && isRecent && !earlier.acknowledged ? 'repeated' : 'new'
}
