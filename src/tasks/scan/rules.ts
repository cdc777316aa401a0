import type {Severity} from '../base/finding.js'
import {
  constantBody,
  emptyBody,
  emptyBraces,
  emptyPython,
  hasParameters,
  hollowFunction,
  hollowPython,
} from './bodies.js'
import {elidedCode, missingCode, prematureClaim, simplifiedLogic} from './phrases.js'
import {isAwsKey, isJwt, looksRandom} from './secrets.js'

/**
 * What a pattern is applied to. In `code`, the characters of comments are NUL and those of strings are quotation marks.
 * In `comments` and `prose`, everything else is NUL. `text` is the text of the file.
 */
export type View = 'code' | 'comments' | 'prose' | 'text'

export interface Rule {
  /** Stable id. */
  id: string
  severity: Severity
  /** A constant, so that it cannot contain a secret. */
  message: string
  patterns: readonly RulePattern[]
}

export interface RulePattern {
  view: View
  /** Global. Takes linear time for any text: repetitions are bounded or start at the start of a line. */
  pattern: RegExp
  /** A part of every match that is quick to find: a text without it is not searched. */
  requires?: RegExp
  /** Names of languages; default: all. */
  languages?: readonly string[]
  /** A further condition. `original` is the text of the file at the match. */
  accepts?: (match: RegExpExecArray, original: string, path: string) => boolean
}

/** Formats in which values need no quotes. */
const unquotedFormats =
  'yaml yml ini conf cfg properties env dockerfile makefile mk sh bash zsh fish md markdown txt rst adoc'.split(' ')

const missingCodeError =
  /\b(?:throw|raise)\s{1,20}(?:new\s{1,20})?(?:[\w.:\\]{0,80}[.:\\])?(?:NotImplemented(?:Error|Exception)|UnimplementedError|UnsupportedOperationException)\b/g

