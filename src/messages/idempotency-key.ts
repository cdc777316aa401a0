import type {Draft, MessageType} from './message.js'

/** The idempotency key of a message. */
export interface MessageKey {
  readonly text: string
  /** The sender chose the key; otherwise it is derived from the content. */
  readonly isGiven: boolean
}

/**
 * The key of a message: the sender's key, or else its correlation id, or else a hash of the content and the two agents.
 */
export function messageKey(
  {sender, type, payload, correlationId}: Draft,
  receiver: number,
  chosen = correlationId,
): MessageKey {
  if (chosen !== undefined) return {text: chosen, isGiven: true}
  return {text: `mcp-a2a-${sender}-${receiver}-${fnv1a64(`${type}${payload}`)}`, isGiven: false}
}

/** FNV-1a of the UTF-8 bytes of a text, 64 bits, as 16 hexadecimal digits. */
export function fnv1a64(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text, 'utf8')) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}

/** The earlier message with the same key. */
interface Earlier {
  readonly type: MessageType
  readonly payload: string
  readonly timestampMs: number
  readonly acknowledged: boolean
}

/** How long a message with the same content counts as a repetition, ms. */
export const repetitionMs = 60_000

/**
 * Compares a message with an earlier one that has the same key. With a key chosen by the sender, it is the same message
 * or a conflict. With a derived key, it is a repetition only while the earlier one is recent and unread. A sender that
 * lost the reply retries soon, but two agents may legitimately send each other the same text twice.
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
