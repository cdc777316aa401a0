import {formatMoment} from '../config/index.js'
import {excerpt, oneLine} from '../errors/index.js'

/** Removes control characters except line breaks and tabs, so that a text cannot control the terminal. */
export const plain = (text: string): string => text.replaceAll(/(?![\n\t])\p{Cc}/gu, '').trimEnd()

/** Maximum length of an excerpt, characters. */
const maxExcerpt = 72

/** The beginning of a text, on one line. */
export const beginning = (text: string): string => excerpt(oneLine(text), maxExcerpt)

export const time = formatMoment

const units: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
]

/** A duration in the largest unit: `45s`, `12m`, `3h`, `9d`; `0s` if it is negative. */
export function durationText(ms: number): string {
  const [name, length] = units.find(([, unit]) => ms >= unit) ?? ['s', 1000]
  return `${Math.max(0, Math.floor(ms / length))}${name}`
}

/** The time since a moment: `45s`, `12m`, `3h`, `9d`. */
export const age = (ms: number, now = Date.now()): string => durationText(now - ms)

/** `2026-12-01 08:00:30`, UTC. */
export const dateTime = (ms: number): string => time(ms).replace(/^([+-]?\d+-\d\d-\d\d)T(\d\d:\d\d:\d\d).*$/, '$1 $2')

/** A duration in seconds: `90 s`. */
export const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`
