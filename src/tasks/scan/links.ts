import {excerpt} from '../../errors/index.js'
import type {Finding} from '../base/finding.js'
import {spansOf} from './languages.js'
import {lineFinder, viewOf} from './views.js'

/** A link target as written, and its offset. */
interface Target {
  target: string
  offset: number
}

/** Longer targets are ignored, characters. */
const maxTargetLength = 400

/**
 * Finds the links and images of a Markdown file whose target does not exist, in order of lines. URLs and links within the
 * page are not checked. Targets outside the workspace are findings of severity `info`.
 * @param path relative to the workspace root, with `/`
 * @param exists whether a file or folder exists, given its normalised path relative to the workspace root
 */
export function brokenLinks(path: string, text: string, exists: (path: string) => boolean): Finding[] {
  const source = viewOf(text, spansOf(text, 'md'), {comment: '\0', string: '\0'})
  const lineOf = lineFinder(text)
  return [...inlineTargets(source), ...referenceTargets(source), ...htmlTargets(source)]
    .sort((a, b) => a.offset - b.offset)
    .flatMap(({target, offset}): Finding[] => {
      // NUL is masked code within the target.
      const file = target.includes('\0') ? undefined : fileOf(target)
      if (file === undefined) return []
      const resolved = resolve(path, file)
      if (resolved !== undefined && (resolved === '' || (!resolved.includes('\0') && exists(resolved)))) return []
      const shown = excerpt(file.replaceAll(/\p{Cc}/gu, '\ufffd'), 200)
      const finding = {rule: 'links/broken', path, line: lineOf(offset)}
      return resolved === undefined
        ? [{...finding, severity: 'info', message: `The link to ${shown} leaves the workspace and cannot be checked.`}]
        : [{...finding, severity: 'error', message: `The link to ${shown} is broken: the file does not exist.`}]
    })
}

/** Targets of `[text](target)` and `![text](target)`. */
function inlineTargets(source: string): Target[] {
  const targets: Target[] = []
  let open = 0
  for (const {0: mark, index: offset} of source.matchAll(/\\.|[[\]]|\n[ \t\r]*\n/g)) {
    if (mark === '[') open++
    else if (mark.startsWith('\n')) open = 0
    else if (mark === ']' && open > 0) {
      open--
      const target =
        source[offset + 1] === '(' ? readTarget(source.slice(offset + 2, offset + 2 + maxTargetLength)) : ''
      if (target !== '') targets.push({target, offset})
    }
  }
  return targets
}

/** The target at the start of a text that continues a link after its opening parenthesis; empty if it is not a link. */
function readTarget(text: string): string {
  const {0: before = '', 1: bracketed, 2: bare = ''} = /^\s*(?:<([^<>\n]*)>|([^\s<]\S*))?/.exec(text) ?? []
  const end = bracketed === undefined ? endOfParentheses(bare) : undefined
  if (end !== undefined) return bare.slice(0, end)
  return /^\s*[)"'(]/.test(text.slice(before.length)) ? (bracketed ?? bare) : ''
}

/** Offset of the first closing parenthesis that is not opened in the text. */
function endOfParentheses(text: string): number | undefined {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '(') depth++
    else if (text[i] === ')' && depth-- === 0) return i
  }
  return undefined
}

/** Targets of `[label]: target`; a label that starts with `^` is a footnote. */
const referenceTargets = (source: string): Target[] =>
  [...source.matchAll(/^[ \t>]{0,8}\[(?!\^)[^[\]\n]{1,200}\]:[ \t]*(?:<([^<>\n]{0,2000})>|([^\s<]\S{0,2000}))/gm)].map(
    ({index, 1: bracketed, 2: bare}) => ({target: bracketed ?? bare ?? '', offset: index}),
  )

/** Targets of `href` and `src` of the elements `a` and `img`. */
const htmlTargets = (source: string): Target[] =>
  [...source.matchAll(/<(?:a|img)(\s[^<>]*)>/gi)].flatMap(({index, 1: attributes = ''}) =>
    [...attributes.matchAll(/\s(?:href|src)\s{0,8}=\s{0,8}(?:"([^"]*)"|'([^']*)'|([^\s"']+))/gi)].map((match) => ({
      target: match[1] ?? match[2] ?? match[3] ?? '',
      offset: index,
    })),
  )

/** The file part of a target, decoded; undefined for URLs and links within the page. */
function fileOf(target: string): string | undefined {
  const plain = target
    .trim()
    .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
    .replaceAll('&amp;', '&')
  if (/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(plain)) return undefined
  const file = plain.replace(/[?#].*$/s, '')
  if (file === '') return undefined
  try {
    return decodeURIComponent(file)
  } catch {
    return file
  }
}

/** The normalised path of a target relative to the workspace root; undefined if it is outside the workspace. */
function resolve(path: string, target: string): string | undefined {
  const folder = target.startsWith('/') ? [] : path.split('/').slice(0, -1)
  const names: string[] = []
  for (const name of [...folder, ...target.split('/')]) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined) return undefined
  }
  return names.join('/')
}