/** Raises an error with a message, which can be a template with one hole. Group 1 is the literal. */
const raisedMessage = new RegExp(
  String.raw`\b(?:(?:throw|raise|reject\()\s{0,20}(?:new\s{1,20})?[\w.:\\]{0,80}|(?:(?<!\.)error|panic|fatalError|die|croak|failwith)!?)` +
    String.raw`\s{0,20}[({]?\s{0,20}[a-z@$]{0,2}("{1,200}(?:[^"\n]{1,60}"{1,200})?)`,
  'g',
)
const saysNotImplemented = [
  /^(?:.{0,40}\s)?(?:not (?:yet )?(?:been )?implemented(?: yet)?|unimplemented|to be implemented)[\s.!…]*$/i,
  /^(?:not (?:yet )?implemented(?: yet)?|unimplemented)\s*[:;,.(–—-]/i,
  /^(?:TODO|TBD|FIXME)\s*(?:[:(.!–—-]|$|implement)/,
]
const withoutQuotes = (literal: string) => literal.replaceAll(/^["'`]{1,3}|["'`]{1,3}$/g, '').trim()

/** A line that starts with a marker, after the marks of lists, headings, quotes and tables. */
const placeholderLine =
  /^(?: {0,3}|[ \t]*(?=[-*+>\d]))(?:(?:[-*+>|]|#{1,6}|\d{1,9}[.)]|\[[ xX]?\])[ \t]+)*(?:\*\*|__)?(?:(?:TODO|FIXME)(?:\([^()\n]{0,40}\))?(?:\*\*|__)?:|(?:TBD|PLACEHOLDER)(?!\w))/gm
const listsOpenWork = (path: string) => /(?:todo|backlog|roadmap|changelog)[^/]*$/i.test(path)

const secretName = String.raw`(?:api[_-]?key|secret|token(?!iz)|password|passwd)[\w-]{0,40}`
/** A name, perhaps a quoted key or a subscript, perhaps with a type, and an assignment operator. */
const secretAssignment = String.raw`${secretName}(?:["']?\]?[ \t]{0,8}(?::[ \t]{0,8}[a-z&][\w.&'<> ]{0,30})?(?::=|=>|=(?!=)|:|\|\||\?\?)|["'][ \t]{0,8},)[ \t]{0,8}`
const quotedSecret = new RegExp(String.raw`${secretAssignment}[a-z@$]{0,2}(["'${'`'}])([^\s"'${'`'}]{16,512})\1`, 'gi')
const unquotedSecret = new RegExp(
  String.raw`${secretName}[ \t]{0,8}[=:][ \t]{0,8}([^\s"'${'`'}#;,=$(){}<>[\]]{16,200}={0,2})(?=[\s;,#]|$)`,
  'gim',
)

export const rules: readonly Rule[] = [
  {
    id: 'stub/todo',
    severity: 'error',
    message: 'The code is not implemented: it calls a to-do function.',
    patterns: [
      {view: 'code', pattern: /\btodo!\s?[([{]/g, languages: ['rs']},
      {view: 'code', pattern: /\bTODO\s?\(/g, languages: ['kt', 'kts']},
    ],
  },
  {
    id: 'stub/throw-not-implemented',
    severity: 'error',
    message: 'The code is not implemented: it raises an error that says so.',
    patterns: [
      {
        view: 'code',
        pattern: raisedMessage,
        accepts: ({0: code, 1: literal = ''}, original) => {
          const message = withoutQuotes(original.slice(-literal.length))
          return code.search(missingCodeError) === -1 && saysNotImplemented.some((pattern) => pattern.test(message))
        },
      },
    ],
  },
  {
    id: 'stub/not-implemented-error',
    severity: 'error',
    message: 'The code is not implemented: it raises an error for missing code.',
    patterns: [{view: 'code', pattern: missingCodeError}],
  },
  {
    id: 'stub/unimplemented',
    severity: 'error',
    message: 'The code is not implemented.',
    patterns: [
      {view: 'code', pattern: /\bunimplemented!\s?[([{]/g, languages: ['rs']},
      {view: 'code', pattern: /(?<![?\w])\?\?\?(?!\?)/g, languages: ['scala']},
    ],
  },
  {
    id: 'stub/placeholder',
    severity: 'error',
    message: 'A marker says that something is missing here.',
    patterns: [
      {view: 'comments', pattern: /(?<![\w`'"])(?:STUB|FIXME|PLACEHOLDER)(?![\w`'"])/g},
      {view: 'prose', pattern: placeholderLine, accepts: (_match, _original, path) => !listsOpenWork(path)},
    ],
  },
  {
    id: 'stub/todo-comment',
    severity: 'error',
    message: 'A comment says that work remains to be done here.',
    patterns: [{view: 'comments', pattern: /(?<![\w`'"])TODO(?![\w`'"])/g}],
  },
  {
    id: 'security/hardcoded-secret/generic',
    severity: 'error',
    message: 'The value looks like a secret. Read it from the environment or a secret store.',
    patterns: [
      {view: 'text', pattern: quotedSecret, accepts: ({2: value = ''}) => looksRandom(value)},
      {
        view: 'text',
        pattern: unquotedSecret,
        languages: unquotedFormats,
        accepts: ({1: value = ''}) => looksRandom(value),
      },
    ],
  },
  {
    id: 'security/hardcoded-secret/jwt',
    severity: 'error',
    message: 'The file contains a JSON Web Token. Read it from the environment or a secret store.',
    patterns: [
      {view: 'text', pattern: /(?<![\w-])eyJ[\w-]{12,}\.[\w-]+\.[\w-]+/g, accepts: ({0: token}) => isJwt(token)},
    ],
  },
  {
    id: 'security/hardcoded-secret/aws-key',
    severity: 'critical',
    message: 'The file contains an AWS access key. Revoke the key, and read the new one from the environment.',
    patterns: [
      {
        view: 'text',
        pattern: /(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])/g,
        accepts: ({0: key}) => isAwsKey(key),
      },
    ],
  },
  {
    id: 'arch/empty_body',
    severity: 'warning',
    message: 'The body of the function is empty.',
    patterns: [
      {view: 'code', pattern: emptyBody, requires: emptyBraces},
      {view: 'code', pattern: emptyPython, languages: ['py']},
    ],
  },
  {
    id: 'skeleton/hollow-fn',
    severity: 'warning',
    message: 'The function ignores its parameters and returns a constant.',
    patterns: [
      {view: 'code', pattern: hollowFunction, requires: constantBody, accepts: ({1: list = ''}) => hasParameters(list)},
      {view: 'code', pattern: hollowPython, languages: ['py'], accepts: ({2: list = ''}) => hasParameters(list)},
    ],
  },
  {
    id: 'victory-claim/premature',
    severity: 'warning',
    message: 'A comment claims that the work is complete. Report evidence with the task instead.',
    patterns: [{view: 'comments', pattern: prematureClaim}],
  },
  {
    id: 'ai-laziness/elided-code',
    severity: 'warning',
    message: 'A comment replaces code that was left out.',
    patterns: [{view: 'comments', pattern: elidedCode}],
  },
  {
    id: 'ai-laziness/simplified-logic',
    severity: 'warning',
    message: 'A comment says that the code only imitates what is required.',
    patterns: [{view: 'comments', pattern: simplifiedLogic}],
  },
  {
    id: 'ai-laziness/missing-code',
    severity: 'warning',
    message: 'A comment leaves the code to the reader.',
    patterns: [{view: 'comments', pattern: missingCode}],
  },
]
