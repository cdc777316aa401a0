import type {Matcher, RE2JS} from 're2js'
import {compileRegex} from '../check/index.js'
import type {Context} from './context.js'
import {Failure} from './failure.js'
import {sized} from './size.js'
import {display, type Value} from './value.js'

type Builtin = (args: readonly Value[], context: Context) => Value

/** Compiled patterns, by their text; the oldest is removed. */
const compiled = new Map<string, RE2JS>()
const maxCompiled = 200

function patternOf(text: Value): RE2JS {
  const pattern = String(text)
  const known = compiled.get(pattern)
  if (known !== undefined) return known
  const made = compileRegex(pattern)
  if (typeof made === 'string') throw new Failure('CONVERSION', `${display(pattern)} is no regular expression: ${made}`)
  const [oldest] = compiled.keys()
  if (compiled.size >= maxCompiled && oldest !== undefined) compiled.delete(oldest)
  compiled.set(pattern, made)
  return made
}

/** Finds the matches one after another. Each search takes at most the time of what is left of the text. */
function* matches([text, pattern]: readonly Value[], context: Context): Generator<Matcher> {
  const input = String(text)
  const matcher = patternOf(pattern).matcher(input)
  for (let at = 0; ; at = matcher.end()) {
    context.items((input.length - at) * searchCost)
    if (!matcher.find()) return
    yield matcher
  }
}

/** Matching a character takes as long as copying so many items. */
const searchCost = 16

export const regexBuiltins: Readonly<Record<string, Builtin>> = {
  'std.regex.is_match': (args, context) => !matches(args, context).next().done,
  'std.regex.find': (args, context) => {
    for (const matcher of matches(args, context))
      return Array.from({length: matcher.groupCount() + 1}, (_, i) => matcher.group(i) ?? '')
    return null
  },
  'std.regex.find_all': (args, context) =>
    sized(Array.from(matches(args, context), (matcher) => matcher.group(0) ?? '')),
  'std.regex.replace': (args, context) => replaced(args, context),
  'std.regex.split': (args, context) => split(args, context),
}

/** Replaces every match. `$1` and `${name}` are groups, `$0` is the match, and `$$` is a dollar sign. */
function replaced(args: readonly Value[], context: Context): string {
  const text = String(args[0])
  const parts = partsOf(String(args[2]))
  let result = ''
  let end = 0
  for (const matcher of matches(args, context)) {
    result += text.slice(end, matcher.start())
    for (const part of parts) result += typeof part === 'string' ? part : groupOf(matcher, part.group)
    end = matcher.end()
    sized(result)
  }
  return sized(result + text.slice(end))
}

const partsOf = (replacement: string): (string | {group: string})[] =>
  replacement.split(/(\$\$|\$\d+|\$\{\w+\})/).map((part, i) => {
    if (i % 2 === 0) return part
    return part === '$$' ? '$' : {group: part.replace(/[${}]/g, '')}
  })

function groupOf(matcher: Matcher, name: string): string {
  const isKnown = /^\d+$/.test(name) ? Number(name) <= matcher.groupCount() : name in matcher.pattern().namedGroups()
  if (!isKnown) throw new Failure('CONVERSION', `the regular expression has no group ${name}`)
  return matcher.group(/^\d+$/.test(name) ? Number(name) : name) ?? ''
}

function split(args: readonly Value[], context: Context): string[] {
  const text = String(args[0])
  const items: string[] = []
  let end = 0
  for (const matcher of matches(args, context)) {
    const isEmpty = matcher.start() === matcher.end()
    if (isEmpty && (matcher.end() === 0 || matcher.end() === text.length)) continue
    items.push(text.slice(end, matcher.start()))
    end = matcher.end()
  }
  return sized([...items, text.slice(end)])
}
