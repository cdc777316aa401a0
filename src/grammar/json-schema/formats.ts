import type {Pattern} from '../grammar.js'
import {both} from '../pattern/build.js'
import {wholePattern} from '../pattern/ecma.js'

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = `${octet}(?:\\.${octet}){3}`
const hex16 = '[0-9a-fA-F]{1,4}'
const tail32 = `(?:${hex16}:${hex16}|${ipv4})`
/** RFC 4291 2.2, by the number of groups after `::`. */
const ipv6 = [
  `(?:${hex16}:){6}${tail32}`,
  `::(?:${hex16}:){5}${tail32}`,
  `(?:${hex16})?::(?:${hex16}:){4}${tail32}`,
  `(?:(?:${hex16}:){0,1}${hex16})?::(?:${hex16}:){3}${tail32}`,
  `(?:(?:${hex16}:){0,2}${hex16})?::(?:${hex16}:){2}${tail32}`,
  `(?:(?:${hex16}:){0,3}${hex16})?::${hex16}:${tail32}`,
  `(?:(?:${hex16}:){0,4}${hex16})?::${tail32}`,
  `(?:(?:${hex16}:){0,5}${hex16})?::${hex16}`,
  `(?:(?:${hex16}:){0,6}${hex16})?::`,
].join('|')

const leapYear = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
/** RFC 3339, with the days of each month; 29 February in leap years only. */
const date = `(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|${leapYear}-02-29)`
const offset = '(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)'
/** Leap seconds are those of UTC, at 23:59:60; elsewhere, they would depend on the offset. */
const time = `(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?${offset}|23:59:60(?:\\.\\d+)?(?:[Zz]|[+-]00:00))`
const timeDuration = 'T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)'
const dateDuration = '(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)'
const duration = `P(?:${dateDuration}(?:${timeDuration})?|${timeDuration}|\\d+W)`

const letter = '[a-zA-Z0-9]'
const inner = '[a-zA-Z0-9-]'
/** At most 63 characters. RFC 5891 reserves `--` at the third and fourth; Punycode after `xn--` is not regular. */
const label = `${letter}(?:${inner}{0,2}${letter}|${inner}(?:${letter}${inner}|-${letter})${inner}{0,58}${letter})?`
const hostname = `${label}(?:\\.${label})*`
const atom = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+"
const local = `${atom}(?:\\.${atom})*`
const quotedLocal = '"(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\x20-\\x7e])*"'
const email = `(?:${local}|${quotedLocal})@(?:${hostname}|\\[(?:${ipv4}|IPv6:(?:${ipv6}))\\])`

const percent = '%[0-9a-fA-F]{2}'
/** RFC 3986, and RFC 3987 with the characters that it adds. */
function uriGrammar(extra: string, extraQuery: string) {
  const unreserved = `a-zA-Z0-9._~${extra}\\-`
  const pchar = `(?:[${unreserved}!$&'()*+,;=:@]|${percent})`
  const query = `(?:\\?(?:[${unreserved}!$&'()*+,;=:@/?${extraQuery}]|${percent})*)?`
  const fragment = `(?:#(?:[${unreserved}!$&'()*+,;=:@/?]|${percent})*)?`
  const userinfo = `(?:(?:[${unreserved}!$&'()*+,;=:]|${percent})*@)?`
  const name = `(?:[${unreserved}!$&'()*+,;=]|${percent})*`
  const host = `(?:\\[(?:${ipv6}|[vV][0-9a-fA-F]+\\.[a-zA-Z0-9._~!$&'()*+,;=:-]+)\\]|${name})`
  const authority = `${userinfo}${host}(?::\\d*)?`
  const path = `(?:/${pchar}*)*`
  const hier = `(?://${authority}${path}|/(?:${pchar}+(?:/${pchar}*)*)?|${pchar}+(?:/${pchar}*)*|)`
  const first = `(?:[${unreserved}!$&'()*+,;=@]|${percent})+`
  const relative = `(?://${authority}${path}|/(?:${pchar}+(?:/${pchar}*)*)?|${first}(?:/${pchar}*)*|)`
  const absolute = `[a-zA-Z][a-zA-Z0-9+.-]*:${hier}${query}${fragment}`
  return {absolute, reference: `(?:${absolute}|${relative}${query}${fragment})`}
}
const uri = uriGrammar('', '')
const iri = uriGrammar(
  '\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef\\u{10000}-\\u{efffd}',
  '\\ue000-\\uf8ff\\u{f0000}-\\u{10fffd}',
)

const sources: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `${date}[Tt]${time}`,
  duration,
  ipv4,
  ipv6,
  uuid: '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
  hostname,
  email,
  uri: uri.absolute,
  'uri-reference': uri.reference,
  iri: iri.absolute,
  'iri-reference': iri.reference,
  'json-pointer': '(?:/(?:[^/~]|~[01])*)*',
  'relative-json-pointer': '(?:0|[1-9]\\d*)(?:#|(?:/(?:[^/~]|~[01])*)*)',
}
/** Other names of formats in earlier drafts. */
const aliases: Readonly<Record<string, string>> = {'ip-address': 'ipv4', 'host-name': 'hostname'}
/** Conditions that are intersections: an entire host name has at most 253 characters. */
const limits: Readonly<Record<string, string>> = {hostname: '[\\s\\S]{1,253}'}

/** Formats of JSON Schema that are not regular, or not written as a regular expression. */
export const unenforcedFormats: ReadonlySet<unknown> = new Set(['regex', 'uri-template', 'idn-email', 'idn-hostname'])

const patterns = new Map<string, Pattern>()

/** The strings of a format; undefined if the format is unknown, which makes it an annotation. */
export function formatPattern(format: unknown): Pattern | undefined {
  const name = typeof format === 'string' ? (aliases[format] ?? format) : ''
  if (!Object.hasOwn(sources, name)) return undefined
  const known = patterns.get(name)
  if (known !== undefined) return known
  const parts = [wholePattern(sources[name]!)]
  if (limits[name] !== undefined) parts.push(wholePattern(limits[name]))
  const pattern = both(...parts)
  patterns.set(name, pattern)
  return pattern
}
